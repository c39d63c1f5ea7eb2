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

from gdl.grounding import ground
from gdl.terms import Term
from ggp.circuit.automorphisms import MAX_INPUTS, Permutation, role_swap
from ggp.circuit.construction import build
from ggp.engines.compiled import CompiledGame
from ggp.game import RANDOM_ROLE, Move, Role
from ggp.lanes.engine import Lanes, several_set

_SAMPLED_STEPS = 400
_WATCHED_AT_ONCE = 30_000
"""Rows of literals that are looked at together: numpy's calls take longer than what they do for one step."""


@dataclass(frozen=True)
class PointOfView:
    """How the second of two roles sees a game as the first one, where the rules are proven the same for both.

    A renaming of facts and moves under which the two roles change places (`ggp.circuit.automorphisms`) shows
    the second role every state as if it were the first: its own pieces where the first role has its own, its
    own moves by the first role's numbers. A network then learns one side of the game and plays both.

    fluent   int64[F]: what it sees as fluent f is fluent[f] of the state
    move     int64[M]: what it plays as move m of the first role is its own move[m]
    """

    fluent: NDArray[np.int64]
    move: NDArray[np.int64]


def find_point_of_view(game: CompiledGame) -> PointOfView | None:
    """How the second of two roles sees a game as the first one; None if that is not proven.

    None also for games with `sees` rules, and for those whose circuit is too large to look.

    >>> import ggp
    >>> game = ggp.load("tictactoe", engine="lanes")
    >>> view = find_point_of_view(game)
    >>> fluents = [str(fluent) for fluent in game.terms.fluents]
    >>> fluents[view.fluent[fluents.index("(control x)")]]
    '(control o)'
    """
    if len(game.roles) != 2 or RANDOM_ROLE in game.roles or len(game.tables.input) > MAX_INPUTS:
        return None
    circuit = build(ground(game.program))
    swap = role_swap(circuit)
    if swap is None:
        return None
    moves = [move for of_role in circuit.terms.moves for move in of_role]
    seen: Permutation = np.argsort(swap)
    fluent_of = {f: circuit.terms.fluents[seen[1 + i] - 1] for i, f in enumerate(circuit.terms.fluents)}
    first = range(circuit.first_move[1])
    move_of = {moves[m]: moves[seen[circuit.move0 + m] - circuit.move0] for m in first}
    fluents = [fluent_of[f] for f in game.terms.fluents]
    own = [move_of[m] for m in game.moves[0]]
    if set(fluents) != set(game.terms.fluents) or set(own) != set(game.moves[1]):
        return None  # simplification left out a fact of one role, but not that of the other
    return PointOfView(_places(fluents, game.terms.fluents), _places(own, game.moves[1]))


def _places(chosen: list[Term], terms: tuple[Term, ...]) -> NDArray[np.int64]:
    place = {term: i for i, term in enumerate(terms)}
    return np.array([place[term] for term in chosen], np.int64)


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
