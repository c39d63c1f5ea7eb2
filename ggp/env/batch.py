"""Batches of games as environments: numpy arrays in, numpy arrays out, one kernel call per step.

    env = ggp.env.make("connectfour", num_envs=4096)
    s = env.init()
    s = env.step(s, actions)

The shape is that of PGX (Koyama et al., "Pgx: Hardware-accelerated parallel game simulators for reinforcement
learning", NeurIPS 2023): states are values, actions of the agent to move, masks of its legal actions.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields
from itertools import accumulate, pairwise
from typing import Any, NamedTuple, TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ggp.engines.compiled import CompiledGame, PackedState
from ggp.env.actions import Actions, Turns
from ggp.env.circuit_parts import parts_of
from ggp.env.kernels import (
    HOLD,
    LIVE,
    NOBODY,
    RESTART,
    WORK,
    Batch,
    EnvTables,
    Readings,
    Scratch,
    Share,
    Step,
    StepRules,
    begin_blocks,
    step_blocks,
)
from ggp.env.observations import Observed
from ggp.game import RANDOM_ROLE, Move
from ggp.jit.compiling import announced_compilation
from ggp.jit.rows import ALIGNMENT, make_rows, row_dtype, words_of
from ggp.jit.unboxed import Unboxed
from ggp.lanes.playout import make_arrays

_INT32 = np.dtype(np.int32)
_PADDING = 64
NO_LIMIT = 2**31 - 1
_INPUTS_PER_LANE = 15
"""Gate inputs of all lanes that take as long as the rest of the work does for one lane."""
_WORTH_A_THREAD = 135_000
"""Gate inputs, some 0.15 ms: halving steps of 0.15 ms costs time, halving those of 0.3 ms saves a tenth."""
_BUFFERS = 3
"""Sets of arrays that `step(copy=False)` writes into, one after the other."""


class ActionError(ValueError):
    """An action that is not legal, or actions of the wrong shape."""


@dataclass(frozen=True)
class Settings:
    """How environments behave.

    auto_reset    begin a new game in the step that ends one: rewards and `terminated` are of the old game,
                  everything else of the new one
    max_steps     truncate games after this many steps
    check         raise ActionError for illegal actions, instead of ending the game with -1 for the agent
    skip_forced   let agents act only if they have a choice
    threads       split every batch among at most this many threads, if each has 0.15 ms to do
    seed          of every environment's chance, unless `init` is given one
    """

    auto_reset: bool = False
    max_steps: int | None = None
    check: bool = False
    skip_forced: bool = False
    threads: int = 1
    seed: int = 0


class SettingsOptions(TypedDict, total=False):
    """The same as keywords of `ggp.env.make`."""

    auto_reset: bool
    max_steps: int | None
    check: bool
    skip_forced: bool
    threads: int
    seed: int


@dataclass(frozen=True)
class EnvState:
    """N environments at one moment: a value, which can be kept, stepped from again and split by `s[ids]`.

    current_player      int32[N]: index of the agent to move; -1 if several choose or the game is over
    observation         uint8[N, *shape]; uint8[N, A, *shape] if agents act at once and see different things
    legal_action_mask   bool[N, M], or bool[N, A, M] if agents act at once; all true when the game is over
    rewards             float32[N, A]: of the step that led here
    terminated          bool[N]: the game ended by its rules, or by an illegal action
    truncated           bool[N]: it was cut off
    goals               int32[N, A]: goals 0..100 of games that ended in this step, else -1
    step_count          int32[N]: steps of the current game
    """

    current_player: NDArray[np.int32]
    observation: NDArray[np.uint8]
    legal_action_mask: NDArray[np.bool_]
    rewards: NDArray[np.float32]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    goals: NDArray[np.int32]
    step_count: NDArray[np.int32]
    batch: Batch
    readings: Readings | None = None

    def __len__(self) -> int:
        return len(self.step_count)

    def __getitem__(self, ids: slice | Sequence[int] | NDArray[Any]) -> EnvState:
        """The environments `ids` (a slice, numbers or a mask), in that order."""
        chosen = np.arange(len(self))[ids]
        if chosen.ndim != 1:
            raise IndexError("environments are chosen by a slice, a list of numbers or a mask")
        parts = {
            field.name: getattr(self, field.name)[chosen]
            for field in fields(self)
            if field.name not in ("batch", "readings")
        }
        return EnvState(**parts, batch=_gather(self.batch, chosen, parts["step_count"]))

    def __repr__(self) -> str:
        over = int((self.terminated | self.truncated).sum())
        return f"EnvState({len(self)} environments, {over} over, observation {self.observation.shape[1:]})"


def _gather(batch: Batch, chosen: NDArray[np.int64], steps: NDArray[np.int32]) -> Batch:
    """The states of some environments as a batch of their own."""
    words = batch.fluents.dtype.itemsize // 8
    blocks = -(-len(batch.steps) // (64 * words))
    new_words = words_for(len(chosen))
    return Batch(
        _gather_rows(batch.fluents, blocks, chosen, new_words),
        _gather_rows(batch.flags, blocks, chosen, new_words),
        _gather_rows(batch.memory, blocks, chosen, new_words),
        batch.seed[chosen],
        steps.copy(),
    )


def _gather_rows(
    rows: NDArray[np.void], blocks: int, chosen: NDArray[np.int64], new_words: int
) -> NDArray[np.void]:
    each = len(rows) // max(1, blocks)
    words = words_of(rows).shape[1]
    if not each:
        return make_rows(0, new_words)
    bits = np.unpackbits(
        np.ascontiguousarray(words_of(rows)).view(np.uint8).reshape(blocks, each, 8 * words),
        axis=2,
        bitorder="little",
    )
    lanes = 64 * new_words
    new_blocks = max(1, -(-len(chosen) // lanes))
    padded = np.zeros((each, new_blocks * lanes), np.uint8)
    padded[:, : len(chosen)] = bits.transpose(1, 0, 2).reshape(each, -1)[:, chosen]
    packed = np.packbits(
        padded.reshape(each, new_blocks, lanes).transpose(1, 0, 2), axis=2, bitorder="little"
    )
    result = make_rows(new_blocks * each, new_words)
    words_of(result)[:] = np.ascontiguousarray(packed).view(np.uint64).reshape(-1, new_words)
    return result


class _BufferStep(NamedTuple):
    """A step from the buffer at `place` to the next one, ready to be called: what a loop of steps does."""

    place: int
    next_place: int
    following: EnvState
    step: Unboxed[Step]


def words_for(count: int) -> int:
    """W for a number of environments: 1 for up to 64, else 8."""
    return 1 if count <= 64 else 8


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
        self.game, self.num_envs, self.settings = game, count, settings
        self.actions, self.observed = actions, observed
        self.is_joint = turns.is_joint
        roles = list(game.roles)
        self._parts = parts_of(game)
        self._env = EnvTables(
            agent_role=np.array([roles.index(role) for role in actions.agents], np.int32),
            chance=roles.index(RANDOM_ROLE) if RANDOM_ROLE in roles else NOBODY,
            is_waiting=turns.is_waiting,
            action_count=actions.count,
            slot=actions.slot,
            observed=np.ascontiguousarray(observed.literal, np.int32),
            sensed=np.ascontiguousarray(observed.sensed, np.int32),
            end_phase=4 if observed.sensed.size else 3,
            initial=np.where(game.tables.initial, ~np.uint64(0), np.uint64(0)),
            reward_of=reward_of,
            is_joint=int(turns.is_joint),
            first_acts=np.zeros(len(actions.agents), np.uint64),
            first_legal=np.zeros((len(actions.agents), actions.count), np.uint64),
        )
        self._begins_alike = False
        self._called: set[tuple[Any, int]] = set()
        self._scratch: dict[int, list[Scratch]] = {}
        self._buffers: list[EnvState] = []
        self._latest = 0
        self._loop: dict[int, _BufferStep] = {}
        self._shares: tuple[tuple[int, bool] | None, list[Unboxed[Share]]] = (None, [])
        self._pool = ThreadPoolExecutor(settings.threads - 1) if settings.threads > 1 else None

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
        return (self.num_players, *shape) if self._sees_each else shape

    @property
    def _sees_each(self) -> bool:
        return self.is_joint and len(self.observed.literal) > 1

    @property
    def waiting(self) -> NDArray[np.uint8]:
        """uint8[A, M]: 1 for actions such as `noop` that an agent takes while others act."""
        slot = self.actions.slot
        return np.where(slot >= 0, self._env.is_waiting[slot], np.uint8(1)).astype(np.uint8)

    def action_to_move(self, agent: int, action: int) -> Move:
        """The move behind an action. Raises ActionError."""
        moves = self.actions.moves[agent]
        if not 0 <= action < len(moves):
            raise ActionError(f"{self.actions.agents[agent]} has actions 0 to {len(moves) - 1}, not {action}")
        return moves[action]

    def move_to_action(self, agent: int, move: Move) -> int:
        """The action of a move. Raises ActionError."""
        try:
            return self.actions.number[agent][move]
        except KeyError:
            raise ActionError(f"{move} is no move of {self.actions.agents[agent]}") from None

    def init(self, seed: int | None = None, num_envs: int | None = None) -> EnvState:
        """New games, each with its own stream of chance from `seed`."""
        count = self.num_envs if num_envs is None else num_envs
        if count < 1:
            raise ValueError(f"num_envs is at least 1, not {count}")
        sequence = np.random.SeedSequence((self.settings.seed if seed is None else seed) & (2**64 - 1))
        state = self._new_state(count)
        state.batch.seed[:] = sequence.generate_state(count, np.uint64)
        self._begins_alike = False
        assert state.readings is not None
        batch = Unboxed(state.batch, kind=("batch", state.batch.fluents.dtype.itemsize))
        self._run(count, begin_blocks, batch, Unboxed(state.readings, kind="readings"))
        if self._env.chance == NOBODY and not self.settings.skip_forced:
            self._note_first_choice(state)
        return state

    def _note_first_choice(self, state: EnvState) -> None:
        """Keep who acts in a new game and what is legal there, so that later ones need not be settled."""
        agents = self.num_players
        flags = words_of(state.batch.flags)[: 1 + agents, 0] & np.uint64(1)
        self._env.first_acts[:] = np.uint64(0) - flags[1:]
        legal = state.legal_action_mask[0].astype(np.uint64)
        # Where agents act in turn the mask is of the one who acts, and only its row is read.
        self._env.first_legal[:] = np.uint64(0) - legal.reshape(-1, self.num_actions)
        self._begins_alike = bool(flags[LIVE])

    def step(
        self, state: EnvState, actions: ArrayLike, *, copy: bool = True, out: EnvState | None = None
    ) -> EnvState:
        """What `actions` lead to. `state` stays as it is.

        actions   int32[N]: of the agent to move; int32[N, A] if agents act at once, -1 without a choice.
                  HOLD leaves an environment as it is, RESTART begins a new game (in column 0 of [N, A])
        copy      False: the arrays of the result are used again by the third step after this one
        out       an earlier state of this environment that is no longer needed: its arrays are overwritten

        Games that are over stay as they are, with rewards of 0. Raises ActionError for actions of the wrong
        shape and, with `check=True`, for illegal ones.
        """
        given = self._checked(state, actions)
        if not copy and out is None:
            ready = self._loop.get(id(state))
            if ready is not None and ready.place == self._latest:
                self._latest = ready.next_place
                if self._call(step_blocks, ready.step, given):
                    raise self._conflict()
                return ready.following
        count = len(state)
        place = self._latest
        if out is not None:
            following = _checked_out(out, state)
        else:
            following = self._new_state(count) if copy else self._next_buffer(count)
        assert following.readings is not None
        step = Unboxed(
            Step(state.batch, following.batch, following.readings),
            kind=("step", state.batch.fluents.dtype.itemsize),
        )
        self._run(count, step_blocks, step, given)
        if not copy and out is None and state is self._buffers[place]:
            self._loop[id(state)] = _BufferStep(place, self._latest, following, step)
        return following

    def state_of(self, state: EnvState, index: int) -> PackedState:
        """The state of one environment, as `CompiledGame` has it."""
        words = words_of(state.batch.fluents)
        fluents = len(self.game.terms.fluents)
        lanes = 64 * words.shape[1]
        block, lane = divmod(range(len(state))[index], lanes)
        of_block = words[block * fluents : (block + 1) * fluents, lane >> 6]
        return self.game.pack(((of_block >> np.uint64(lane & 63)) & np.uint64(1)).astype(np.bool_))

    def _checked(self, state: EnvState, actions: ArrayLike) -> NDArray[np.int32]:
        """The actions in a row, as int32. Raises ActionError."""
        if (
            type(actions) is np.ndarray
            and actions.dtype == _INT32
            and not self.is_joint
            and actions.shape == state.current_player.shape
            and not self.settings.check
            and actions.flags.carray
        ):
            return actions  # the usual case, without a copy: all that follows costs a third of a small step
        given = np.asarray(actions)
        shape = (len(state), self.num_players) if self.is_joint else (len(state),)
        if given.shape != shape or given.dtype.kind not in "iu":
            raise ActionError(
                f"actions are integers of shape {shape}, not {given.dtype} of shape {given.shape}"
            )
        given = given.reshape(len(state), -1).astype(np.int32, copy=False)
        if self.settings.check:
            self._require_legal(state, given)
        # Arrays with gaps, and those that cannot be written to, are types of their own to the kernel.
        return np.require(given.reshape(-1), np.int32, ("C", "W"))

    def _require_legal(self, state: EnvState, given: NDArray[np.int32]) -> None:
        mask = state.legal_action_mask.reshape(len(state), given.shape[1], -1)
        inside = (given >= 0) & (given < mask.shape[2])
        legal = np.take_along_axis(mask, np.where(inside, given, 0)[:, :, None].astype(np.int64), axis=2)[
            :, :, 0
        ]
        idle = (given == NOBODY) & (mask.sum(axis=2) <= 1) & self.is_joint
        over = (state.terminated | state.truncated)[:, None]
        special = np.isin(given[:, :1], (HOLD, RESTART))
        wrong = np.argwhere(~(inside & legal | idle | over | special))
        if len(wrong):
            n, agent = wrong[0].tolist()
            raise ActionError(f"environment {n}: action {given[n, agent]} is not legal")

    def _run(self, count: int, kernel: Any, *arguments: Any) -> None:
        """Call a kernel on every block, split among the threads. Raises ActionError."""
        if self._shares[0] != (count, self._begins_alike):
            self._loop.clear()
            self._shares = (count, self._begins_alike), self._split(count)
        if (kernel, count) in self._called:
            is_conflict = self._call(kernel, *arguments)
        else:  # only the first call, with rows of this width, can compile it
            with announced_compilation():
                is_conflict = self._call(kernel, *arguments)
            self._called.add((kernel, count))
        if is_conflict:
            raise self._conflict()

    def _conflict(self) -> ActionError:
        return ActionError(
            f"{self.game.name}: two agents choose at once; make the environment with simultaneous=True"
        )

    def _call(self, kernel: Any, *arguments: Any) -> bool:
        """Whether two agents had a choice where one may, in any share."""
        shares = self._shares[1]
        if len(shares) == 1 or self._pool is None:
            return kernel(shares[0], *arguments)  # type: ignore[no-any-return]
        running = [self._pool.submit(kernel, share, *arguments) for share in shares[1:]]
        return any([kernel(shares[0], *arguments), *(each.result() for each in running)])

    def _split(self, count: int) -> list[Unboxed[Share]]:
        """The share of each thread."""
        words = words_for(count)
        blocks = -(-count // (64 * words))
        inputs = sum(len(part.source) for part in self._parts)
        work = blocks * (inputs + _INPUTS_PER_LANE * 64 * words)
        threads = max(1, min(self.settings.threads, blocks, work // _WORTH_A_THREAD))
        limit = NO_LIMIT if self.settings.max_steps is None else self.settings.max_steps
        ends = [blocks * i // threads for i in range(threads + 1)]
        switches = int(self.settings.auto_reset), int(self.settings.skip_forced), int(self._begins_alike)
        return [
            Unboxed(Share(*self._parts, self._env, scratch, StepRules(first, end, limit, *switches)))
            for scratch, (first, end) in zip(self._scratches(words, threads), pairwise(ends), strict=False)
        ]

    def _scratches(self, words: int, threads: int) -> list[Scratch]:
        known = self._scratch.setdefault(words, [])
        width = self.num_actions * (self.num_players if self.is_joint else 1)
        while len(known) < threads:
            largest = max(self._parts, key=lambda part: part.row_count)
            known.append(
                Scratch(
                    make_arrays(largest, words, 0).value,
                    make_rows(len(self._parts.of_step.next_saved) + 1, words),
                    make_rows(WORK + 3 * self.num_players, words),
                    make_rows(-(-max(width, self._observation_size) // 64) * 64, words),
                    make_rows(max(1, 2 * self._env.sensed.size), words),
                    np.zeros(64, np.uint64),
                    np.zeros(64, np.uint8),
                )
            )
        return known

    @property
    def _observation_size(self) -> int:
        """Values of the observation of one environment."""
        return int(self._env.observed.shape[1]) * (self.num_players if self._sees_each else 1)

    def _new_arrays(self, count: int) -> tuple[Batch, Readings]:
        words = words_for(count)
        blocks = -(-count // (64 * words))
        agents = self.num_players
        width = self.num_actions * (agents if self.is_joint else 1)
        fluents, flags, memory = _rows_of(
            words,
            blocks * len(self.game.terms.fluents),
            blocks * (2 + agents),
            blocks * 2 * self._env.sensed.size,
        )
        batch = Batch(fluents, flags, memory, np.zeros(count, np.uint64), np.zeros(count, np.int32))
        readings = Readings(
            np.empty(count * self._observation_size + _PADDING, np.uint8),
            np.empty(count * width + _PADDING, np.uint8),
            np.empty(count, np.int32),
            np.empty(count * agents, np.float32),
            np.empty(count * agents, np.int32),
            np.empty(count + _PADDING, np.uint8),
            np.empty(count + _PADDING, np.uint8),
        )
        return batch, readings

    def _next_buffer(self, count: int) -> EnvState:
        """A state whose arrays are not those of the last two, used in turn."""
        if not self._buffers or len(self._buffers[0]) != count:
            self._buffers = [self._new_state(count) for _ in range(_BUFFERS)]
            self._loop.clear()
        self._latest = (self._latest + 1) % _BUFFERS
        return self._buffers[self._latest]

    def _new_state(self, count: int) -> EnvState:
        """A state of `count` environments, yet to be written."""
        batch, readings = self._new_arrays(count)
        agents = self.num_players
        mask_shape = (count, agents, self.num_actions) if self.is_joint else (count, self.num_actions)
        return EnvState(
            current_player=readings.current,
            observation=readings.observation[:-_PADDING].reshape(count, *self.observation_shape),
            legal_action_mask=readings.mask[:-_PADDING].view(np.bool_).reshape(mask_shape),
            rewards=readings.reward.reshape(count, agents),
            terminated=readings.terminated[:-_PADDING].view(np.bool_),
            truncated=readings.truncated[:-_PADDING].view(np.bool_),
            goals=readings.goal.reshape(count, agents),
            step_count=batch.steps,
            batch=batch,
            readings=readings,
        )


def _rows_of(words: int, *counts: int) -> list[NDArray[np.void]]:
    """Zeroed rows, an array for each of `counts`, all aligned and in one allocation, which is faster."""
    spacing = max(1, ALIGNMENT // (8 * words))
    firsts = [0, *accumulate(-(-count // spacing) * spacing for count in counts)]
    memory = make_rows(firsts[-1], words)
    return [memory[first : first + count] for first, count in zip(firsts, counts, strict=False)]


def _checked_out(out: EnvState, state: EnvState) -> EnvState:
    """`out`, if its arrays can be those of the step after `state`. Raises ValueError."""
    if out.readings is None or len(out) != len(state) or out.batch is state.batch:
        raise ValueError("out is another state of as many environments, made by init or step of this one")
    return out


__all__ = [
    "HOLD",
    "RESTART",
    "ActionError",
    "EnvState",
    "Environment",
    "Settings",
    "SettingsOptions",
    "row_dtype",
    "words_for",
]
