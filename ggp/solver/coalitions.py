"""Coalitions: some roles maximize the sum of their goals, all others together minimize it.

With a coalition of one role this is the paranoid assumption (Sturtevant and Korf, On pruning techniques for
multi-player games, 2000); without any coalition every role maximizes its own goal, which is max^n (Luckhardt
and Irani, An algorithmic solution of N-person games, 1986) and what `ggp.solver.solve` computes for three and
more roles.

The two sides are players of a game with constant sum on the same states, so every method of
`ggp.solver.solution` applies: backward induction, cycles, chance, and matrix games where both sides choose at
once. There the members of a side draw their moves together, as one player would.
Endless play is worth half of the greatest sum, and nothing if every role is a member.

Letters: N states, R roles, S sides (two, or one if no role is left, and chance).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from math import gcd
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gdl.terms import Symbol
from ggp.engines.batches import require_compiled
from ggp.engines.compiled import CompiledGame, PackedState
from ggp.game import RANDOM_ROLE, Game, Role
from ggp.solver.kernels.expand import MAX_MOVES, UNKNOWN
from ggp.solver.limits import Progress, SolverLimitError, SolverLimits, UnsolvableError
from ggp.solver.reachable import reachable_states
from ggp.solver.solution import require_perfect_information, value_space
from ggp.solver.space import Chunk, StateSpace
from ggp.solver.stages import Stage, Worth, rate_stage

GREATEST_GOAL = 100
_COALITION, _OTHERS = Symbol("coalition"), Symbol("others")


@dataclass(frozen=True)
class CoalitionSolution:
    """The sum of goals that a coalition can secure, in every reachable state.

    space     the reachable states, with the moves and goals of sides
    members   indices of the roles of the coalition
    total     float64[N]: the sum of the members' goals under best play of both sides
    concept   the method, one of the constants of `ggp.solver.solution`
    seconds   time it took to find and value the states
    """

    space: StateSpace
    members: frozenset[int]
    total: NDArray[np.float64]
    concept: str
    seconds: float

    @property
    def game(self) -> CompiledGame:
        return self.space.game

    @property
    def coalition(self) -> tuple[Role, ...]:
        return tuple(role for r, role in enumerate(self.game.roles) if r in self.members)

    @property
    def others(self) -> tuple[Role, ...]:
        return tuple(
            role for r, role in enumerate(self.game.roles) if r not in self.members and role != RANDOM_ROLE
        )

    def value(self, state: PackedState | None = None) -> float:
        """The coalition's sum of goals from `state` on. Raises KeyError for unreachable states."""
        number = 0 if state is None else int(self.space.number(self.game.unpack(state)[None, :])[0])
        if number < 0:
            raise KeyError("not a reachable state")
        return float(self.total[number])

    def stage(self, state: PackedState) -> Stage | None:
        """The best moves in a nonterminal state in which one role chooses, else None. The goals of the moves
        are sums of the coalition's goals."""
        choosing = [
            r
            for r, role in enumerate(self.game.roles)
            if role != RANDOM_ROLE and len(self.game.legal_moves(state, role)) > 1
        ]
        if len(choosing) != 1:
            return None
        sign = 1.0 if choosing[0] in self.members else -1.0

        def lookup(successor: PackedState) -> Worth:
            return Worth((sign * self.value(successor),) * len(self.game.roles), 0)

        rated = rate_stage(self.game, state, lookup).best_moves
        return Stage(
            {
                role: tuple(replace(move, goal=sign * move.goal) for move in moves)
                for role, moves in rated.items()
            }
        )


def solve_coalition(
    game: Game[Any],
    members: Iterable[int],
    limits: SolverLimits | None = None,
    *,
    start: PackedState | None = None,
    report: Callable[[Progress], None] | None = None,
) -> CoalitionSolution:
    """The sum of goals that the roles with indices `members` can secure, in every state from `start` on.

    Raises SolverLimitError, UnsolvableError; GameError if the game is not compiled.
    """
    game = require_compiled(game)
    require_perfect_information(game)
    chosen = frozenset(members)
    limits = limits or SolverLimits()
    space = reachable_states(game, limits, start=start, report=report)
    begin = time.perf_counter()
    sides = _sides(game.roles, chosen)
    merged, unit = _merge_sides(space, sides, limits)
    value, concept = value_space(merged, list(sides), limits)
    if limits.work_folder is not None and space.folder is not None:
        space.folder.clear()
    seconds = space.seconds + time.perf_counter() - begin
    return CoalitionSolution(merged, chosen, value[:, 0].astype(np.float64) * unit, concept, seconds)


def _sides(roles: Sequence[Role], members: frozenset[int]) -> dict[Role, list[int]]:
    """The roles of each side: the coalition, the others, chance; without sides that have none."""
    sides: dict[Role, list[int]] = {_COALITION: [], _OTHERS: [], RANDOM_ROLE: []}
    for r, role in enumerate(roles):
        sides[_COALITION if r in members else role if role == RANDOM_ROLE else _OTHERS].append(r)
    return {side: group for side, group in sides.items() if group}


def _merge_sides(
    space: StateSpace, sides: dict[Role, list[int]], limits: SolverLimits
) -> tuple[StateSpace, int]:
    """The same states with sides for roles, and how many goal points one unit of its goals means. Raises
    UnsolvableError if a side has too many joint moves or the sums too many values."""
    groups, members = list(sides.values()), sides[_COALITION]
    ended = space.goal[:, 0] != UNKNOWN
    sums = space.goal[ended][:, members].astype(np.int64).sum(axis=1)
    most = GREATEST_GOAL * len(members)
    unit = gcd(most // 2, *map(int, np.unique(sums)))
    if most // unit >= UNKNOWN:
        raise UnsolvableError(f"the sums of the goals of {len(members)} roles take too many values")
    goal = np.zeros((space.state_count, len(groups)), np.uint8)
    goal[~ended] = UNKNOWN
    goal[ended, 0] = sums // unit
    if _OTHERS in sides:
        goal[ended, 1] = (most - sums) // unit
    order = [r for group in groups for r in group]
    room = limits.mebibytes << 20
    chunks = []
    for chunk in space.chunks:
        chunks.append(_merge_chunk(chunk, groups, order))
        room -= chunk.edge.nbytes if chunks[-1].edge is not chunk.edge else 0
        if room < 0:
            raise SolverLimitError("not enough memory for the joint moves of both sides")
    return replace(space, goal=goal, chunks=chunks), unit


def _merge_chunk(chunk: Chunk, groups: list[list[int]], order: list[int]) -> Chunk:
    """`chunk` with sides for roles: joint moves in the lexicographic order of the sides."""
    counts = chunk.move_count.astype(np.int64)
    merged = np.stack([counts[:, group].prod(axis=1) for group in groups], axis=1)
    if merged.max(initial=0) > MAX_MOVES:
        raise UnsolvableError(f"a side has more than {MAX_MOVES:,} joint moves")
    edge = chunk.edge
    sizes = counts.prod(axis=1)
    moved = np.flatnonzero((counts > 1).sum(axis=1) > 1)
    if order != sorted(order) and len(moved):
        edge = np.array(edge)
        starts = np.cumsum(sizes) - sizes
        for place in moved:
            part = slice(starts[place], starts[place] + sizes[place])
            edge[part] = edge[part].reshape(counts[place]).transpose(order).reshape(-1)
    return Chunk(chunk.first, chunk.state_count, merged.astype(np.uint16), edge)
