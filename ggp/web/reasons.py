"""What decided a match in one sentence, by the shape of the facts that support the best goal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from gdl.dependencies import DOES
from gdl.program import Program, arguments_of, body_literals
from gdl.terms import Term
from ggp.analysis.board import Board, Cell
from ggp.analysis.board_style import owner_of
from ggp.analysis.figures import Counters, Holdings, Track, words_of
from ggp.analysis.picture import Picture
from ggp.game import Role
from ggp.web.match_history import MatchHistory

_NUMBERS = ("", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_LINE = 3
"""Minimum number of pieces that are called a row."""
_COUNTED_SHARE = 0.5
"""Minimum share of a role's discs in the support of a goal that counts discs."""


@dataclass(frozen=True)
class Reasoning:
    """A match that is over, a role, and what supports its goal.

    support   facts of the end, facts that have ended, and terms `(not …)` for what was never true
    name      how a role is called, "you" for the only person
    """

    history: MatchHistory
    picture: Picture
    support: frozenset[Term]
    winner: Role
    name: Callable[[object], str]

    @cached_property
    def facts(self) -> frozenset[Term]:
        """The support that is true at the end."""
        return self.support.intersection(self.history.facts())

    @cached_property
    def roles(self) -> frozenset[str]:
        return frozenset(map(str, self.history.game.roles))

    @cached_property
    def pieces(self) -> dict[Cell, str]:
        """The support on the board: cells with their contents."""
        return {} if self.picture.board is None else _pieces(self.picture.board, self.facts)

    @cached_property
    def off_board(self) -> list[Term]:
        """The support that is not on the board, without the turn, in the order of its text."""
        board = self.picture.board
        found = (fact for fact in self.facts if board is None or not board.shows(fact))
        return sorted((fact for fact in found if not self.picture.is_turn(fact)), key=str)

    def is_own(self, content: str) -> bool:
        return owner_of(content, self.roles) == str(self.winner)


def _pieces(board: Board, facts: frozenset[Term]) -> dict[Cell, str]:
    return {cell: stack[0][-1] for cell, stack in board.contents(facts).items()}


def capital(text: str) -> str:
    """The text with a capital letter.

    >>> capital("red crashed.")
    'Red crashed.'
    """
    return f"{text[:1].upper()}{text[1:]}"


def has(who: str) -> str:
    """A role or "you" with its verb.

    >>> has("you"), has("red")
    ('you have', 'red has')
    """
    return f"{who} {'have' if who == 'you' else 'has'}"


def reason(found: Reasoning) -> str:
    """The sentence of the first shape that fits, else the bare facts.

    >>> import ggp
    >>> from gdl.syntax.parser import parse_term
    >>> from ggp.analysis.picture import find_picture
    >>> history = MatchHistory(ggp.load("tictactoe", engine="reasoner"))
    >>> for cells in ("11", "21", "12", "22", "13"):
    ...     joint_move = [parse_term("noop")] * 2
    ...     joint_move[len(history.steps) % 2] = parse_term(f"(mark {cells[0]} {cells[1]})")
    ...     history.play(joint_move)
    >>> picture = find_picture(history.game.program, history.facts(0))
    >>> line = frozenset(parse_term(f"(cell 1 {row} x)") for row in (1, 2, 3))
    >>> reason(Reasoning(history, picture, line, history.game.roles[0], str))
    'X has three in a row: a1, a2, a3.'
    """
    shapes = (_joined, _row, _reached, _gone, _counted, _shares, _deed, _arrived, _counter, _neutral)
    return capital(next(filter(None, (shape(found) for shape in shapes)), ""))


def draw_reason(found: Reasoning) -> str:
    """The sentence for a match that no role has won alone; "" if there is nothing to say."""
    return capital(next(filter(None, (shape(found) for shape in (_deed, _limit, _full))), ""))


# --- on the board -----------------------------------------------------------------------------------


def _joined(found: Reasoning) -> str:
    """A chain between the sides of the winner."""
    board, who = found.picture.board, found.name(found.winner)
    sides = [side for side, role in board.style.edges if role == str(found.winner)] if board else []
    if len(sides) != 2 or not found.pieces or not all(map(found.is_own, found.pieces.values())):
        return ""
    return f"{has(who)} joined {'your' if who == 'you' else 'its'} sides, {sides[0]} and {sides[1]}."


def _row(found: Reasoning) -> str:
    """Pieces of the winner in a row, column or diagonal, and nothing else."""
    board, cells = found.picture.board, sorted(found.pieces)
    if board is None or board.row_shifts or len(cells) < _LINE or found.off_board:
        return ""
    steps = {(x2 - x1, y2 - y1) for (x1, y1), (x2, y2) in pairwise(cells)}
    is_row = len(steps) == 1 and max(map(abs, next(iter(steps)))) == 1
    if not is_row or len(set(found.pieces.values())) != 1 or not found.is_own(found.pieces[cells[0]]):
        return ""
    count = _NUMBERS[len(cells)] if len(cells) < len(_NUMBERS) else str(len(cells))
    names = list(map(board.cell_text, cells))
    listed = "" if " " in "".join(names) else f": {', '.join(names)}"
    return f"{has(found.name(found.winner))} {count} in a row{listed}."


def _reached(found: Reasoning) -> str:
    """One piece of the winner, which the last move has brought to its cell."""
    board, facts = found.picture.board, found.history.facts
    if board is None or len(found.pieces) != 1 or found.off_board:
        return ""
    ((cell, content),) = found.pieces.items()
    before, now = (_pieces(board, frozenset(facts(step))) for step in (len(found.history.steps) - 1, None))
    is_left = any(each == content and now.get(place) != each for place, each in before.items())
    if (
        before.get(cell) == content
        or not is_left
        or not found.is_own(content)
        or found.support != found.facts
    ):
        return ""
    last = len(board.down.values) - 1
    homes = [row for (_, row), each in _pieces(board, frozenset(facts(0))).items() if found.is_own(each)]
    is_far = cell[1] in (0, last) and homes and min(abs(row - cell[1]) for row in homes) > last / 2
    row = "the far row, at " if is_far else ""
    return f"{has(found.name(found.winner))} reached {row}{board.cell_text(cell)}."


def _gone(found: Reasoning) -> str:
    """The last piece of its kind, which another role has lost."""
    board = found.picture.board
    gone = set() if board is None else set(_pieces(board, found.support - found.facts).values())
    if board is None or len(gone) != 1 or found.pieces:
        return ""
    content = gone.pop()
    owner = owner_of(content, found.roles)
    is_left = content in _pieces(board, frozenset(found.history.facts())).values()
    kind = content.removeprefix(f"{owner}_")
    if owner in (None, str(found.winner)) or is_left or len(kind) < _LINE:
        return ""
    return f"{has(found.name(owner))} no {'piece' if kind == owner else kind.replace('_', ' ')} left."


def _counted(found: Reasoning) -> str:
    """Discs that are counted at the end."""
    board = found.picture.board
    if board is None or board.style.kind != "discs":
        return ""
    total = Counter(_pieces(board, frozenset(found.history.facts())).values())
    count = total[str(found.winner)]
    others = [(role, total[str(role)]) for role in found.history.game.roles if role != found.winner]
    own = sum(map(found.is_own, found.pieces.values()))
    if own < _COUNTED_SHARE * count or any(number >= count for _, number in others):
        return ""
    rest = ", ".join(f"{found.name(role)} {number}" for role, number in others)
    return f"{has(found.name(found.winner))} {count} discs, {rest}."


# --- off the board ----------------------------------------------------------------------------------


def _figure(found: Reasoning, kind: type) -> object:
    """The figure of this kind that shows all of the support; None if there is none."""
    facts = found.off_board
    if not facts or found.pieces:
        return None
    figures = (each for each in found.picture.figures if isinstance(each, kind))
    return next((each for each in figures if all(map(each.takes, facts))), None)


def _shares(found: Reasoning) -> str:
    """What several roles hold, such as points."""
    figure = _figure(found, Holdings)
    if not isinstance(figure, Holdings) or len(found.off_board) < 2:
        return ""
    rows = [
        (arguments[figure.position], arguments[1 - figure.position])
        for arguments in map(arguments_of, found.off_board)
    ]
    rows.sort(key=lambda row: figure.roles.index(str(row[0])))
    shares = ", ".join(f"{found.name(role)} {value}" for role, value in rows)
    return f"{figure.name.replace('_', ' ')}: {shares}."


def _deed(found: Reasoning) -> str:
    """What roles have done or suffered: facts such as `(crashed red)`."""
    if found.pieces or not found.off_board:
        return ""
    said = [_said(found, fact) for fact in found.off_board]
    return "" if "" in said else f"{' and '.join(said)}."


def _said(found: Reasoning, fact: Term) -> str:
    """`red crashed` if the role itself does it, `red was doubted` if others do; "" if that is not sure."""
    arguments = arguments_of(fact)
    if len(arguments) != 1 or str(arguments[0]) not in found.roles or not fact.name.endswith("ed"):
        return ""
    doers = set(_doers(found.history.game.program, fact.name))
    who = found.name(arguments[0])
    if doers == {True}:
        return f"{who} {fact.name}"
    return f"{who} {'were' if who == 'you' else 'was'} {fact.name}" if doers == {False} else ""


def _doers(program: Program, name: str) -> Iterator[bool]:
    """For each move that leads to a fact `(name role)`, whether it is of this role."""
    for rule in program.rules_for("next", 1):
        fact = arguments_of(rule.head)[0]
        if fact.name == name and len(arguments_of(fact)) == 1:
            for literal, is_positive in body_literals(rule):
                if is_positive and literal.predicate == DOES:
                    yield arguments_of(literal.atom)[0] == arguments_of(fact)[0]


def _arrived(found: Reasoning) -> str:
    """Runners of the winner at the end of a track."""
    figure = _figure(found, Track)
    if not isinstance(figure, Track):
        return ""
    rows = [list(map(str, arguments_of(fact))) for fact in found.off_board]
    squares = {figure.axis.find(row) for row in rows}
    if squares != {len(figure.axis.values) - 1} or {row[0] for row in rows} != {str(found.winner)}:
        return ""
    at = {row[figure.axis.positions[0]] for row in rows}
    runners = [
        " ".join(text for place, text in enumerate(row) if place and place not in figure.axis.positions)
        for row in rows
    ]
    whose = f" with {' and '.join(runners)}" if all(runners) else ""
    return f"{has(found.name(found.winner))} reached {at.pop()}{whose}."


def _counter(found: Reasoning) -> str:
    """One number about the whole game."""
    figure = _figure(found, Counters)
    if not isinstance(figure, Counters) or len(found.off_board) != 1:
        return ""
    (fact,) = found.off_board
    return f"the {figure.label(fact.name)} is {arguments_of(fact)[0]}."


def _limit(found: Reasoning) -> str:
    """A counter at the number that ends the match."""
    for figure in found.picture.figures:
        for fact in found.history.facts() if isinstance(figure, Counters) else ():
            value = str(arguments_of(fact)[0]) if figure.takes(fact) else ""
            if isinstance(figure, Counters) and value and figure.limits.get(fact.name) == value:
                return f"{figure.label(fact.name)}: {value} of {value}."
    return ""


def _full(found: Reasoning) -> str:
    """Pieces of the roles on every cell."""
    board = found.picture.board
    if board is None:
        return ""
    owners = [
        owner_of(content, found.roles)
        for content in _pieces(board, frozenset(found.history.facts())).values()
    ]
    cells = len(board.column_names) * len(board.row_names) - len(board.holes | board.outside)
    return "The board is full." if len(owners) == cells and all(owners) else ""


def _neutral(found: Reasoning) -> str:
    """The facts that are not on the board as they are, or else that the others are marked on it."""
    words = list(map(words_of, found.off_board))
    never = sorted(words_of(arguments_of(fact)[0]) for fact in found.support if fact.name == "not")
    if found.picture.board is None:  # on a board one sees what never came true
        words += [f"not {each}" for each in never if words]
    if words:
        return f"decided by: {' · '.join(words)}"
    if found.picture.few_cells(found.support, found.history.facts()):
        return "what decides is marked on the board."
    return f"decided by what never came true: {', '.join(never)}." if never else ""
