"""Batches of games as environments: numpy arrays in, numpy arrays out, one kernel call per step.

    env = ggp.env.make("connectfour", num_envs=4096)
    s = env.init()
    s = env.step(s, actions)

The shape is that of PGX (Koyama et al., "Pgx: Hardware-accelerated parallel game simulators for reinforcement
learning", NeurIPS 2023): states are values, actions of the agent to move, masks of its legal actions.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gdl.syntax.parser import parse_term
from ggp.engines.compiled import CompiledGame, PackedState
from ggp.env.actions import Actions, Turns
from ggp.env.circuit_parts import parts_of
from ggp.env.kernels.arrays import (
    HOLD,
    LIVE,
    NO_AGENT,
    RESTART,
    WORK,
    EnvTables,
    Scratch,
    Share,
    Step,
    StepRules,
)
from ggp.env.kernels.step import begin_blocks, step_blocks
from ggp.env.observations import Observed
from ggp.env.state import EnvState, Layout, blocks_for, new_state, words_for
from ggp.env.streams import streams_of
from ggp.game import RANDOM_ROLE, Move
from ggp.integers import check_integers, require_bool, to_integer
from ggp.jit.compiling import announced_compilation
from ggp.jit.entry_points import compiled_for
from ggp.jit.rows import make_rows, words_of
from ggp.jit.unboxed import Unboxed
from ggp.lanes.playout import make_arrays
from ggp.solver.saved_header import rules_digest

_INT32 = np.dtype(np.int32)
_ARRAY = np.ndarray
NO_LIMIT = 2**31 - 1
_INPUTS_PER_LANE = 15
"""Gate inputs of all lanes that take as long as the rest of the work does for one lane."""
_WORTH_A_THREAD = 135_000
"""Gate inputs, some 0.15 ms: halving steps of 0.15 ms costs time, halving those of 0.3 ms saves a tenth."""
_BUFFERS = 3
"""Sets of arrays that `step(copy=False)` writes into in turn."""


class ActionError(ValueError):
    """An action that is not legal, or actions of the wrong shape."""


@dataclass(frozen=True)
class Settings:
    """How environments behave.

    auto_reset    begin a new game in the step that ends one: rewards and `terminated` are of the old game,
                  everything else of the new one
    max_steps     truncate games after this many steps
    check         raise ActionError for illegal actions, instead of ending the game with -1 for the agent
    threads       split every batch among at most this many threads, if each has 0.15 ms to do
    seed          of every environment's chance, unless `init` is given one
    """

    auto_reset: bool = False
    max_steps: int | None = None
    check: bool = False
    threads: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        """Raises TypeError and ValueError."""
        check_integers(self, threads=1, max_steps=1, seed=None)
        for name in ("auto_reset", "check"):
            require_bool(getattr(self, name), name)


Shares = list[Unboxed[Share]]
"""The data of each thread's steps."""


class _BufferStep(NamedTuple):
    """A step from the buffer at `place` to the next one, ready to be called, for loops of steps."""

    place: int
    next_place: int
    following: EnvState
    size: int
    call: Callable[[NDArray[np.int32]], bool]


def _is_row(actions: ArrayLike, count: int) -> TypeGuard[NDArray[np.int32]]:
    """Whether actions are `count` numbers as kernels take them. A shape would take longer to compare."""
    return (
        type(actions) is _ARRAY
        and actions.dtype is _INT32
        and actions.ndim == 1
        and len(actions) == count
        and actions.flags.carray
    )


class Environment:
    """A game as a batch of environments; made by `ggp.env.make`. Safe to use from one thread at a time."""

    def __init__(
        self,
        game: CompiledGame,
        count: int,
        actions: Actions,
        turns: Turns,
        observed: Observed,
        reward_of: NDArray[np.float32],
        settings: Settings,
    ) -> None:
        """Raises TypeError and ValueError for a wrong number of environments."""
        self._made_of = game, count, actions, turns, observed, reward_of, settings
        self.game, self.num_envs, self.settings = game, to_integer(count, "num_envs", 1), settings
        self.actions, self.observed = actions, observed
        self.is_joint = turns.is_joint
        roles = list(game.roles)
        self._parts = parts_of(game)
        self._env = EnvTables(
            agent_role=np.array([roles.index(role) for role in actions.agents], np.int32),
            chance=roles.index(RANDOM_ROLE) if RANDOM_ROLE in roles else NO_AGENT,
            is_waiting=turns.is_waiting,
            action_count=actions.count,
            slot=actions.slot,
            observed=np.ascontiguousarray(observed.literal, np.int32),
            sensed=np.ascontiguousarray(observed.sensed, np.int32),
            initial=np.where(game.tables.initial, ~np.uint64(0), np.uint64(0)),
            reward_of=reward_of,
            is_joint=int(turns.is_joint),
            first_acts=np.zeros(len(actions.agents), np.uint64),
            first_legal=np.zeros((len(actions.agents), actions.count), np.uint64),
        )
        self.layout = self._find_layout()
        self._begins_alike = False
        self._called: set[tuple[Any, int]] = set()
        self._scratch: dict[int, list[Scratch]] = {}
        self._buffers: list[EnvState] = []
        self._latest = 0
        self._loop: dict[int, _BufferStep] = {}
        self._shares: dict[tuple[int, int, bool], Shares] = {}
        self._pool = ThreadPoolExecutor(settings.threads - 1) if settings.threads > 1 else None

    def __reduce__(self) -> tuple[Any, ...]:
        """Rebuild from the arguments: neither kernel memory nor threads can be copied."""
        return Environment, self._made_of

    def __deepcopy__(self, memo: object) -> Environment:
        return Environment(*self._made_of)

    def _find_layout(self) -> Layout:
        terms, seen = self.game.terms, self.observed
        meaning = hashlib.sha256(rules_digest(self.game.program).encode())
        for each in (terms.fluents, *self.actions.moves, self.observation_shape, [self.is_joint]):
            meaning.update(f"{len(each)} {' '.join(map(str, each))}".encode())
        for array in (seen.literal, seen.sensed):
            meaning.update(np.ascontiguousarray(array).tobytes())
        return Layout(
            self.game.name,
            meaning.hexdigest(),
            len(terms.fluents),
            self.num_players,
            self.num_actions,
            seen.sensed.size,
            self.observation_shape,
            self.is_joint,
            self._env.chance != NO_AGENT,
        )

    @property
    def num_actions(self) -> int:
        """M: actions are numbers below it."""
        return self.actions.count

    @property
    def num_players(self) -> int:
        """A: the number of agents, `random` not counted."""
        return len(self.actions.agents)

    @property
    def observation_shape(self) -> tuple[int, ...]:
        """Shape of the observation of one environment; with a first axis of agents if each has its own."""
        shape = self.observed.shape
        return (self.num_players, *shape) if self.sees_each else shape

    @property
    def sees_each(self) -> bool:
        """Whether the first axis of observations is that of agents."""
        return self.is_joint and len(self.observed.literal) > 1

    @property
    def waiting(self) -> NDArray[np.uint8]:
        """uint8[A, M]: 1 for actions such as `noop` that an agent takes while others act."""
        slot = self.actions.slot
        return np.where(slot >= 0, self._env.is_waiting[slot], np.uint8(1)).astype(np.uint8)

    def action_to_move(self, agent: int, action: int) -> Move:
        """The move behind an action. Raises ActionError, TypeError for what is not an integer."""
        agent, action = to_integer(agent, "agent", 0, self.num_players - 1), to_integer(action, "action")
        moves = self.actions.moves[agent]
        if not 0 <= action < len(moves):
            raise ActionError(f"{self.actions.agents[agent]} has actions 0 to {len(moves) - 1}, not {action}")
        return moves[action]

    def move_to_action(self, agent: int, move: Move | str) -> int:
        """The action of a move, a term or its text. Raises ActionError, GdlSyntaxError for other texts."""
        agent = to_integer(agent, "agent", 0, self.num_players - 1)
        try:
            return self.actions.number[agent][parse_term(move) if isinstance(move, str) else move]
        except KeyError:
            raise ActionError(f"{move} is not a move of {self.actions.agents[agent]}") from None

    def init(
        self, seed: int | Sequence[int] | NDArray[Any] | None = None, num_envs: int | None = None
    ) -> EnvState:
        """New games, each with its own stream of chance.

        seed   any integer, modulo 2**64, of all streams, or a list with one for each environment; None:
               that of the settings

        Raises TypeError and ValueError for other seeds, and for a wrong number of environments.
        """
        count = self.num_envs if num_envs is None else to_integer(num_envs, "num_envs", 1)
        state = new_state(self.layout, count)
        state.batch.seed[:] = streams_of(self.settings.seed if seed is None else seed, count)
        assert state.readings is not None
        batch = Unboxed(state.batch, kind=("batch", state.batch.fluents.dtype.itemsize))
        readings = Unboxed(state.readings, kind="readings")
        self._run(self._shares_of(count, begins_alike=False), count, begin_blocks, batch, readings)
        if not self._begins_alike and self._env.chance == NO_AGENT:
            self._note_first_choice(state)
        return state

    def _note_first_choice(self, state: EnvState) -> None:
        """Keep who acts in a new game and what is legal there, so that later ones need not be settled."""
        agents = self.num_players
        flags = words_of(state.batch.flags)[: 1 + agents, 0] & np.uint64(1)
        self._env.first_acts[:] = np.uint64(0) - flags[1:]
        legal = state.legal_action_mask[0].astype(np.uint64)
        # Where agents act in turn the mask is of the one who acts, and only its row is read.
        self._env.first_legal[:] = np.uint64(0) - legal
        self._begins_alike = bool(flags[LIVE])
        self._loop.clear()

    def step(
        self, state: EnvState, actions: ArrayLike, *, copy: bool = True, out: EnvState | None = None
    ) -> EnvState:
        """The state after `actions`. `state` stays unchanged.

        actions   int32[N]: of the agent to move; int32[N, A] if agents act at once, -1 without a choice.
                  HOLD leaves an environment as it is, RESTART begins a new game (in column 0 of [N, A])
        copy      False: the arrays of the result are used again by the third step after this one
        out       an earlier state of this environment that is no longer needed: its arrays are overwritten

        Games that are over stay as they are, with rewards of 0. Raises ActionError for actions of the wrong
        shape and, with `check=True`, for illegal ones; TypeError and ValueError for states that are not of
        this environment.
        """
        ready = None if copy or out is not None else self._loop.get(id(state))
        if ready is not None:
            place, next_place, following, size, call = ready  # quicker than by name: a small step takes 3 µs
            if place == self._latest and _is_row(actions, size):
                self._latest = next_place
                if call(actions):
                    raise self._conflict()
                return following
        self._require_own(state)
        given = self._checked(state, actions)
        count = len(state)
        place = self._latest
        if out is not None:
            following = self._checked_out(out, state)
        else:
            following = new_state(self.layout, count) if copy else self._next_buffer(count)
        assert following.readings is not None
        step = Unboxed(
            Step(state.batch, following.batch, following.readings),
            kind=("step", state.batch.fluents.dtype.itemsize),
        )
        shares = self._shares_of(count, self._begins_alike)
        self._run(shares, count, step_blocks, step, given)
        is_plain = len(shares) == 1 and not self.is_joint and not self.settings.check
        if not copy and out is None and state is self._buffers[place] and is_plain:
            call = partial(compiled_for(step_blocks, shares[0], step, given), shares[0], step)
            self._loop[id(state)] = _BufferStep(place, self._latest, following, count, call)
        return following

    def _require_own(self, state: EnvState) -> None:
        """Raise TypeError or ValueError unless `state` is one of this environment, or of one made alike."""
        if not isinstance(state, EnvState):
            raise TypeError(f"a state is an EnvState, made by init or step, not {type(state).__name__}")
        if state.layout is not self.layout and state.layout != self.layout:
            raise ValueError(
                f"a state of {state.layout.game} is not of this environment of {self.layout.game}: other "
                "rules, or another choice of observation, view or simultaneous"
            )

    def _checked_out(self, out: EnvState, state: EnvState) -> EnvState:
        """`out`, if its arrays can be those of the step after `state`. Raises TypeError or ValueError."""
        self._require_own(out)
        if out.readings is None or len(out) != len(state) or out.batch is state.batch:
            raise ValueError("out is another state of as many environments, made by init or step of this one")
        return out

    def state_of(self, state: EnvState, index: int) -> PackedState:
        """The state of one environment, as `CompiledGame` has it. Raises IndexError."""
        self._require_own(state)
        index = to_integer(index, "index")
        words = words_of(state.batch.fluents)
        fluents = len(self.game.terms.fluents)
        lanes = 64 * words.shape[1]
        block, lane = divmod(range(len(state))[index], lanes)
        of_block = words[block * fluents : (block + 1) * fluents, lane >> 6]
        return self.game.pack(((of_block >> np.uint64(lane & 63)) & np.uint64(1)).astype(np.bool_))

    def _checked(self, state: EnvState, actions: ArrayLike) -> NDArray[np.int32]:
        """The actions in a row, as int32. Raises ActionError."""
        if _is_row(actions, len(state)) and not self.is_joint and not self.settings.check:
            return actions  # without a copy: all that follows costs a third of a small step
        given = np.asarray(actions)
        shape = (len(state), self.num_players) if self.is_joint else (len(state),)
        if given.shape != shape or given.dtype.kind not in "iu":
            raise ActionError(
                f"actions are integers of shape {shape}, not {given.dtype} of shape {given.shape}"
            )
        if given.dtype != _INT32:  # numbers that do not fit are illegal: they must not become legal ones
            given = np.clip(given, -(2**31), 2**31 - 1).astype(np.int32)
        given = given.reshape(len(state), self.num_players if self.is_joint else 1)
        if self.settings.check:
            self._require_legal(state, given)
        # Arrays with gaps, and those that cannot be written to, are types of their own to the kernel.
        return np.require(given.reshape(-1), np.int32, ("C", "W"))

    def _require_legal(self, state: EnvState, given: NDArray[np.int32]) -> None:
        mask = state.legal_action_mask.reshape(len(state), given.shape[1], -1)
        inside = (given >= 0) & (given < mask.shape[2])
        places = np.where(inside, given, 0)[:, :, None].astype(np.int64)
        legal = np.take_along_axis(mask, places, axis=2)[:, :, 0]
        idle = (given == NO_AGENT) & (mask.sum(axis=2) <= 1) & self.is_joint
        over = (state.terminated | state.truncated)[:, None]
        special = np.isin(given[:, :1], (HOLD, RESTART))
        wrong = np.argwhere(~(inside & legal | idle | over | special))
        if len(wrong):
            n, agent = wrong[0].tolist()
            raise ActionError(f"environment {n}: action {given[n, agent]} is not legal")

    def _run(self, shares: Shares, count: int, kernel: Any, *arguments: Any) -> None:
        """Call a kernel on every block, split among the threads. Raises ActionError."""
        # only the first call, with rows of this width, can compile it
        is_called = (kernel, words_for(count)) in self._called
        with nullcontext() if is_called else announced_compilation():
            self._called.add((kernel, words_for(count)))
            self._call(shares, kernel, *arguments)

    def _call(self, shares: Shares, kernel: Any, *arguments: Any) -> None:
        """Raises ActionError if two agents had a choice where one may, in any share."""
        if len(shares) == 1 or self._pool is None:
            is_conflict = kernel(shares[0], *arguments)
        else:
            running = [self._pool.submit(kernel, share, *arguments) for share in shares[1:]]
            is_conflict = any([kernel(shares[0], *arguments), *(each.result() for each in running)])
        if is_conflict:
            raise self._conflict()

    def _conflict(self) -> ActionError:
        return ActionError(
            f"{self.game.name}: two agents choose at once; make the environment with simultaneous=True"
        )

    def _shares_of(self, count: int, begins_alike: bool) -> Shares:
        """The share of each thread; kept, since unboxing them takes milliseconds."""
        key = words_for(count), blocks_for(count), begins_alike
        if key not in self._shares:
            self._shares[key] = self._split(count, begins_alike)
        return self._shares[key]

    def _split(self, count: int, begins_alike: bool = False) -> Shares:
        words, blocks = words_for(count), blocks_for(count)
        of_state, of_step = (part.tables for part in self._parts)
        for part in self._parts:
            part.native.begin(words)
        inputs = len(of_state.schedule.source) + len(of_step.schedule.source)
        work = blocks * (inputs + _INPUTS_PER_LANE * 64 * words)
        threads = max(1, min(self.settings.threads, blocks, work // _WORTH_A_THREAD))
        limit = min(NO_LIMIT, self.settings.max_steps or NO_LIMIT)
        ends = [blocks * i // threads for i in range(threads + 1)]
        switches = int(self.settings.auto_reset), int(begins_alike)
        return [
            Unboxed(Share(of_state, of_step, self._env, scratch, StepRules(first, end, limit, *switches)))
            for scratch, (first, end) in zip(self._scratches(words, threads), pairwise(ends), strict=False)
        ]

    def _scratches(self, words: int, threads: int) -> list[Scratch]:
        known = self._scratch.setdefault(words, [])
        width = max(
            self.num_actions * (self.num_players if self.is_joint else 1), self.layout.observation_size
        )
        width = -(-width // 64) * 64
        while len(known) < threads:
            largest = max((part.tables for part in self._parts), key=lambda tables: tables.row_count)
            known.append(
                Scratch(
                    make_arrays(largest, words, 0).value,
                    make_rows(len(self._parts.of_step.tables.next_saved) + 1, words),
                    make_rows(WORK + 3 * self.num_players, words),
                    make_rows(width, words),
                    make_rows(width, words),
                    make_rows(max(1, 2 * self._env.sensed.size), words),
                    np.zeros(64, np.uint64),
                    np.zeros(64, np.uint8),
                )
            )
        return known

    def _next_buffer(self, count: int) -> EnvState:
        """A state whose arrays are not those of the last two, used in turn."""
        if not self._buffers or len(self._buffers[0]) != count:
            self._buffers = [new_state(self.layout, count) for _ in range(_BUFFERS)]
            self._loop.clear()
        self._latest = (self._latest + 1) % _BUFFERS
        return self._buffers[self._latest]
