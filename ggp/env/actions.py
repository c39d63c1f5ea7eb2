"""Actions: one fixed numbering of moves per game, and when each agent moves.

Action a of an agent is its a-th move, by text, of all moves that it can ever have (`CompiledGame.moves`).
From the mover's point of view (`ggp.env.point_of_view`) the second agent has the numbers of the first one's.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ggp.engines.compiled import CompiledGame
from ggp.env.point_of_view import PointOfView
from ggp.game import RANDOM_ROLE, Move, Role
from ggp.jit.rows import words_of
from ggp.lanes.engine import Lanes

_SAMPLED_STEPS = 400
_ALL = ~np.uint64(0)


@dataclass(frozen=True)
class Actions:
    """The moves of each agent, in the order of their numbers.

    agents   every role but `random`, in rule-sheet order
    moves    moves[a][i]: the move behind action i of agent a
    slot     int32[A, M]: the slot of `LaneTables` of each action; -1 where an agent has fewer
    """

    agents: tuple[Role, ...]
    moves: tuple[tuple[Move, ...], ...]
    slot: NDArray[np.int32]

    @property
    def count(self) -> int:
        """M: the largest number of moves of an agent."""
        return max(map(len, self.moves), default=0)

    @cached_property
    def number(self) -> tuple[dict[Move, int], ...]:
        """number[a][move]: the action of a move; amazons has 173,962."""
        return tuple({move: i for i, move in enumerate(moves)} for moves in self.moves)


def actions_of(game: CompiledGame, view: PointOfView | None = None) -> Actions:
    """The numbering of a game's moves; `view`: by it for the second agent."""
    agents = tuple(role for role in game.roles if role != RANDOM_ROLE)
    roles = [game.roles.index(role) for role in agents]
    order = [np.arange(len(game.moves[r])) for r in roles]
    if view is not None:
        order[1] = view.move
    moves = tuple(tuple(game.moves[r][i] for i in order[a]) for a, r in enumerate(roles))
    slot = np.full((len(agents), max(map(len, moves), default=0)), -1, np.int32)
    for a, r in enumerate(roles):
        slot[a, : len(moves[a])] = game.lane_tables.first_slot[r] + order[a]
    return Actions(agents, moves, slot)


@dataclass(frozen=True)
class Turns:
    """When each agent moves, as far as random playouts show.

    is_joint     two agents had a choice in the same state
    is_waiting   uint8[S], by slot of `LaneTables`: moves that a role makes while another one acts
    """

    is_joint: bool
    is_waiting: NDArray[np.uint8]


def find_turns(game: CompiledGame, *, seed: int = 0, steps: int = _SAMPLED_STEPS) -> Turns:
    """Watch 512 random playouts side by side for some steps."""
    tables = game.lane_tables
    lanes = Lanes(tables, seed=seed)
    lanes.begin(game.unpack(game.initial_state()))
    value = words_of(lanes.arrays.value)
    waits = np.zeros(len(tables.slot_literal), np.bool_)
    chooses = np.zeros(len(tables.slot_literal), np.bool_)
    is_joint = False
    for _ in range(steps):
        lanes.settle()
        legal = (
            value[tables.slot_literal >> 1] ^ np.where(tables.slot_literal & 1, _ALL, np.uint64(0))[:, None]
        )
        going_on = ~(value[tables.terminal >> 1] ^ (_ALL if tables.terminal & 1 else np.uint64(0)))
        several = [_several(legal[a:b]) & going_on for a, b in _slots(game)]
        for r, (a, b) in enumerate(_slots(game)):
            others = np.bitwise_or.reduce([s for i, s in enumerate(several) if i != r] or [several[r] & 0])
            waits[a:b] |= (legal[a:b] & others & ~several[r]).any(axis=1)
            chooses[a:b] |= (legal[a:b] & several[r]).any(axis=1)
        choosing = [s for role, s in zip(game.roles, several, strict=True) if role != RANDOM_ROLE]
        is_joint = is_joint or any((s & t).any() for i, s in enumerate(choosing) for t in choosing[:i])
        lanes.play(1)
    return Turns(is_joint, (waits & ~chooses).astype(np.uint8))


def _slots(game: CompiledGame) -> list[tuple[int, int]]:
    first = game.lane_tables.first_slot.tolist()
    return list(pairwise(first))


def _several(legal: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """uint64[W]: lanes in which two of the rows hold."""
    before = np.bitwise_or.accumulate(legal, axis=0)
    several: NDArray[np.uint64] = np.bitwise_or.reduce(before[:-1] & legal[1:], axis=0)
    return several
