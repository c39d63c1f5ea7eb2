"""Name scrambling: every constant and variable of a rule sheet becomes an unrelated word.

A player that knows `cell` or `noop` from other games gains nothing. Keywords and integers are kept, and so is
`random`, which has a meaning in GDL-II. One scrambler serves one match; the mapping is one-to-one, so that
answers can be translated back.
"""

from __future__ import annotations

import random
import re

from gdl.keywords import KEYWORDS, RANDOM
from gdl.terms import Compound, Symbol, Term, Variable

_TOKEN = re.compile(r"[^\s()]+")
_INTEGER = re.compile(r"[+-]?\d+")
_KEPT = frozenset(KEYWORDS) | {RANDOM, "<=", "and", "or", "not", "nil"}
_CONSONANTS = "bdfgklmnprstvz"
_VOWELS = "aeiou"


class Scrambler:
    """The renaming of one match.

    rules   canonical KIF text without comments
    rng     draws the words

    >>> from gdl.terms import Symbol
    >>> scrambler = Scrambler("( role red )", random.Random(1))
    >>> word = scrambler.scramble(Symbol("red"))
    >>> str(scrambler.unscramble(word)), "red" in scrambler.scramble_text("( role red )")
    ('red', False)
    """

    def __init__(self, rules: str, rng: random.Random) -> None:
        names = sorted({token.lower() for token in _TOKEN.findall(rules)} - _KEPT)
        taken = set(names) | _KEPT
        self._words: dict[str, str] = {}
        for name in names:
            if _INTEGER.fullmatch(name):
                continue
            word = _new_word(rng, taken)
            taken.add(word)
            self._words[name] = f"?{word}" if name.startswith("?") else word
        # Both ways, so that a true name means something else when a player uses it.
        self._names = self._words | {word: name for name, word in self._words.items()}

    def scramble_text(self, text: str) -> str:
        """Canonical KIF text with every known name replaced."""
        return _TOKEN.sub(lambda token: self._words.get(token.group().lower(), token.group()), text)

    def scramble(self, term: Term) -> Term:
        """The term that players receive for `term`."""
        return _rename(term, self._words)

    def unscramble(self, term: Term) -> Term:
        """Translate a player's `term` back, in any letter case; unknown names are kept."""
        return _rename(term, self._names)


def _new_word(rng: random.Random, taken: set[str]) -> str:
    syllables = 2
    while True:
        word = "".join(rng.choice(_CONSONANTS) + rng.choice(_VOWELS) for _ in range(syllables))
        if word not in taken:
            return word
        # Two syllables make 4,900 words; large sheets need three.
        syllables = rng.choice((2, 3, 3))


def _rename(term: Term, names: dict[str, str]) -> Term:
    if isinstance(term, Compound):
        arguments = tuple(_rename(argument, names) for argument in term.arguments)
        return Compound(names.get(term.name.lower(), term.name), arguments)
    if isinstance(term, Variable):
        return Variable(names.get(f"?{term.name}".lower(), f"?{term.name}")[1:])
    return Symbol(names.get(term.name.lower(), term.name))
