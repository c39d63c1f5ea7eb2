"""Plans in one match: ways to a good end, breadth first and by nested rollouts, for a share of each clock."""

from __future__ import annotations

import logging
import time
from dataclasses import replace

from ggp.engines.compiled import CompiledGame, PackedState
from ggp.game import Move
from ggp.proofs.enumeration import Stopping
from ggp.search.budget import Budget
from ggp.search.rollouts.single_role import NestedRollouts
from ggp.solver import SolverError, SolverLimits
from ggp.solver.plans import Plan, Planner, plan_of_line

_logger = logging.getLogger("ggp.search")

FIRST_SHARE = 0.5
"""Share of the first clock, and ..."""
LATER_SHARE = 0.1
"""... of later ones: what was out of reach is hardly in reach one move later."""
ROLLOUT_SHARE = 0.5
"""Time for nested rollouts as a share of that of breadth-first search, if that found no best goal."""
MAX_CHUNK_SECONDS = 0.02
UNHURRIED_SECONDS = 1e6
"""For searches that are counted: chunks grow by their number alone."""


class MatchPlans:
    """The plan of a match in a game of one role. Belongs to one thread at a time.

    plan   a way from an earlier state on, or None
    """

    def __init__(self, game: CompiledGame, mebibytes: int) -> None:
        self.plan: Plan | None = None
        self._game = game
        self._planner = Planner(game)
        self._rollouts: NestedRollouts | None = None
        self._mebibytes = mebibytes
        self._share = FIRST_SHARE
        self._sought: PackedState | None = None

    def move(self, state: PackedState) -> tuple[Move, Plan] | None:
        """The next move of the plan, if `state` lies on it."""
        move = None if self.plan is None else self.plan.move(state)
        return None if move is None or self.plan is None else (move, self.plan)

    def has_best(self, state: PackedState) -> bool:
        """Whether the plan leads from `state` to a goal that nothing exceeds."""
        found = self.move(state)
        return found is not None and found[1].is_best

    def seek(self, state: PackedState, budget: Budget) -> None:
        """Look for a plan from `state`, once unless stopped, for a share of the time of the budget, or among
        about as many states as it has simulations: then no clock decides anything."""
        seconds = budget.seconds_left()
        if seconds <= 0 or state == self._sought or self.has_best(state):
            return
        chunk_seconds = min(MAX_CHUNK_SECONDS, self._share * seconds / 10)
        limits = SolverLimits(
            mebibytes=self._mebibytes,
            states=budget.simulations,
            deadline=budget.part(self._share).deadline,
            stop=Stopping(budget),
            chunk_seconds=chunk_seconds if budget.simulations is None else UNHURRIED_SECONDS,
            may_use_disk=False,
        )
        try:
            self._take(state, self._planner.find(state, limits))
        except (SolverError, MemoryError) as error:
            _logger.debug("no plan from here: %s", error)
        if not self.has_best(state):
            end = time.monotonic() + ROLLOUT_SHARE * self._share * seconds
            self._roll_out(state, replace(budget, deadline=min(end, budget.deadline)))
        if not budget.is_interrupted():
            self._sought, self._share = state, LATER_SHARE

    def _roll_out(self, state: PackedState, budget: Budget) -> None:
        highest = self._planner.highest_goal
        if self._rollouts is None:
            self._rollouts = NestedRollouts(self._game)
        self._rollouts.move_to(state)
        self._rollouts.run(budget, highest)
        line = self._rollouts.best
        self._take(state, None if line is None else plan_of_line(self._game, state, line.moves, highest))

    def _take(self, state: PackedState, found: Plan | None) -> None:
        """Adopt a found plan, unless the current one promises more."""
        followed = self.move(state)
        if found is not None and (followed is None or found.goal > followed[1].goal):
            _logger.info("plan: goal %d in %d moves", found.goal, len(found.moves))
            self.plan = found
