"""Solve what can be enumerated within the clock; give up early otherwise."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from ggp.engines.compiled import CompiledGame, PackedState
from ggp.search.budget import Budget
from ggp.solver import Progress, Solution, SolverError, SolverLimits, solve
from ggp.solver.limits import estimate_states

_logger = logging.getLogger("ggp.search")

PROBE_SHARE = 0.02
"""Share of the time after which the forecast decides."""
PATIENT_SHARE = 0.1
"""In the start clock: share of the time during which a vague forecast suffices."""
FORECAST_ERROR = 8
"""A vague forecast may be wrong by this factor."""
ENUMERATING_SHARE = 0.6
"""Share for finding the states; the rest is for valuing them."""
TOTAL_SHARE = 0.9
MAX_CHUNK_SECONDS = 0.1
HOPELESS = 1000.0
"""Skip attempts for some moves if the forecast exceeds the affordable states at least this many times: each
move is assumed to leave a tenth of the states, ..."""
MAX_PAUSE = 8
"""... but forecasts of large games are wild."""
VAGUE_PAUSE = 2
"""The pause after two or more attempts in a row that ended without a forecast."""
BYTES_PER_STATE = 45
"""Connect four 5x5 with all transitions in memory: `results/solved.md`."""


class MatchEnumeration:
    """Attempts to solve the rest of one match; a hopeless one is followed by a pause of some moves.

    >>> import ggp
    >>> game = ggp.load("tictactoe")
    >>> enumeration = MatchEnumeration(game, mebibytes=64)
    >>> solution = enumeration.solve(game.initial_state(), Budget(time.monotonic() + 60), is_patient=True)
    >>> solution.values(), enumeration.pause
    ((50.0, 50.0), 0)
    """

    def __init__(self, game: CompiledGame, mebibytes: int) -> None:
        """mebibytes: memory of an attempt; nothing is written to disk."""
        self._game = game
        self._mebibytes = mebibytes
        self._state: PackedState | None = None
        self._is_vague = False
        self.pause = 0

    def solve(self, state: PackedState, budget: Budget, *, is_patient: bool) -> Solution | None:
        """The solution of all states reachable from `state`, or None if they are too many.

        Without hope it ends after PROBE_SHARE of the time left; an attempt that was stopped shows nothing
        about later ones.

        is_patient   it ends after PATIENT_SHARE if the forecast is vague
        """
        begin = time.monotonic()
        seconds = budget.deadline - begin
        is_new, self._state = state != self._state, state
        if self.pause > 0:
            self.pause -= is_new
            return None
        if seconds <= 0:
            return None
        stop = Stopping(budget)
        most_states = (self._mebibytes << 20) // BYTES_PER_STATE
        watch = _Watch(seconds, most_states, PATIENT_SHARE if is_patient else PROBE_SHARE)

        def decide(progress: Progress) -> None:
            if not watch.is_promising(progress):
                stop.is_given_up = True

        limits = SolverLimits(
            mebibytes=self._mebibytes,
            deadline=begin + TOTAL_SHARE * seconds,
            stop=stop,
            chunk_seconds=min(MAX_CHUNK_SECONDS, PROBE_SHARE * seconds),
            may_use_disk=False,
        )
        solution = _solution(self._game, state, limits, decide)
        if solution is None and (stop.is_given_up or not stop.is_set()):
            self.pause = self._pause_after(watch.excess)
        return solution

    def _pause_after(self, excess: float | None) -> int:
        """For how many moves no attempt is made after one that was given up; see `_Watch`."""
        was_vague, self._is_vague = self._is_vague, excess is None
        if excess is None:
            return VAGUE_PAUSE if was_vague else 0
        return min(MAX_PAUSE, int(math.log10(excess))) if excess >= HOPELESS else 0


def solve_counted(game: CompiledGame, state: PackedState, states: int, *, mebibytes: int) -> Solution | None:
    """The solution of all states reachable from `state`, or None if there are more than `states`. What it
    returns does not depend on any clock."""
    return _solution(game, state, SolverLimits(mebibytes=mebibytes, states=states, may_use_disk=False), None)


class Stopping:
    """The `stop` of an attempt that its caller can stop, or give up for good."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self.is_given_up = False

    def is_set(self) -> bool:
        """Whether to stop."""
        return self.is_given_up or self._budget.is_interrupted()


@dataclass
class _Watch:
    """Decides whether an enumeration is worth its time.

    excess         how many times more states than can be afforded there are by the last forecast, if any
    """

    seconds: float  # time for the whole solution
    most_states: int  # that memory holds
    vague_share: float  # share of the time during which a vague forecast suffices
    excess: float | None = None

    def is_promising(self, progress: Progress) -> bool:
        """Whether to continue after this chunk."""
        spent = progress.seconds
        if progress.expanded == progress.states or spent <= PROBE_SHARE * self.seconds:
            return True
        left = ENUMERATING_SHARE * self.seconds - spent
        affordable = min(progress.expanded * (1 + left / spent), self.most_states)
        expected = estimate_states(progress.layer_ends)
        self.excess = None if expected is None else expected / max(1.0, affordable)
        if left <= 0 or progress.states > affordable:
            return False
        if spent <= self.vague_share * self.seconds:
            return expected is None or expected <= FORECAST_ERROR * affordable
        return expected is not None and expected <= affordable


def _solution(
    game: CompiledGame, state: PackedState, limits: SolverLimits, decide: Callable[[Progress], None] | None
) -> Solution | None:
    try:
        solution = solve(game, limits, start=state, report=decide)
    except (SolverError, MemoryError) as error:
        _logger.debug("%s: not solved from here: %s", game.name, error)
        return None
    _logger.info("%s solved: %s states from here", game.name, f"{solution.space.state_count:,}")
    return solution
