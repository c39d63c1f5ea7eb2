"""Tables of endings: exact values of positions with few pieces or few empty cells.

What is counted follows from the board (`ggp.analysis.board_finder`) and from what playouts do with it: in
some games pieces only disappear, in others cells only fill up. Either number can only fall, so that all
that follows a position with few of them has few as well, which is what makes tables of endings small
(Thompson, "Retrograde Analysis of Certain Endgames", 1986; Schaeffer et al., "Building the Checkers 10-Piece
Endgame Databases", 2003).

Random playouts give the positions to begin with; the solver finds all that legal play reaches from them and
values that set, which no move leaves: so the values are exact although the game as a whole was not solved.
It is saved as a solution of a part of the game (`ggp.solver.saved`). Other states are unknown.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggp.analysis.board_finder import find_board
from ggp.engines.compiled import CompiledGame
from ggp.features.recorded_playouts import RecordedPlayouts, record_playouts
from ggp.game import Game
from ggp.lanes.engine import BoolArray, Lanes
from ggp.lanes.keys.state_code import decode_keys
from ggp.solver.limits import Progress, SolverError, SolverLimits, UnsolvableError
from ggp.solver.reachable import closed_states
from ggp.solver.saved import Tablebase, save_solution
from ggp.solver.solution import Solution, require_perfect_information, value_states
from ggp.solver.space import StateSpace
from ggp.solver.stages import Stage

PIECES, EMPTY_CELLS = "pieces", "empty cells"
FIRST_BATCH = 1
"""A single position may lead to millions of others."""
MAX_BATCH = 1 << 14
_DECODED = 1 << 16


@dataclass(frozen=True)
class EndingMeasure:
    """Nearness of a position to the end: the number of PIECES or EMPTY_CELLS, which no move raises.

    counted   PIECES or EMPTY_CELLS
    pieces    int64[P]: the facts that put something on a cell
    cells     of the board
    """

    counted: str
    pieces: NDArray[np.int64]
    cells: int

    def of(self, states: BoolArray) -> NDArray[np.int64]:
        """int64[...] of states bool[..., F]."""
        count: NDArray[np.int64] = states[..., self.pieces].sum(axis=-1, dtype=np.int64)
        return count if self.counted == PIECES else self.cells - count


def recognize_ending_measure(game: CompiledGame) -> EndingMeasure | None:
    """The ending measure of `game`; None without a board, or if nothing runs out in random playouts."""
    board = find_board(game.program, game.facts(game.initial_state()))
    if board is None:
        return None
    placed = [(f, place) for f, fluent in enumerate(game.terms.fluents) if (place := board.place(fluent))]
    facts = np.array([f for f, place in placed if place[2] != board.blanks[place[0]]], np.int64)
    cells = {place[1] for _, place in placed}
    watched = record_playouts(game, facts)
    has_risen = has_fallen = False
    for word in range(watched.words.shape[2]):
        count = watched.states(word).sum(axis=2, dtype=np.int64)
        change = np.diff(count, axis=0)[_is_before_the_end(watched, word)[1:]]
        has_risen |= bool((change > 0).any())
        has_fallen |= bool((change < 0).any())
    if has_risen == has_fallen:
        return None
    return EndingMeasure(EMPTY_CELLS if has_risen else PIECES, facts, len(cells))


def draw_endings(
    game: CompiledGame,
    measure: EndingMeasure,
    *,
    most: int,
    playouts: int,
    seed: int = 0,
    deadline: float | None = None,
) -> dict[int, BoolArray]:
    """For each number up to `most` the states bool[N, F] in which random playouts first had this few.

    States that are met twice are listed once; a number that no playout had is left out.

    playouts   as many, rounded up to full lanes
    deadline   time.monotonic() seconds
    """
    lanes, deadline = Lanes(game.lane_tables, seed=seed), math.inf if deadline is None else deadline
    facts = np.arange(len(game.terms.fluents))
    found: dict[int, list[BoolArray]] = {}
    for _ in range(math.ceil(playouts / lanes.lane_count)):
        watched = record_playouts(game, facts, lanes=lanes, deadline=deadline)
        for word in range(watched.words.shape[2]):
            states = watched.states(word)
            for number, entered in _entries(measure.of(states), _is_before_the_end(watched, word), most):
                found.setdefault(number, []).append(states[entered])
        if time.monotonic() > deadline:
            break
    return {number: np.unique(np.concatenate(found[number]), axis=0) for number in sorted(found)}


def in_batches(endings: dict[int, BoolArray]) -> Iterator[BoolArray]:
    """The states by ascending number, in batches that grow, so that little is lost if one is too much."""
    size = FIRST_BATCH
    for _, states in sorted(endings.items()):
        while len(states):
            yield states[:size]
            states, size = states[size:], min(2 * size, MAX_BATCH)


def _is_before_the_end(watched: RecordedPlayouts, word: int) -> BoolArray:
    """bool[T, 64]: the states up to the terminal one; all of a playout that did not end."""
    length = watched.length[64 * word : 64 * word + 64]
    step = np.arange(watched.words.shape[0])[:, None]
    return (step <= length) | (length < 0)


def _entries(numbers: NDArray[np.int64], is_played: BoolArray, most: int) -> Iterator[tuple[int, BoolArray]]:
    """Number, and bool[steps, lanes]: the states that are the first with this number in their playouts."""
    before = np.vstack([np.full((1, numbers.shape[1]), most + 1), numbers[:-1]])
    is_entry = is_played & (numbers <= most) & (numbers < before)
    for number in np.unique(numbers[is_entry]).tolist():
        yield number, is_entry & (numbers == number)


@dataclass(frozen=True)
class EndingTerms:
    """Where endings begin: positions of `playouts` random ones with at most `most` pieces or empty cells."""

    most: int = 6
    playouts: int = 10_000
    seed: int = 0


@dataclass(frozen=True)
class SolvedEndings:
    """Endings and their values; `counts`: number of what is `counted`, PIECES or EMPTY_CELLS → positions."""

    solution: Solution
    counted: str
    counts: dict[int, int]

    def save(self, path: Path) -> None:
        """Write what `EndingTable` reads. Raises OSError."""
        most = f"at most {max(self.counts)} {self.counted}"
        part = f"positions with {most}, as far as they were found, and all that follow"
        save_solution(self.solution, path, part=part)


def solve_endings(
    game: CompiledGame,
    terms: EndingTerms | None = None,
    limits: SolverLimits | None = None,
    *,
    report: Callable[[Progress], None] | None = None,
) -> SolvedEndings:
    """Find endings of `game`, those nearest to the end first, and the goal of each role in each of them.

    limits   where they end the search for positions, those are valued that were found and closed until then
    Raises UnsolvableError if no endings are recognized or met, or the solver has no method for the game;
    SolverLimitError if a limit leaves nothing.

    >>> import ggp
    >>> solve_endings(ggp.load("tictactoe"), EndingTerms(most=2)).counted
    'empty cells'
    """
    require_perfect_information(game)
    terms, limits = terms or EndingTerms(), limits or SolverLimits()
    measure = recognize_ending_measure(game)
    if measure is None:
        raise UnsolvableError("no board was recognized on which pieces disappear or cells fill up")
    endings = draw_endings(game, measure, **vars(terms), deadline=limits.deadline)
    if not endings:
        raise UnsolvableError(
            f"none of {terms.playouts:,} random playouts came to {terms.most} {measure.counted} or fewer"
        )
    space = closed_states(game, in_batches(endings), limits, report=report)
    solution = value_states(space, replace(limits, deadline=None, stop=None))
    return SolvedEndings(solution, measure.counted, _counts(space, measure))


def _counts(space: StateSpace, measure: EndingMeasure) -> dict[int, int]:
    keys = space.keys.reshape(-1, space.code.word_count)
    counts: Counter[int] = Counter()
    for first in range(0, len(keys), _DECODED):
        counts.update(measure.of(decode_keys(space.code, keys[first : first + _DECODED])).tolist())
    return dict(sorted(counts.items()))


class EndingTable:
    """A saved table, as players use it. Safe to share between threads.

    known   for searches on lanes; None if they cannot use the values, as those of three roles or of chance
    """

    def __init__(self, path: str | Path, game: Game[Any]) -> None:
        """Raises OSError, SavedSolutionError if the file is damaged or of other rules."""
        self.tablebase = Tablebase(path)
        self.tablebase.require_rules(game.program)
        self.known = self.tablebase.known_goals(game) if isinstance(game, CompiledGame) else None

    @property
    def state_count(self) -> int:
        return int(self.tablebase.header["states"])

    @property
    def goal_sum(self) -> int | None:
        """The sum of two roles' goals in every state, None with one role."""
        found = self.tablebase.header["sum"]
        return None if found is None else int(found)

    def stage(self, game: Game[Any], state: Hashable) -> Stage | None:
        """The optimal moves in a state that is not terminal; None unless all its successors are known."""
        try:
            return self.tablebase.stage(game, state)
        except (KeyError, SolverError):
            return None
