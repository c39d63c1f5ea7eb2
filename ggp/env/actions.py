"""Actions: one fixed numbering of moves per game, and when each agent moves.

Action a of an agent is its a-th move, by text, of all moves that it can ever have (`CompiledGame.moves`).
From the mover's point of view the second agent has the numbers of the first one's.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, starmap

import numpy as np
from numpy.typing import NDArray

from ggp.engines.compiled import CompiledGame
from ggp.engines.point_of_view import PointOfView
from ggp.game import RANDOM_ROLE, Move, Role
from ggp.lanes.engine import Lanes, several_set

_SAMPLED_STEPS = 400
_WATCHED_AT_ONCE = 30_000
"""Rows of literals that are looked at together: numpy's calls take longer than what they do for one step."""


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


def find_turns(game: CompiledGame) -> Turns:
    """Watch 512 random playouts side by side for some steps."""
    tables = game.lane_tables
    lanes = Lanes(tables)
    lanes.begin(game.unpack(game.initial_state()))
    slots = list(starmap(slice, pairwise(tables.first_slot.tolist())))
    agents = [r for r, role in enumerate(game.roles) if role != RANDOM_ROLE]
    waits, chooses = np.zeros((2, len(tables.slot_literal)), np.bool_)
    is_joint = False
    watched = np.append(tables.slot_literal, np.int32(tables.terminal))
    at_once = max(1, min(_SAMPLED_STEPS, _WATCHED_AT_ONCE // len(watched)))
    for first in range(0, _SAMPLED_STEPS, at_once):
        steps = min(at_once, _SAMPLED_STEPS - first)
        seen = np.concatenate([_step(lanes, watched) for _ in range(steps)], axis=1)
        legal, over = seen[:-1], seen[-1]
        several = np.array([several_set(legal[slot]) for slot in slots]) & ~over
        for r, slot in enumerate(slots):
            others = np.bitwise_or.reduce(np.delete(several, r, axis=0), axis=0)
            waits[slot] |= (legal[slot] & others & ~several[r]).any(axis=1)
            chooses[slot] |= (legal[slot] & several[r]).any(axis=1)
        is_joint = is_joint or bool(several_set(several[agents]).any())
    return Turns(is_joint, (waits & ~chooses).astype(np.uint8))


def _step(lanes: Lanes, watched: NDArray[np.int32]) -> NDArray[np.uint64]:
    """uint64[*, W]: what the literals `watched` are before a step."""
    lanes.settle()
    seen = lanes.words_at(watched)
    lanes.play(1)
    return seen
