"""`Game` by a compiled circuit: fast, with successors and playouts in batches.

A state is `bytes`: one bit per fluent, fluent f in bit f % 8 of byte f // 8. States are equal exactly when
the same facts are true in them.
"""

from __future__ import annotations

import copy
import itertools
import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import partial, wraps
from typing import Any, NamedTuple, TypeAlias, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from gdl.program import Program
from gdl.terms import Symbol, Term
from ggp.circuit.circuit import Circuit
from ggp.circuit.tables import CircuitTables, CircuitTerms, Phase, tabulate
from ggp.engines.single_state import advance, evaluate, make_single_state
from ggp.game import (
    Fact,
    IllegalMoveError,
    JointMove,
    Move,
    NoLegalMoveError,
    Role,
    RoleTable,
    goal_of,
    illegal,
    no_state,
    roles_text,
)
from ggp.jit.compiling import announced_compilation
from ggp.lanes.choose import native_layout
from ggp.lanes.engine import DEFAULT_WORDS, BoolArray, Lanes
from ggp.lanes.layout import LaneTables, arrange
from ggp.native.background import NativeCode
from ggp.native.compile_limit import CompileLimit
from ggp.native.parts import FUSED_PARTS, SINGLE_PARTS

_logger = logging.getLogger("ggp")

PackedState: TypeAlias = bytes
_Made = TypeVar("_Made")
REMEMBERED_STATES = 4096
NO_GOAL = -1


class Successors(NamedTuple):
    """All joint moves of one state and the states reached. N joint moves, R roles, M moves of all roles.

    joint_moves   int32[N, R]: per role the index of its move in `CompiledGame.moves[role]`
    states        the N states reached
    is_terminal   bool[N]
    goals         int32[N, R]: goal of each role; NO_GOAL if the rules give none, or several
    is_legal      bool[N, M]: legality in the states reached, role by role (see `CircuitTables.first_move`)

    >>> import ggp
    >>> ggp.successors(ggp.load("tictactoe"))
    <Successors: 9 joint moves of 2 roles, 0 to terminal states>
    """

    joint_moves: NDArray[np.int32]
    states: tuple[PackedState, ...]
    is_terminal: BoolArray
    goals: NDArray[np.int32]
    is_legal: BoolArray

    def __repr__(self) -> str:
        count, roles = self.joint_moves.shape
        ends = int(self.is_terminal.sum())
        return f"<Successors: {count:,} joint moves of {roles} roles, {ends:,} to terminal states>"


class _Evaluation(NamedTuple):
    """Evaluation of one state: by role the legal moves (indices) and the derived goal values."""

    is_terminal: bool
    legal: tuple[tuple[int, ...], ...]
    goals: tuple[tuple[int, ...], ...]


class CompiledGame:
    """A game whose rules are a circuit. Safe to share between threads.

    program   the rules as read
    tables, terms   their circuit, from `ggp.circuit.tables`
    words     width of the rows, see `ggp.lanes.engine`
    native    its machine code; searches `begin` it
    native_playouts    that of whole ticks; `ggp.playouts` and uniform searches begin it
    exclusive   known groups of fluents of which at most one holds in any reachable state
    """

    engine = "lanes"

    def __init__(
        self,
        program: Program,
        tables: CircuitTables,
        terms: CircuitTerms,
        name: str = "game",
        *,
        words: int = DEFAULT_WORDS,
        exclusive: tuple[tuple[int, ...], ...] = (),
        compile_limit: CompileLimit | None = None,
    ) -> None:
        self.name = name
        self.program = program
        self.tables = tables
        self.terms = terms
        self.roles = terms.roles
        self.words = words
        self.exclusive = exclusive
        self.lane_tables: LaneTables = arrange(tables)
        compile_limit = compile_limit or CompileLimit()
        self.native, self.native_playouts = (
            NativeCode(
                tables,
                native_layout(self.lane_tables),
                self.lane_tables.schedule.native,
                parts=parts,
                limit=compile_limit,
                name=name,
            )
            for parts in (SINGLE_PARTS, FUSED_PARTS)
        )
        self._many = ManyStates(self)
        self._lock = threading.Lock()
        self._role_index = RoleTable((role, r) for r, role in enumerate(terms.roles))
        self._move_index = [{move: i for i, move in enumerate(moves)} for moves in terms.moves]
        slots = self.lane_tables.first_slot
        of_moves = [np.arange(slots[r], slots[r] + len(moves)) for r, moves in enumerate(terms.moves)]
        self.legal_literals = self.lane_tables.slot_literal[np.concatenate([np.zeros(0, int), *of_moves])]
        self._first_move = [int(first) for first in tables.first_move]
        self._goal_values = tables.goal_value.tolist()
        self._state_bytes = -(-len(terms.fluents) // 8)
        self._evaluations: dict[PackedState, _Evaluation] = {}
        self._single = make_single_state(tables)
        self._settled_state: PackedState | None = None

    def __reduce__(self) -> tuple[object, ...]:
        restored = partial(CompiledGame, words=self.words, exclusive=self.exclusive)
        return (restored, (self.program, self.tables, self.terms, self.name))

    def __repr__(self) -> str:
        tables = self.tables
        return (
            f"<CompiledGame {self.name}: {roles_text(self.roles)}; {tables.fluent_count:,} fluents, "
            f"{self._first_move[-1]:,} moves, {tables.node_count - tables.gate0:,} gates>"
        )

    @property
    def moves(self) -> tuple[tuple[Move, ...], ...]:
        """moves[r]: all moves that role r can ever have, sorted by text."""
        return self.terms.moves

    def initial_state(self) -> PackedState:
        """The state in which every match starts."""
        return self.pack(self.tables.initial.astype(np.bool_))

    def is_terminal(self, state: PackedState) -> bool:
        """Whether the match is over in `state`."""
        return self._evaluate(state).is_terminal

    def legal_moves(self, state: PackedState, role: Role) -> tuple[Move, ...]:
        """The moves of `role`, sorted by text. Raises NoLegalMoveError if it has none before the end."""
        evaluation = self._evaluate(state)
        r = self._role_index[role]
        legal = evaluation.legal[r]
        if not legal and not evaluation.is_terminal:
            raise NoLegalMoveError(f"{role} has no legal move in a state that is not terminal")
        moves = self.terms.moves[r]
        return tuple([moves[i] for i in legal])

    def next_state(self, state: PackedState, joint_move: JointMove) -> PackedState:
        """The state after `joint_move`. Raises IllegalMoveError if it is not legal."""
        chosen = self._chosen(state, joint_move)
        with self._lock:
            self._advance(state, chosen, with_percepts=False)
            return self._single.value.following.tobytes()

    def goal(self, state: PackedState, role: Role) -> int:
        """The goal of `role` in `state`. Raises GoalError unless there is exactly one value 0..100."""
        goals = self._evaluate(state).goals[self._role_index[role]]
        return goal_of(role, [Symbol(str(goal)) for goal in goals])

    def facts(self, state: PackedState) -> tuple[Fact, ...]:
        """The facts true in `state`, sorted by text."""
        fluents = self.terms.fluents
        return tuple(fluents[f] for f in np.flatnonzero(self.unpack(state)))

    def percepts(self, state: PackedState, joint_move: JointMove, role: Role) -> tuple[Term, ...]:
        """The percepts of `role` for `joint_move`, sorted by text; empty in games without `sees`."""
        if not self.terms.percepts:
            return ()
        chosen = self._chosen(state, joint_move)
        of_role = np.flatnonzero(self.tables.percept_role == self._role_index[role])
        with self._lock:
            self._advance(state, chosen, with_percepts=True)
            is_seen = self._single.value.is_seen[of_role] != 0
        return tuple(sorted((self.terms.percepts[i] for i in of_role[is_seen]), key=str))

    def successors(self, state: PackedState) -> Successors:
        """Every joint move of `state` with the state it leads to, evaluated. One pass of the circuit serves
        64*W joint moves. If a role has no legal move, there are none."""
        none = np.zeros((0, len(self.roles)), np.int32)
        parts = list(self.successor_passes(state)) or [self._successors(state, none)]
        joint_moves, states, is_terminal, goals, is_legal = zip(*parts, strict=True)
        return Successors(
            np.concatenate(joint_moves),
            tuple(itertools.chain(*states)),
            np.concatenate(is_terminal),
            np.concatenate(goals),
            np.concatenate(is_legal),
        )

    def successor_passes(self, state: PackedState) -> Iterator[Successors]:
        """`successors` in parts of at most 64*W joint moves, for states with many."""
        joint_moves = itertools.product(*self._evaluate(state).legal)
        while batch := list(itertools.islice(joint_moves, self._many.lane_count)):
            yield self._successors(state, np.array(batch, np.int32).reshape(len(batch), -1))

    def unpack(self, state: PackedState) -> BoolArray:
        """bool[F]: which fluents hold. Raises GameError for anything but a state of this game."""
        fluents = len(self.terms.fluents)
        return np.unpackbits(self._bytes_of(state), count=fluents, bitorder="little").astype(np.bool_)

    def pack(self, fluents: BoolArray) -> PackedState:
        """The state in which the fluents of bool[F] hold."""
        return np.packbits(fluents, bitorder="little").tobytes()

    def _successors(self, state: PackedState, joint_moves: NDArray[np.int32]) -> Successors:
        states = np.repeat(self.unpack(state)[None, :], len(joint_moves), axis=0)
        with self._lock:
            following, _ = self._many.following(states, joint_moves)
            found = self._many.settle(following)
        packed = tuple(row.tobytes() for row in np.packbits(following, axis=1, bitorder="little"))
        return Successors(joint_moves, packed, found.is_terminal, found.goals, found.legal)

    def goals_of(self, goal_holds: BoolArray) -> NDArray[np.int32]:
        """int32[N, R] from the goal literals bool[*, N]."""
        first = self.lane_tables.goal_first
        values = self.lane_tables.goal_value
        goals = np.full((goal_holds.shape[1], len(self.terms.roles)), NO_GOAL, np.int32)
        for r in range(len(self.terms.roles)):
            of_role = goal_holds[first[r] : first[r + 1]]
            is_single = of_role.sum(axis=0) == 1
            value = (of_role * values[first[r] : first[r + 1], None]).sum(axis=0)
            goals[is_single, r] = value[is_single]
        return goals

    def _chosen(self, state: PackedState, joint_move: JointMove) -> list[int]:
        """The moves of a legal joint move, numbered over all roles. Raises IllegalMoveError."""
        if len(joint_move) != len(self.terms.roles):
            raise IllegalMoveError(f"a joint move has {len(self.terms.roles)} moves, not {len(joint_move)}")
        legal = self._evaluate(state).legal
        chosen = []
        for r, move in enumerate(joint_move):
            index = self._move_index[r].get(move)
            if index is None or index not in legal[r]:
                raise illegal(move, self.terms.roles[r])
            chosen.append(self._first_move[r] + index)
        return chosen

    def _advance(self, state: PackedState, chosen: list[int], *, with_percepts: bool) -> None:
        """Make the moves `chosen` of `state` in `_single`, whose lock must be held."""
        if self._settled_state != state:
            self._settle_single(state)
        self._single.value.chosen[:] = chosen
        advance(self._single, with_percepts)

    def _settle_single(self, state: PackedState) -> list[int]:
        """Evaluate `state` in `_single`, whose lock must be held; return what `evaluate` found."""
        count = evaluate(self._single, self._bytes_of(state))
        self._settled_state = state
        found: list[int] = self._single.value.found[:count].tolist()
        return found

    def _bytes_of(self, state: PackedState) -> NDArray[np.uint8]:
        # kernels would read beyond the end of a state of another game
        if not isinstance(state, bytes) or len(state) != self._state_bytes:
            raise no_state(self)
        return np.frombuffer(state, np.uint8)

    def _evaluate(self, state: PackedState) -> _Evaluation:
        evaluation = self._evaluations.get(state)
        if evaluation is not None:
            return evaluation
        # announcing costs a thread, more than the evaluation itself, and kernels are compiled only once
        announcement = nullcontext() if self._evaluations else announced_compilation()
        with self._lock, announcement:
            found = self._settle_single(state)
        roles = len(self.terms.roles)
        ends = [1 + 2 * roles, *found[1 : 1 + 2 * roles]]
        values = self._goal_values
        parts = [tuple(found[a:b]) for a, b in itertools.pairwise(ends)]
        evaluation = _Evaluation(
            found[0] != 0,
            tuple(parts[:roles]),
            tuple([tuple([values[i] for i in goals]) for goals in parts[roles:]]),
        )
        with self._lock:
            while len(self._evaluations) >= REMEMBERED_STATES:
                del self._evaluations[next(iter(self._evaluations))]
            self._evaluations[state] = evaluation
        return evaluation


class Settled(NamedTuple):
    """What holds in N states; M moves of all roles, R roles.

    legal         bool[N, M]: role by role, as in `CompiledGame.moves`
    is_terminal   bool[N]
    goals         int32[N, R]; -1: none, or several
    """

    legal: BoolArray
    is_terminal: BoolArray
    goals: NDArray[np.int32]


class ManyStates:
    """Settles states bool[N, F] of one game, `lane_count` of them at a time: one alone costs nearly as much.

    >>> import ggp
    >>> game = ggp.load("tictactoe")
    >>> many = ManyStates(game)
    >>> states = game.unpack(game.initial_state())[None]
    >>> int(many.settle(states).legal.sum()), many.following(states, np.array([[8, 9]]))[0].shape
    (10, (1, 20))
    """

    def __init__(self, game: CompiledGame) -> None:
        self._game = game
        self._lanes = Lanes(game.lane_tables, words=game.words)
        self.lane_count = self._lanes.lane_count
        self._terminal = np.array([game.lane_tables.terminal], np.int32)

    def settle(self, states: BoolArray) -> Settled:
        """The legal moves, ends and goals of states."""
        game, lanes = self._game, self._lanes

        def read(part: slice) -> tuple[NDArray[Any], ...]:
            lanes.set_states(states[part].T)
            lanes.settle(Phase.LEGAL, Phase.GOAL)
            count = len(states[part])
            goals = game.goals_of(lanes.read(game.lane_tables.goal_literal, count))
            return lanes.read(game.legal_literals, count).T, lanes.read(self._terminal, count)[0], goals

        return Settled(*self._in_parts(len(states), read))

    def following(self, states: BoolArray, moves: NDArray[np.int32]) -> tuple[BoolArray, BoolArray]:
        """bool[N, F] and bool[N, S]: the states after legal joint moves int32[N, R], counted within the role,
        and what is perceived of these."""
        game, lanes, first = self._game, self._lanes, self._game.tables.first_move
        last = Phase.SEES if game.terms.percepts else Phase.NEXT

        def read(part: slice) -> tuple[NDArray[Any], ...]:
            made = moves[part]
            count = len(made)
            selected = np.zeros((int(first[-1]), count), np.bool_)
            for r in range(made.shape[1]):
                selected[first[r] + made[:, r], np.arange(count)] = True
            lanes.set_states(states[part].T)
            lanes.set_moves(selected)
            lanes.settle(Phase.LEGAL, last)
            tables = game.lane_tables
            return lanes.read(tables.next, count).T, lanes.read(tables.percept_literal, count).T

        following, seen = self._in_parts(len(states), read)
        return following, seen

    def _in_parts(self, count: int, read: Callable[[slice], tuple[Any, ...]]) -> list[Any]:
        starts = range(0, max(1, count), self.lane_count)
        parts = [read(slice(start, start + self.lane_count)) for start in starts]
        return [np.ascontiguousarray(np.concatenate(each)) for each in zip(*parts, strict=True)]


class QuickGame(CompiledGame):
    """A game on its circuit as built, while a thread makes the simplified one, which `finish` gives.

    Simplification takes most of the time from rule text to the first legal moves. States of the two circuits
    differ: facts that can never hold have left the simplified one. So a search runs on one of them from its
    beginning to its end, and its owner changes between moves.

    >>> import ggp
    >>> game = ggp.load("tictactoe", quick=True, use_cache=False)
    >>> state = game.initial_state()
    >>> finished = game.finish()
    >>> finished.facts(game.translate(state)) == game.facts(state)
    True
    """

    def __init__(
        self, program: Program, circuit: Circuit, name: str, simplify: Callable[[], Circuit]
    ) -> None:
        """Start `simplify`, which returns a circuit equivalent to `circuit`, in a thread."""
        super().__init__(program, tabulate(circuit), circuit.terms, name, exclusive=circuit.exclusive)
        self._finished: CompiledGame = self
        self._kept: list[int] = []
        self._finishing = threading.Thread(target=self._finish, args=(simplify,), daemon=True)
        self._finishing.start()

    def finish(self, seconds: float | None = None) -> CompiledGame | None:
        """The game on the simplified circuit; None if it takes more than `seconds` (wall time) from now. This
        game itself if simplification ran out of memory."""
        self._finishing.join(seconds)
        return None if self._finishing.is_alive() else self._finished

    def translate(self, state: PackedState) -> PackedState:
        """`state` as a state of the finished game, which must be there."""
        assert not self._finishing.is_alive(), "translate before finish"
        if self._finished is self:
            return state
        return self._finished.pack(self.unpack(state)[self._kept])

    def _finish(self, simplify: Callable[[], Circuit]) -> None:
        try:
            circuit = simplify()
            finished = CompiledGame(
                self.program,
                tabulate(circuit),
                circuit.terms,
                self.name,
                exclusive=circuit.exclusive,
                compile_limit=self.native.limit,
            )
        except (MemoryError, OSError) as error:
            reason = str(error) or "not enough memory"
            _logger.warning("%s: playing on the circuit as built: %s", self.name, reason)
            return
        number = {fluent: f for f, fluent in enumerate(self.terms.fluents)}
        self._kept = [number[fluent] for fluent in finished.terms.fluents]
        self._finished = finished


def once_per_game(make: Callable[[CompiledGame], _Made]) -> Callable[[CompiledGame], _Made]:
    """`make`, called once per game; threads that ask meanwhile wait.

    >>> import ggp
    >>> count = once_per_game(lambda game: print("counted") or len(game.terms.fluents))
    >>> game = ggp.load("tictactoe", engine="lanes")
    >>> count(game) == count(game)
    counted
    True
    """
    made: WeakKeyDictionary[CompiledGame, _Made] = WeakKeyDictionary()
    lock = threading.Lock()

    @wraps(make)
    def kept(game: CompiledGame) -> _Made:
        with lock:
            if game not in made:
                made[game] = make(game)
            return made[game]

    return kept


def interpreted(game: CompiledGame) -> CompiledGame:
    """A copy of `game` without machine code, since others may use `game`; a quick one itself."""
    twin = game if isinstance(game, QuickGame) else _twin(game)
    twin.native.limit.is_on = False
    return twin


@once_per_game
def _twin(game: CompiledGame) -> CompiledGame:
    return copy.copy(game)
