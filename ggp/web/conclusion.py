"""Who wins a small game with best play, in words, and a match that shows it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ggp.engines.loading import load
from ggp.game import RANDOM_ROLE, Move, Role, is_compiled
from ggp.validation.properties import Witness, record_of
from ggp.web.best_play import best_row

if TYPE_CHECKING:
    from ggp.solver import Solution

_SECONDS = 20.0
_STATES = 5_000_000
_LINE = 300
"""Maximum number of moves of the match: play need not end."""


def conclude(rules: str) -> dict[str, Any]:
    """Solve a sheet if it is small enough.

    sentence   who wins for certain; or why that is not known
    detail     how it was proven
    record     a match of best play as the text of a record; None if nothing was proven

    >>> found = conclude("(role x) (init s) (legal x wait) (<= (goal x 100) (true s)) (<= terminal (true s))")
    >>> found["sentence"], found["detail"]
    ('X gets 100 of 100 for certain', 'Proven: 1 position was looked at. The match has no move.')
    """
    from ggp.solver import SolverError, SolverLimits, solve

    game = load(rules + "\n", engine="auto", name="your game")
    if not is_compiled(game):
        return _not_proven("the game is too large or endless to be proven")
    limits = SolverLimits(states=_STATES, deadline=time.monotonic() + _SECONDS, may_use_disk=False)
    try:
        solution = solve(game, limits)
        moves, is_cut = _best_play(solution)
    except SolverError as error:
        return _not_proven(str(error))
    count, steps = len(solution.value), len(moves)
    looked = "1 position was" if count == 1 else f"all {count:,} positions were"
    length = "no move" if not steps else f"{steps} moves with best play"
    detail = f"Proven: {looked} looked at. The match has {length}."
    record = None if is_cut else record_of(game, Witness(tuple(moves), ()), "", "best play").to_json()
    return {"sentence": in_words(game.roles, solution.values()), "detail": detail, "record": record}


def _not_proven(why: str) -> dict[str, Any]:
    return {"sentence": "Not proven", "detail": f"{why[:1].upper()}{why[1:]}.", "record": None}


def in_words(roles: Sequence[Role], values: Sequence[float]) -> str:
    """The values of the initial state, in role order, as one sentence.

    >>> from gdl.terms import Symbol
    >>> white, black = Symbol("white"), Symbol("black")
    >>> in_words((white, black), (100.0, 0.0)), in_words((white, black), (50.0, 50.0))
    ('White wins for certain', 'A draw for certain')
    >>> in_words((white, black), (62.5, 37.5))
    'With best play white gets 62.5 and black 37.5 of 100'
    """
    pairs = zip(roles, values, strict=True)
    found = [(str(role), round(value, 1)) for role, value in pairs if role != RANDOM_ROLE]
    best = max(value for _, value in found)
    if len(found) == 1:
        name, value = found[0]
        return f"{name[:1].upper()}{name[1:]} gets {value:g} of 100 for certain"
    if best == 100 and sum(value for _, value in found) == 100:
        name = next(name for name, value in found if value == best)
        return f"{name[:1].upper()}{name[1:]} wins for certain"
    if len(found) == 2 and all(value == 50 for _, value in found):
        return "A draw for certain"
    (name, value), *others = found
    rest = " and ".join(f"{each} {worth:g}" for each, worth in others)
    return f"With best play {name} gets {value:g} and {rest} of 100"


def _best_play(solution: Solution) -> tuple[list[tuple[Move, ...]], bool]:
    """A match of best play, of chance the first outcomes; whether it was cut."""
    game, moves = solution.game, list[tuple[Move, ...]]()
    state = game.initial_state()
    while not game.is_terminal(state):
        if len(moves) == _LINE:
            return moves, True
        moves.append(row := best_row(solution, state))
        state = game.next_state(state, row)
    return moves, False
