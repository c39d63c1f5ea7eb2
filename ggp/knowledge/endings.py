"""A table of endings: the exact values of positions with few pieces or few empty cells.

Random playouts give the positions to begin with; the solver finds all that legal play reaches from them
and values that set, which no move leaves. It is saved as a solution of a part of the game.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ggp.engines.compiled import CompiledGame
from ggp.features.endings import EndingMeasure, draw_endings, in_batches, recognize_ending_measure
from ggp.lanes.keys.state_code import decode_keys
from ggp.solver import Progress, Solution, SolverLimits, UnsolvableError, save_solution, value_states
from ggp.solver.reachable import closed_states
from ggp.solver.solution import require_perfect_information
from ggp.solver.space import StateSpace

_DECODED = 1 << 16


@dataclass(frozen=True)
class EndingTerms:
    """Where endings begin: positions of `playouts` random ones with at most `most` pieces or empty cells."""

    most: int = 6
    playouts: int = 10_000
    seed: int = 0


@dataclass(frozen=True)
class SolvedEndings:
    """Endings and their values.

    counted   what their number is of: "pieces" or "empty cells"
    counts    number of pieces or empty cells → number of positions
    """

    solution: Solution
    counted: str
    counts: dict[int, int]

    @property
    def part(self) -> str:
        """The positions in words."""
        most = max(self.counts)
        return f"positions with at most {most} {self.counted}, as far as they were found, and all that follow"

    def save(self, path: Path) -> None:
        """Write what `ggp.solver.endings.EndingTable` reads. Raises OSError."""
        save_solution(self.solution, path, part=self.part)


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
    >>> found = solve_endings(ggp.load("tictactoe"), EndingTerms(most=2))
    >>> found.part.partition(",")[0], found.solution.concept
    ('positions with at most 2 empty cells', 'minimax')
    """
    require_perfect_information(game)
    terms, limits = terms or EndingTerms(), limits or SolverLimits()
    measure = recognize_ending_measure(game)
    if measure is None:
        raise UnsolvableError("no board was recognized on which pieces disappear or cells fill up")
    endings = draw_endings(
        game,
        measure,
        most=terms.most,
        playouts=terms.playouts,
        seed=terms.seed,
        deadline=limits.deadline if limits.deadline is not None else np.inf,
    )
    if not endings:
        raise UnsolvableError(
            f"none of {terms.playouts:,} random playouts came to {terms.most} {measure.counted} or fewer"
        )
    space = closed_states(game, in_batches(endings), limits, report=report)
    solution = value_states(space, replace(limits, deadline=None, stop=None))
    return SolvedEndings(solution, measure.counted, _counts(space, measure))


def _counts(space: StateSpace, measure: EndingMeasure) -> dict[int, int]:
    """How many states have each number, in ascending order."""
    keys = space.keys.reshape(-1, space.code.word_count)
    counts = np.zeros(1, np.int64)
    for first in range(0, len(keys), _DECODED):
        numbers = measure.of(decode_keys(space.code, keys[first : first + _DECODED]))
        found = np.bincount(numbers, minlength=len(counts))
        counts = found + np.pad(counts, (0, len(found) - len(counts)))
    return {number: int(count) for number, count in enumerate(counts) if count}
