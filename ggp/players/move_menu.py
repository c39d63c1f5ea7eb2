"""Legal moves as a person names them: by number, as text, or by distinctive words."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from functools import cached_property

from ggp.analysis.figures import words_of
from ggp.game import Move

Words = tuple[str, ...]


class MoveMenu:
    """The legal moves of one state.

    Moves are numbered from 1, unless a move is known by a number of its own, such as the column of
    `(drop 3)`: then a number means that. texts: the moves in notation, if not in KIF; either may be typed.

    >>> from gdl.syntax.parser import parse_term
    >>> menu = MoveMenu([parse_term(text) for text in ("(move 7 1 6 1)", "(move 7 1 8 2)", "pass")])
    >>> str(menu.find("7 1 8 2")), str(menu.find("3")), menu.find("7 1")
    ('(move 7 1 8 2)', 'pass', None)
    >>> menu.lines(menu.matching("7 1"))
    ['  1  move 7 1 6 1    2  move 7 1 8 2']
    >>> menu = MoveMenu(menu.legal, ["g1–f1", "g1×h2", "pass"])
    >>> str(menu.find("g1-f1")), str(menu.find("g1xh2")), menu.lines(menu.matching("g1"))
    ('(move 7 1 6 1)', '(move 7 1 8 2)', ['  1  g1–f1    2  g1×h2'])
    """

    def __init__(self, legal: Sequence[Move], texts: Sequence[str] | None = None) -> None:
        self.legal = tuple(legal)
        self._texts = dict(zip(legal, texts or map(words_of, legal), strict=True))

    @cached_property
    def _names(self) -> dict[Words, list[Move]]:
        """Short name → the moves that it stands for."""
        names: dict[Words, list[Move]] = {}
        groups: dict[tuple[str, int], list[tuple[Move, Words]]] = {}
        for move in self.legal:
            words = move_words(str(move))
            groups.setdefault((move.name, len(words)), []).append((move, words))
        functors = [name for name, _ in groups]
        for (name, length), group in groups.items():
            varying = [i for i in range(length) if len({words[i] for _, words in group}) > 1]
            for move, words in group:
                short = {words[len(move_words(name)) :], tuple(words[i] for i in varying)}
                if len(group) == 1 and functors.count(name) == 1:
                    short.add(move_words(name))
                for each in filter(None, short - {words, move_words(self._texts[move])}):
                    names.setdefault(each, []).append(move)
        return names

    @cached_property
    def is_numbered(self) -> bool:
        """Whether numbers refer to positions in the list."""
        return not any(len(words) == 1 and words[0].isdigit() for words in (*self._names, *self._full))

    @cached_property
    def _full(self) -> dict[Words, Move]:
        terms = {move_words(str(move)): move for move in self.legal}
        return terms | {move_words(text): move for move, text in self._texts.items()}

    def find(self, answer: str) -> Move | None:
        """The legal move that `answer` stands for, or None.

        Letter case, blanks and parentheses do not matter.
        """
        text = answer.strip()
        if self.is_numbered and text.isascii() and text.isdigit():
            return self.legal[int(text) - 1] if 1 <= int(text) <= len(self.legal) else None
        words = move_words(text)
        if words in self._full:
            return self._full[words]
        named = self._names.get(words, [])
        return named[0] if len(named) == 1 else None

    def matching(self, answer: str) -> list[Move]:
        """The moves that have the words of `answer`, or words that begin with them, in this order."""
        wanted = move_words(answer)
        forms = {move: (move_words(str(move)), move_words(text)) for move, text in self._texts.items()}
        return [move for move in self.legal if wanted and any(_has(each, wanted) for each in forms[move])]

    def lines(self, moves: Sequence[Move], columns: int = 80, rows: int = 12) -> list[str]:
        """A list of `moves` in columns, at most `rows` lines and one about the rest."""
        texts = [self._texts[move] for move in moves]
        if self.is_numbered:
            number = {move: place for place, move in enumerate(self.legal, start=1)}
            digits = max(2, len(str(len(self.legal))))
            texts = [f"{number[move]:>{digits}}  {text}" for move, text in zip(moves, texts, strict=True)]
        width = max(map(len, texts), default=0) + 2
        across = max(1, (columns - 1) // width)
        shown = texts[: across * rows]
        height = -(-len(shown) // across)
        lines = [
            "".join(f"  {text:<{width - 2}}" for text in shown[row::height]).rstrip() for row in range(height)
        ]
        if len(shown) < len(texts):
            more = f"  … and {len(texts) - len(shown):,} more; type a part of a move to list those with it"
            lines += textwrap.wrap(more, max(20, columns - 1), subsequent_indent="    ")
        return lines


def move_words(text: str) -> Words:
    """The words of a move, without parentheses, dashes and signs; `d4` is two.

    >>> move_words("(Draw (across 1 2))"), move_words("(mark d4)"), move_words("a3×b4")
    (('draw', 'across', '1', '2'), ('mark', 'd', '4'), ('a', '3', 'b', '4'))
    """
    words: list[str] = []
    text = re.sub(r"(?<=\w)[–—-](?=\w)|×|(?<=\d)x(?=[a-z]?\d)", " ", text.lower().replace("/", " "))
    for word in text.replace("(", " ").replace(")", " ").split():
        cell = re.fullmatch(r"([a-z])(\d{1,2})", word)
        words += cell.groups() if cell else [word]
    return tuple(words)


def _has(words: Words, wanted: Words) -> bool:
    """Whether `wanted` are, in order, words or beginnings of words; numbers must be whole."""
    rest = iter(words)
    return all(
        any(word == part or (not part.isdigit() and word.startswith(part)) for word in rest)
        for part in wanted
    )
