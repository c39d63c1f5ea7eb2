"""state_graph: reachable states, the legal moves of each agent, and what agents see of every joint move.

Histories that lead to the same state continue in the same way, so the rules are run once per state and joint
move; the tree of histories is unrolled from this graph by index arithmetic alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from gdl.slices import slice_offsets
from ggp.engines.compiled import CompiledGame, ManyStates
from ggp.game import RANDOM_ROLE, Role, has_percepts
from ggp.lanes.keys.state_code import decode_keys
from ggp.solver.kernels.expand import UNKNOWN
from ggp.solver.limits import SolverLimits, UnsolvableError
from ggp.solver.reachable import reachable_states
from ggp.solver.space import StateSpace

Int32Array = NDArray[np.int32]
Int64Array = NDArray[np.int64]


@dataclass(frozen=True)
class StateGraph:
    """The states of a game and its joint moves as arrays. N states, E joint moves in all, A agents (1 or 2).

    agents        the roles that choose on purpose, in rule-sheet order
    first_edge    int64[N+1]; joint moves of state n are first_edge[n] .. first_edge[n+1]-1; none at the end
    successor     int32[E]: state reached
    slot          int32[E, A]: place of each agent's move among its legal moves
    percept       int32[E, A]: number of the set of percepts that each agent gets
    chance        float64[N]: probability of each move of `random`
    legal         int32[N, A]: number of the set of legal moves of each agent
    payoff        float64[N]: at the end the goal of agent 0, less half the constant sum of two agents
    total         the constant sum of two agents' goals; 0 for one agent
    legal_sets    by agent the sets of legal moves: sorted indices into `CompiledGame.moves`
    percept_sets  by agent the sets of percepts: sorted indices into `CircuitTerms.percepts`. Without `sees`
                  there are none, and `percept` is the number of the joint move in its state
    """

    game: CompiledGame
    agents: tuple[Role, ...]
    first_edge: Int64Array
    successor: Int32Array
    slot: Int32Array
    percept: Int32Array
    chance: NDArray[np.float64]
    legal: Int32Array
    payoff: NDArray[np.float64]
    total: int
    legal_sets: tuple[tuple[tuple[int, ...], ...], ...]
    percept_sets: tuple[tuple[tuple[int, ...], ...], ...]

    @property
    def is_hiding(self) -> bool:
        """Whether the rules have `sees`; otherwise every role observes all joint moves."""
        return has_percepts(self.game)

    @property
    def state_count(self) -> int:
        return len(self.payoff)


def make_state_graph(game: CompiledGame, limits: SolverLimits | None = None) -> StateGraph:
    """Enumerate the states of a game of one or two agents, and what agents see on the way.

    Raises UnsolvableError for other games and SolverLimitError.
    """
    agents = tuple(role for role in game.roles if role != RANDOM_ROLE)
    if not 1 <= len(agents) <= 2:
        raise UnsolvableError(f"{len(agents)} roles besides `random`: equilibria are found for two")
    space = reachable_states(game, limits)
    move_count = np.concatenate([chunk.move_count for chunk in space.chunks]).astype(np.int64)
    degree = move_count.prod(axis=1)
    first_edge = slice_offsets(degree)
    columns = [game.roles.index(agent) for agent in agents]
    slots = _slots(move_count, first_edge)
    legal, seen = _views(game, space, first_edge, slots, columns)
    legal_numbers, legal_sets = zip(*map(_numbered, legal), strict=True)
    if has_percepts(game):
        percept_numbers, percept_sets = zip(*map(_numbered, seen), strict=True)
    else:
        # every role sees the whole joint move
        place = np.arange(len(seen[0])) - np.repeat(first_edge[:-1], degree)
        percept_numbers, percept_sets = (place,) * len(agents), ((),) * len(agents)
    draws = move_count[:, [role == RANDOM_ROLE for role in game.roles]].prod(axis=1)
    payoff, total = _payoffs(space, columns)
    return StateGraph(
        game,
        agents,
        first_edge,
        np.concatenate([chunk.edge for chunk in space.chunks]).astype(np.int32),
        slots[:, columns].astype(np.int32),
        np.stack(percept_numbers, axis=1).astype(np.int32),
        1 / np.maximum(draws, 1),
        np.stack(legal_numbers, axis=1).astype(np.int32),
        payoff,
        total,
        legal_sets,
        percept_sets,
    )


def _payoffs(space: StateSpace, columns: list[int]) -> tuple[NDArray[np.float64], int]:
    """Payoff of agent 0 per state, and the constant sum. Raises UnsolvableError without a constant sum."""
    goal = space.goal[:, columns].astype(np.int64)
    is_end = space.goal[:, columns[0]] != UNKNOWN
    if len(columns) == 1:
        return np.where(is_end, goal[:, 0], 0.0), 0
    sums = np.unique(goal[is_end].sum(axis=1))
    if len(sums) > 1:
        raise UnsolvableError(
            f"the goals of the two roles add up to {sums[0]} or {sums[-1]}: a constant sum is needed"
        )
    total = int(sums[0]) if len(sums) else 100
    return np.where(is_end, goal[:, 0] - total / 2, 0.0), total


def _slots(move_count: Int64Array, first_edge: Int64Array) -> Int64Array:
    """int64[E, R]: the place of each role's move among its legal moves; the last role varies fastest."""
    degree = np.diff(first_edge)
    rest = np.arange(first_edge[-1]) - np.repeat(first_edge[:-1], degree)
    slots = np.empty((len(rest), move_count.shape[1]), np.int64)
    for role in range(move_count.shape[1] - 1, -1, -1):
        base = np.repeat(move_count[:, role], degree)
        slots[:, role] = rest % base
        rest //= base
    return slots


def _numbered(sets: NDArray[np.uint8]) -> tuple[Int64Array, tuple[tuple[int, ...], ...]]:
    """Number different rows of packed bits: numbers of the rows, and the sets behind the numbers."""
    width = max(1, sets.shape[1])
    rows = np.ascontiguousarray(np.pad(sets, ((0, 0), (0, width - sets.shape[1]))))
    different, numbers = np.unique(rows.view(f"V{width}").ravel(), return_inverse=True)
    bits = np.unpackbits(different.view(np.uint8).reshape(-1, width), axis=1, bitorder="little")
    return numbers, tuple(tuple(np.flatnonzero(row).tolist()) for row in bits)


def _views(
    game: CompiledGame, space: StateSpace, first_edge: Int64Array, slots: Int64Array, columns: list[int]
) -> tuple[list[NDArray[np.uint8]], list[NDArray[np.uint8]]]:
    """By agent the legal moves of all states and the percepts of all joint moves, as rows of packed bits."""
    many, offsets = ManyStates(game), list(pairwise(game.tables.first_move.tolist()))
    chosen = [np.flatnonzero(game.tables.percept_role == r) for r in columns]
    count, edges, lanes = space.state_count, int(first_edge[-1]), many.lane_count
    legal = [np.zeros((count, -(-(offsets[r][1] - offsets[r][0]) // 8)), np.uint8) for r in columns]
    seen = [np.zeros((edges, -(-len(of_agent) // 8)), np.uint8) for of_agent in chosen]
    for first in range(0, count, lanes):
        states = decode_keys(space.code, space.keys.reshape(count, -1)[first : first + lanes])
        settled = many.settle(states).legal
        is_legal = [settled[:, a:b] for a, b in offsets]
        for rows, r in zip(legal, columns, strict=True):
            rows[first : first + lanes] = np.packbits(is_legal[r], axis=1, bitorder="little")
        if not len(game.terms.percepts):
            continue
        of_states = first_edge[first : first + lanes + 1]
        owner = np.repeat(np.arange(len(states)), np.diff(of_states))
        # the places of legal moves first, in order
        order = [np.argsort(~of_role, axis=1, kind="stable") for of_role in is_legal]
        for a in range(0, len(owner), lanes):
            part, begin = owner[a : a + lanes], int(of_states[0]) + a
            moves = [each[part, slots[begin : begin + len(part), r]] for r, each in enumerate(order)]
            holds = many.following(states[part], np.stack(moves, axis=1).astype(np.int32))[1]
            for rows, of_agent in zip(seen, chosen, strict=True):
                rows[begin : begin + len(part)] = np.packbits(holds[:, of_agent], axis=1, bitorder="little")
    return legal, seen
