"""Plans: games of one role, by breadth-first search for the best end.

States are *projected*: two that differ only in a clock (`ggp.circuit.subgames`) count as one, and the
clock's state follows from the depth; idle facts stay as they are at the start. So a step counter does not
multiply the states of a puzzle, nor do subgames that neither ends nor goals depend on. What is found is
followed in the game: an idle fact may decide what is legal.

Each state is kept with the depth at which it is reached first, so no plan waits: an end that comes only when
a counter has run down, in a position that was reached before, is not found. That the earlier arrival is never
worse is not proven, so a plan is known to be best only if there is no higher goal at all.
"""

from __future__ import annotations

import logging
from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ggp.circuit.circuit import cone_of
from ggp.circuit.subgames import find_subgames, find_supports
from ggp.engines.compiled import CompiledGame, PackedState
from ggp.game import GameError, Move
from ggp.lanes.keys.state_code import StateCode, decode_keys, make_code
from ggp.lanes.step import NO_GOAL
from ggp.solver.kernels.expand import UNKNOWN
from ggp.solver.limits import Progress, SolverLimits
from ggp.solver.reachable import projected_states
from ggp.solver.space import StateSpace

_logger = logging.getLogger("ggp.solver")


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
    """Finds plans in one game of one role. Takes up to half a second to make if its circuit is large."""

    def __init__(self, game: CompiledGame) -> None:
        if len(game.roles) != 1:
            raise ValueError("plans need a game of one role")
        self.game = game
        self.highest_goal = int(game.lane_tables.goal_value.max(initial=0))
        self._facts = ProjectedFacts(game)

    def find(
        self, state: PackedState, limits: SolverLimits, report: Callable[[Progress], None] | None = None
    ) -> Plan | None:
        """The shortest way from `state` to the best end found within `limits`; None if there is none.

        With `limits.states` and `chunk_seconds` large, what is found depends on no clock.
        Raises UnsolvableError if the role may have more moves than can be counted.

        """
        projection = Projection(self.game, self._facts, state)
        enough = self.highest_goal
        space = projected_states(
            self.game, projection.code_at, limits, start=state, enough=enough, report=report
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
    keys = space.keys.reshape(-1, space.code.word_count)
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
        before = chunk.first + row
        depth = bisect_right(space.layer_ends, before)
        offset = edge - (int(ends[row - 1]) if row else 0)
        way.append((projection.state(keys[before], depth), offset))
        target = before
    return way[::-1]


class ProjectedFacts:
    """The facts of a game that keys hold, and the evolution of those that they do not. F fluents.

    left_out   fluents that keys do not hold, in ascending order: idle ones, and clocks on which neither legal
               moves nor other facts depend; none if the circuit is too large to be taken apart
    code       the state code in which all of them are false
    """

    def __init__(self, game: CompiledGame) -> None:
        self._tables = tables = game.tables
        self._ticking, idle = _facts_to_leave_out(game)
        self.left_out = sorted([*self._ticking, *idle])
        self._places = [self.left_out.index(f) for f in self._ticking]
        self._next = [int(tables.next[f]) for f in self._ticking]
        self._cone = [node for node in cone_of(self._next, self._inputs) if node >= tables.gate0]
        dropped = set(self.left_out)
        kept = [[f for f in group if f not in dropped] for group in game.exclusive]
        self.code = make_code(tables.fluent_count, kept, left_out=self.left_out)

    def following(self, values: NDArray[np.int32]) -> NDArray[np.int32]:
        """The facts left out, 0 or 1 each, one step after `values`: clocks run, idle ones stay."""
        ticking = values[self._places].tolist()
        value = {0: 1, **{1 + f: each for f, each in zip(self._ticking, ticking, strict=True)}}
        for node in self._cone:
            value[node] = int(all(value[x >> 1] ^ (x & 1) for x in self._inputs(node)))
        following = values.copy()
        following[self._places] = [value[x >> 1] ^ (x & 1) for x in self._next]
        return following

    def _inputs(self, node: int) -> list[int]:
        gate = node - self._tables.gate0
        first = self._tables.first_input
        return [] if gate < 0 else list(map(int, self._tables.input[first[gate] : first[gate + 1]]))


def _facts_to_leave_out(game: CompiledGame) -> tuple[list[int], tuple[int, ...]]:
    """The facts of clocks on which neither legal moves nor other facts depend, ascending; and idle facts."""
    try:
        supports = find_supports(game.tables)
    except OverflowError as error:
        _logger.info("%s: keys keep all facts: %s", game.name, error)
        return [], ()
    subgames = find_subgames(game.tables, supports)
    read = 0
    for mask in (*supports.legal, *(supports.next[f] for part in subgames.parts for f in part)):
        read |= mask
    clocks = [clock for clock in subgames.clocks if not any(read >> (1 + f) & 1 for f in clock)]
    return sorted(f for clock in clocks for f in clock), subgames.idle


class Projection:
    """The states that can follow `start`, as keys without the facts that are left out."""

    def __init__(self, game: CompiledGame, facts: ProjectedFacts, start: PackedState) -> None:
        self._game = game
        self._facts = facts
        self._place = facts.code.first_digit[facts.left_out]
        self._values = [game.unpack(start)[facts.left_out].astype(np.int32)]

    def code_at(self, depth: int) -> StateCode:
        """The state code of the states after `depth` joint moves."""
        while len(self._values) <= depth:
            self._values.append(self._facts.following(self._values[-1]))
        digit = self._facts.code.digit.copy()
        # The literal of a plane that is always 0: as it is for what is false, negated for what is true.
        digit[self._place] |= self._values[depth]
        return self._facts.code._replace(digit=digit)

    def state(self, key: NDArray[np.uint64], depth: int) -> PackedState:
        """The state of a key uint64[D] after `depth` joint moves."""
        return self._game.pack(decode_keys(self.code_at(depth), key[None, :])[0])
