"""Plans: games of one role, by breadth-first search for the best end.

States are projected (`ggp.solver.projection`): a puzzle that counts its steps has as many states as it has
positions, each with the depth at which it is reached first. So no plan waits: an end that comes only when a
counter has run down, in a position that was reached before, is not found. And that the earlier arrival is
never worse is not proven, so a plan is known to be best only if there is no higher goal at all.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np

from ggp.engines.compiled import CompiledGame, PackedState
from ggp.game import GameError, Move
from ggp.lanes.step import NO_GOAL
from ggp.solver.kernels.expand import UNKNOWN
from ggp.solver.limits import Progress, SolverLimits
from ggp.solver.projection import ProjectedFacts, Projection
from ggp.solver.reachable import projected_states
from ggp.solver.space import StateSpace


@dataclass(frozen=True)
class Plan:
    """A line to an end of the game, followed state by state.

    goal      at its end
    moves     from each of `states` but the last
    states    all on the way, the first one included
    is_best   whether no other way can lead to a higher goal
    """

    goal: int
    moves: tuple[Move, ...]
    states: tuple[PackedState, ...]
    is_best: bool

    def move(self, state: PackedState) -> Move | None:
        """The move in a state on the way; None elsewhere, and at the end."""
        place = self.states.index(state) if state in self.states else len(self.moves)
        return self.moves[place] if place < len(self.moves) else None


def plan_of_line(game: CompiledGame, state: PackedState, moves: Iterable[Move], highest: int) -> Plan | None:
    """The plan that makes `moves` from `state` on; None if they are not legal or do not lead to an end.

    highest   no goal exceeds it
    """
    role = game.roles[0]
    states, made = [state], []
    try:
        for move in moves:
            states.append(game.next_state(states[-1], (move,)))
            made.append(move)
        if not game.is_terminal(states[-1]):
            return None
        goal = game.goal(states[-1], role)
    except GameError:
        return None
    return Plan(goal, tuple(made), tuple(states), goal >= highest)


class Planner:
    """Finds plans in one game of one role."""

    def __init__(self, game: CompiledGame) -> None:
        """Take the facts of `game` apart: up to half a second if its circuit is large."""
        if len(game.roles) != 1:
            raise ValueError("plans need a game of one role")
        self.game = game
        self.highest_goal = int(game.lane_tables.goal_value.max(initial=0))
        self._facts = ProjectedFacts(game)

    def find(
        self,
        state: PackedState,
        limits: SolverLimits,
        report: Callable[[Progress], None] | None = None,
    ) -> Plan | None:
        """The shortest way from `state` to the best end found within `limits`; None if there is none.

        With `limits.states` and `chunk_seconds` large, what is found depends on no clock.
        Raises UnsolvableError if the role may have more moves than can be counted.

        >>> import ggp
        >>> game = ggp.load("eightpuzzle")
        >>> plan = Planner(game).find(game.initial_state(), SolverLimits())
        >>> plan.goal, len(plan.moves), plan.is_best
        (100, 20, True)
        """
        projection = Projection(self.game, self._facts, state)
        space = projected_states(
            self.game,
            projection.code_at,
            limits,
            start=state,
            enough=self.highest_goal,
            report=report,
        )
        goals = space.goal[: space.expanded, 0].astype(np.int32)
        goals[(goals == UNKNOWN) | (goals == NO_GOAL)] = -1
        if not len(goals) or goals.max() < 0:
            return None
        way = _way_to(space, projection, int(goals.argmax()), limits)
        moves = (self.game.legal_moves(before, self.game.roles[0])[place] for before, place in way)
        return plan_of_line(self.game, state, moves, self.highest_goal)


def _way_to(
    space: StateSpace, projection: Projection, target: int, limits: SolverLimits
) -> list[tuple[PackedState, int]]:
    """The states before `target` on the way to it, each with the place of its move among the legal ones.
    Raises SolverLimitError if stopped; what was found within the deadline is followed to its end."""
    words = space.code.word_count
    keys = space.keys.reshape(-1, words)
    firsts = [chunk.first for chunk in space.chunks]
    highest = [int(chunk.edge.max(initial=0)) for chunk in space.chunks]
    way: list[tuple[PackedState, int]] = []
    while target:
        replace(limits, deadline=None).check_time("a plan found")
        # States are numbered as they are found: the first transition that leads to one has found it.
        place = next(i for i, each in enumerate(highest) if each >= target)
        chunk = space.chunks[place]
        edge = int((chunk.edge == target).argmax())
        ends = np.cumsum(chunk.move_count[:, 0], dtype=np.int64)
        row = int(np.searchsorted(ends, edge, side="right"))
        before = firsts[place] + row
        depth = bisect_right(space.layer_ends, before)
        offset = edge - (int(ends[row - 1]) if row else 0)
        way.append((projection.state(keys[before], depth), offset))
        target = before
    return way[::-1]
