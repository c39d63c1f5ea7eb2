"""Lanes: the engine that plays 64*W games of one circuit at once.

A `Lanes` object owns the row arrays of one circuit and calls the kernels on them. It belongs to one thread at
a time; several of them play in parallel, because kernels run without the GIL.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ggp.circuit.tables import CircuitTables, Phase
from ggp.jit.compiling import announced_compilation
from ggp.jit.rows import ALL_ONES, words_of
from ggp.lanes.choose import choice_planes
from ggp.lanes.layout import LaneTables, arrange
from ggp.lanes.playout import (
    CUT,
    ENDED,
    FINISHED,
    LONGEST,
    SHORTEST,
    STEPS,
    STUCK,
    PlayoutArrays,
    begin_playouts,
    make_arrays,
    play,
)
from ggp.lanes.step import settle_phases

BoolArray: TypeAlias = NDArray[np.bool_]

DEFAULT_WORDS = 8
"""One 512-bit register per row; never far from the best width of any game."""

_SMALL_CIRCUIT_ROWS = 8000
STEP_LIMIT = 10_000
ENDLESS = 2**60
_SLICE_SECONDS = 0.01


@dataclass(frozen=True)
class PlayoutStatistics:
    """Counts of random playouts by how they ended, with lengths and goals.

    playouts      all that ended: finished + stuck + cut
    finished      ended in a terminal state; goals, lengths and extremes are those of these playouts
    stuck         not terminal, but a role had no legal move; stuck_roles[r] by role (one playout may
                  count for several)
    cut           not over after `step_limit` joint moves
    steps         joint moves of finished playouts, and of those under way if a deadline ended the count
    shortest, longest    joint moves of the shortest and longest finished playout; 0 if none finished
    goal_counts   goal_counts[r][goal] = finished playouts in which role r had that goal
    without_goal, with_several_goals    by role: finished playouts with no goal value, or more than one

    >>> import ggp
    >>> found = ggp.playouts(ggp.load("tictactoe"), 1000)
    >>> found.playouts, found.stuck, found.cut, sum(found.goal_counts[0].values())
    (1000, 0, 0, 1000)
    """

    playouts: int
    finished: int
    stuck: int
    stuck_roles: tuple[int, ...]
    cut: int
    steps: int
    shortest: int
    longest: int
    goal_counts: tuple[dict[int, int], ...]
    without_goal: tuple[int, ...]
    with_several_goals: tuple[int, ...]

    @property
    def mean_length(self) -> float:
        """Joint moves per finished playout; 0 if none finished."""
        return self.steps / self.finished if self.finished else 0.0

    @cached_property
    def mean_goals(self) -> tuple[float, ...]:
        """Mean goal of each role over the finished playouts in which it had one; NaN if it never had."""
        return tuple(_mean(counts) for counts in self.goal_counts)

    def __add__(self, other: PlayoutStatistics) -> PlayoutStatistics:
        shortest = [s.shortest for s in (self, other) if s.finished]
        return PlayoutStatistics(
            playouts=self.playouts + other.playouts,
            finished=self.finished + other.finished,
            stuck=self.stuck + other.stuck,
            stuck_roles=_added(self.stuck_roles, other.stuck_roles),
            cut=self.cut + other.cut,
            steps=self.steps + other.steps,
            shortest=min(shortest, default=0),
            longest=max(self.longest, other.longest),
            goal_counts=tuple(
                {goal: a.get(goal, 0) + b.get(goal, 0) for goal in sorted(a.keys() | b.keys())}
                for a, b in zip(self.goal_counts, other.goal_counts, strict=True)
            ),
            without_goal=_added(self.without_goal, other.without_goal),
            with_several_goals=_added(self.with_several_goals, other.with_several_goals),
        )


def _added(left: Sequence[int], right: Sequence[int]) -> tuple[int, ...]:
    return tuple(a + b for a, b in zip(left, right, strict=True))


def _mean(counts: dict[int, int]) -> float:
    total = sum(counts.values())
    return sum(goal * count for goal, count in counts.items()) / total if total else float("nan")


class Lanes:
    """One circuit, 64*W games at once.

    words    W: 1, 2, 4, 8, 16 or 32 words per row
    seed, stream    of the random generators; playouts depend only on these, W and the root
    """

    def __init__(
        self,
        tables: CircuitTables | LaneTables,
        *,
        words: int = DEFAULT_WORDS,
        seed: int = 0,
        stream: int = 0,
    ) -> None:
        if words not in (1, 2, 4, 8, 16, 32):
            raise ValueError(f"words must be 1, 2, 4, 8, 16 or 32, not {words}")
        self.tables = tables if isinstance(tables, LaneTables) else arrange(tables)
        self.words = words
        self.arrays: PlayoutArrays = make_arrays(self.tables, words, seed, stream)
        self._planes = choice_planes(self.tables)

    @property
    def lane_count(self) -> int:
        """Games per row, 64*W."""
        return 64 * self.words

    def playouts(
        self, root: BoolArray, count: int, *, step_limit: int = STEP_LIMIT, deadline: float | None = None
    ) -> PlayoutStatistics:
        """Play `count` uniformly random playouts from a state.

        root       bool[F]
        deadline   time.monotonic() seconds at which play stops; only playouts that ended by then are
                   counted, which favors short ones
        """
        self.begin(root, count)
        with announced_compilation():
            is_done = self.play(1, step_limit)
        slice_ticks = 1
        while not is_done and (deadline is None or time.monotonic() < deadline):
            start = time.perf_counter()
            is_done = self.play(slice_ticks, step_limit)
            if time.perf_counter() - start < _SLICE_SECONDS / 2:
                slice_ticks *= 2
        return self.statistics()

    def begin(self, root: BoolArray, count: int = ENDLESS) -> None:
        """Start over with `count` playouts from `root`, bool[F]. Every lane is put at the root state, and
        statistics are cleared. Raises ValueError for another shape."""
        begin_playouts(self.arrays, _require(root, (self.tables.fluent_count,)), count)

    def play(self, ticks: int, step_limit: int = STEP_LIMIT) -> bool:
        """Play on for at most `ticks` joint moves per lane. Returns whether all playouts have ended."""
        return bool(play(self.tables, self.arrays, self._planes, max(1, step_limit), ticks))

    def statistics(self) -> PlayoutStatistics:
        """Statistics of the playouts since `begin`."""
        arrays, roles = self.arrays, self.tables.role_count
        counter = [int(c) for c in arrays.counter]
        goals = words_of(arrays.goal_count).sum(axis=1).astype(np.int64)
        counts: list[dict[int, int]] = [{} for _ in range(roles)]
        for role, (first, end) in enumerate(pairwise(self.tables.goal_first.tolist())):
            for q, value in enumerate(self.tables.goal_value[first:end].tolist(), first):
                counts[role][value] = counts[role].get(value, 0) + int(goals[2 * roles + q])
        return PlayoutStatistics(
            playouts=counter[ENDED],
            finished=counter[FINISHED],
            stuck=counter[STUCK],
            stuck_roles=tuple(int(c) for c in arrays.stuck_count),
            cut=counter[CUT],
            steps=counter[STEPS],
            shortest=counter[SHORTEST] if counter[FINISHED] else 0,
            longest=max(0, counter[LONGEST]),
            goal_counts=tuple(counts),
            without_goal=tuple(int(goals[2 * role]) for role in range(roles)),
            with_several_goals=tuple(int(goals[2 * role + 1]) for role in range(roles)),
        )

    def settle(self, first: Phase = Phase.LEGAL, last: Phase = Phase.SEES) -> None:
        """Recompute the gates of the phases first .. last in all lanes."""
        settle_phases(self.tables, self.arrays.value, int(first), int(last) + 1)

    def set_states(self, states: BoolArray) -> None:
        """Put states into the lanes.

        states   bool[F, N]; lane i gets state i, lanes from N on keep what they hold
        """
        self._put(1, self.tables.fluent_count, states)

    def set_moves(self, moves: BoolArray) -> None:
        """Select moves: bool[M, N], exactly one true per role and lane."""
        self._put(self.tables.move0, self.tables.move_count, moves)

    def words_at(self, literals: NDArray[np.integer], count: int | None = None) -> NDArray[np.uint64]:
        """The values of literals, a bit for each lane, in all words of a row or the first `count`."""
        words = words_of(self.arrays.value)[literals >> 1, :count]
        return words ^ np.where(literals & 1, ALL_ONES, np.uint64(0))[:, None]

    def read(self, literals: NDArray[np.int32], count: int) -> BoolArray:
        """The values of literals in the first `count` lanes: bool[len(literals), count]."""
        return unpacked(self.words_at(literals, (count + 63) // 64), count)

    def _put(self, first: int, count: int, bits: BoolArray) -> None:
        """Put bool[count, N] into the rows from `first` on."""
        given = _require(bits, (count, min(bits.shape[1], self.lane_count)))
        words = (given.shape[1] + 63) // 64
        padded = np.zeros((count, 64 * words), np.bool_)
        padded[:, : given.shape[1]] = given
        packed = np.packbits(padded, axis=1, bitorder="little")
        words_of(self.arrays.value)[first : first + count, :words] = packed.view(np.uint64)


def _require(bits: BoolArray, shape: tuple[int, ...]) -> BoolArray:
    given = np.asarray(bits, np.bool_)
    if given.shape != shape:
        raise ValueError(f"expected bool of shape {shape}, not {given.shape}")
    return given


def unpacked(words: NDArray[np.uint64], count: int | None = None) -> BoolArray:
    """The first `count` lanes of rows uint64[*, W], or all: bool[*, count]."""
    of_rows = np.ascontiguousarray(words).view(np.uint8)
    return np.unpackbits(of_rows, axis=1, count=count, bitorder="little").view(np.bool_)


def several_set(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """uint64[W]: the lanes that are set in two or more of the rows uint64[*, W]."""
    before = np.bitwise_or.accumulate(words, axis=0)
    several: NDArray[np.uint64] = np.bitwise_or.reduce(before[:-1] & words[1:], axis=0)
    return several


def candidate_words(layout: LaneTables) -> tuple[int, ...]:
    """Row widths worth a trial: 8, and 16 for small circuits (fewer gate visits per game) or 4 for large ones
    (which stay in the cache longer)."""
    return (8, 16) if layout.row_count <= _SMALL_CIRCUIT_ROWS else (8, 4)


def calibrate_words(
    tables: CircuitTables | LaneTables,
    root: BoolArray,
    candidates: Sequence[int] | None = None,
    *,
    seconds: float = 0.02,
) -> int:
    """The W among `candidates` with the most joint moves per CPU second, by a short trial of each.

    candidates   None: `candidate_words`; what there is machine code for is tried with it
    """
    layout = tables if isinstance(tables, LaneTables) else arrange(tables)
    candidates = candidate_words(layout) if candidates is None else candidates
    return max(candidates, key=lambda words: _moves_per_second(Lanes(layout, words=words), root, seconds))


def _moves_per_second(lanes: Lanes, root: BoolArray, seconds: float) -> float:
    lanes.begin(root)
    with announced_compilation():
        lanes.play(1)
    ticks, total = 1, 0
    start = time.thread_time()
    while (spent := time.thread_time() - start) < seconds:
        lanes.play(ticks)
        total += ticks
        ticks *= 2
    return total * lanes.lane_count / spent
