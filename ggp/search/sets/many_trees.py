"""Many-tree search over information sets: UCT by what each role has observed, from many possible states.

Every lane plays a match from a state that the searching role takes for possible. In it each role chooses by
the statistics of *its own information set*, so no role acts on what it cannot know: a move is worth what it
brings on average over all matches that look alike to who makes it, and information is worth what it changes.
Roles that move at once choose each for itself, as in the search of known states (decoupled UCT).

Sets are known by the key of the role's observations since the start of the match, so all that was found
serves for the rest of it. Their order does not count, which makes fewer sets of about the same worth.
`tests/oracles/naive_many_trees.py` is the plain-Python twin.

Source: Cowling, Powley and Whitehouse, Information Set Monte Carlo Tree Search (2012), section IV-C
(MO-ISMCTS); playouts under way count in the denominators, as in `ggp.search.tree`.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ggp.beliefs.observation_keys import UInt64Array, mixed, observation_numbers
from ggp.engines.compiled import CompiledGame
from ggp.game import RANDOM_ROLE, Move, Role
from ggp.jit.compiling import announced_compilation
from ggp.jit.rows import make_rows, words_of
from ggp.lanes.choose import choice_planes
from ggp.search.budget import Budget
from ggp.search.report import MoveReport, SearchReport
from ggp.search.sets.many_trees_kernel import (
    COUNTERS,
    EDGES,
    FINISHED,
    FREE_LANES,
    LANES_BUSY,
    LEFT,
    REFUSED,
    ROOT_VISITS,
    SETS,
    SetLanes,
    SetMemory,
    SetRules,
    SetTrees,
    search_sets,
)
from ggp.search.tree.kernels.allocation import make_search_arrays
from ggp.search.tree.kernels.arrays import BUSY, IN_TREE, Float64Array
from ggp.search.tree.options import WIDTHS, MctsOptions
from ggp.solver.slices import Slices

MAX_LANES = 512
SLICE_TICKS = 32
DRAWING_SLICES = 8
"""Slices between draws of new root states, of which there may be more than lanes."""
DEEPEST = 512
"""Maximum edges of a path; then the playout begins."""
FILL, FILL_AHEAD = 0.5, 0.4
"""Share of the memory from which trees are cleared before a search, and up to which they grow ahead of it."""
_SET_BYTES, _EDGE_BYTES = 24, 20
_EDGES_PER_SET = 4
_ENDLESS = 2**60

BoolArray = NDArray[np.bool_]


class SetEdge(NamedTuple):
    """One move in a set: its playouts and the sum of the role's goals in them."""

    visits: int
    total: float


class SetForest:
    """The trees of all roles, grown in the `lane_count` lanes of one thread.

    >>> import ggp, numpy as np
    >>> game = ggp.load("wire_cutting")
    >>> forest = SetForest(game, seed=1)
    >>> forest.put_roots(game.unpack(game.initial_state())[None], np.zeros((1, 2), np.uint64))
    >>> forest.grow(100)
    True
    >>> forest.simulation_count
    100
    """

    def __init__(
        self,
        game: CompiledGame,
        *,
        seed: int = 0,
        stream: int = 0,
        lanes: int = MAX_LANES,
        options: MctsOptions | None = None,
        mebibytes: float = 64,
    ) -> None:
        """Set up the lanes.

        lanes      how many playouts are in flight at most, up to `MAX_LANES`
        options    those of UCT count, and the step limit
        mebibytes  for the trees and what each lane keeps; half of it at least is for the trees
        """
        options = options or MctsOptions()
        self.game = game
        self._tables = tables = game.lane_tables
        self.lane_count = lanes
        words = next(each for each in WIDTHS if 64 * each >= lanes)
        game.native.begin(words)
        goals = tables.goal_value
        worth = np.where((goals >= 0) & (goals <= 100), goals, 0).astype(np.float64)
        first_move = game.tables.first_move
        arrays = make_search_arrays(
            tables, worth, first_move, words, seed=seed, stream=stream, has_states=False
        )
        paths = _make_lanes(tables.role_count, tables.fluent_count, words)
        of_lanes = sum(np.asarray(each).nbytes for each in paths) / 2**20
        room = max(mebibytes - of_lanes, mebibytes / 2)
        self._slices = Slices()
        self._memory = SetMemory(
            tables=tables,
            arrays=arrays,
            trees=_make_trees(room, len(tables.slot_literal)),
            lanes=paths,
            rules=SetRules(
                exploration=float(options.exploration),
                step_limit=options.step_limit,
                chance=game.roles.index(RANDOM_ROLE) if RANDOM_ROLE in game.roles else -1,
                choice_planes=choice_planes(tables),
                numbers=observation_numbers(game),
            ),
            counter=np.zeros(COUNTERS, np.int64),
        )
        self.clear()

    @property
    def simulation_count(self) -> int:
        """Playouts that ended, of all searches."""
        return int(self._memory.counter[FINISHED])

    @property
    def set_count(self) -> int:
        return int(self._memory.counter[SETS])

    @property
    def is_full(self) -> bool:
        """Whether a set found no room."""
        return bool(self._memory.counter[REFUSED] > 0)

    @property
    def fill(self) -> float:
        """Used share of the memory for sets or for edges, whichever is larger."""
        trees, counter = self._memory.trees, self._memory.counter
        return max(float(counter[SETS]) / len(trees.key), float(counter[EDGES]) / len(trees.slot))

    def clear(self) -> None:
        """Forget everything; nothing is in flight then."""
        trees, counter = self._memory.trees, self._memory.counter
        if counter[SETS] > 0:  # else it is as it was made: writing all of it would take up to half a second
            trees.bucket[:] = 0
        counter[[SETS, EDGES, REFUSED]] = 0
        self.abandon()

    def abandon(self) -> None:
        """Drop the playouts in flight."""
        memory = self._memory
        used = slice(memory.counter[EDGES])
        memory.trees.started[used] = memory.trees.visits[used]
        words_of(memory.arrays.mask)[[BUSY, IN_TREE]] = 0
        memory.lanes.free[:] = self.lane_count - 1 - np.arange(len(memory.lanes.free))
        memory.counter[[LANES_BUSY, LEFT, ROOT_VISITS]] = 0
        memory.counter[FREE_LANES] = self.lane_count

    def put_roots(self, states: BoolArray, keys: UInt64Array) -> None:
        """Start playouts from these states, in turn over the lanes.

        states   bool[N, F], N at most the number of lanes
        keys     uint64[N, R]
        """
        lanes = self._memory.lanes
        place = np.arange(len(lanes.start)) % len(states)
        packed = np.packbits(states[place].T, axis=1, bitorder="little")
        rows = np.ascontiguousarray(packed).view(np.uint64)
        words_of(lanes.root)[:] = rows
        lanes.root_key[:] = keys[place].T

    def grow(
        self,
        simulations: int,
        is_stopped: Callable[[], bool] | None = None,
        draw_roots: Callable[[], None] | None = None,
    ) -> bool:
        """Run playouts until `is_stopped()`, polled every few milliseconds; return whether all were run.

        draw_roots   called before the first playout and now and then; calls `put_roots`
        """
        self._memory.counter[LEFT] = simulations
        self._memory.counter[ROOT_VISITS] = 0
        if draw_roots is not None:
            draw_roots()
        with announced_compilation():
            search_sets(self._memory, 0)
        slices = 0
        while True:
            for first, end in self._slices.cut(0, SLICE_TICKS):
                if search_sets(self._memory, end - first):
                    return True
                if is_stopped is not None and is_stopped():
                    self.abandon()
                    return False
            slices += 1
            if draw_roots is not None and slices % DRAWING_SLICES == 0:
                draw_roots()

    def moves(self, role: int, key: int) -> dict[Move, SetEdge]:
        """The moves of a role's set; none if it has not been seen."""
        trees = self._memory.trees
        with np.errstate(over="ignore"):
            wanted = mixed(np.array([key], np.uint64) + np.uint64(role))[0]
        found = np.flatnonzero(trees.key[: self.set_count] == wanted)
        if not len(found):
            return {}
        first = int(trees.first_edge[found[0]])
        edges = slice(first, first + int(trees.edge_count[found[0]]))
        number = (
            self._tables.slot_node[trees.slot[edges]] - self._tables.move0 - self.game.tables.first_move[role]
        )
        counts = zip(trees.visits[edges].tolist(), trees.total[edges].tolist(), strict=True)
        return {self.game.moves[role][m]: SetEdge(*each) for m, each in zip(number, counts, strict=True)}


def _make_trees(mebibytes: float, slots: int) -> SetTrees:
    per_set = _SET_BYTES + _EDGE_BYTES * min(slots, _EDGES_PER_SET)
    sets = max(16, int(mebibytes * 2**20 / per_set))
    edges = max(slots, min(slots, _EDGES_PER_SET) * sets)
    return SetTrees(
        bucket=np.zeros(1 << (2 * sets - 1).bit_length(), np.int32),
        key=np.zeros(sets, np.uint64),
        first_edge=np.zeros(sets, np.int32),
        edge_count=np.zeros(sets, np.int32),
        slot=np.zeros(edges, np.int32),
        visits=np.zeros(edges, np.int32),
        started=np.zeros(edges, np.int32),
        total=np.zeros(edges, np.float64),
    )


def _make_lanes(roles: int, fluents: int, words: int) -> SetLanes:
    lanes = 64 * words
    return SetLanes(
        key=np.zeros((roles, lanes), np.uint64),
        root_key=np.zeros((roles, lanes), np.uint64),
        root=make_rows(fluents, words),
        start=np.zeros(lanes, np.int64),
        depth=np.zeros(lanes, np.int32),
        path_edge=np.zeros((lanes, DEEPEST), np.int32),
        path_role=np.zeros((lanes, DEEPEST), np.int32),
        at=np.zeros((roles, lanes), np.int32),
        made=np.zeros((roles, lanes), np.int32),
        observed=np.zeros(lanes, np.uint64),
        free=np.zeros(lanes, np.int32),
    )


class ManyTreeSearch:
    """The search of one role in one match; keeps its trees from move to move.

    >>> import ggp, numpy as np
    >>> game = ggp.load("wire_cutting")
    >>> search = ManyTreeSearch(game, game.roles[0], seed=1)
    >>> start, wires = game.initial_state(), game.legal_moves(game.initial_state(), game.roles[1])
    >>> noop, = game.legal_moves(start, game.roles[0])
    >>> states = [game.next_state(start, (noop, wire)) for wire in wires]
    >>> search.look_at(dict.fromkeys(states, 1 / 3), np.zeros((3, 2), np.uint64))
    >>> search.run(Budget(simulations=3000))
    3000
    >>> report = search.report()
    >>> report.playouts, str(report.best_move)                    # who asks knows what to cut
    (3000, 'ask')
    """

    def __init__(
        self, game: CompiledGame, role: Role, *, seed: int = 0, options: MctsOptions | None = None
    ) -> None:
        """Set up the lanes. options: those of UCT count, and threads and memory."""
        options = options or MctsOptions()
        self._game = game
        self._role = game.roles.index(role)
        self._rng = np.random.default_rng(seed & (2**64 - 1))
        self._forests = [
            SetForest(
                game,
                seed=seed,
                stream=stream,
                options=options,
                mebibytes=max(1, options.memory_mebibytes / options.threads),
            )
            for stream in range(options.threads)
        ]
        self._probabilities: Mapping[Hashable, float] = {}
        self._root_keys: UInt64Array = np.zeros((0, len(game.roles)), np.uint64)
        self._own_key = 0
        self._seconds = 0.0
        self._playouts = 0

    @property
    def simulation_count(self) -> int:
        """Playouts of all searches so far."""
        return sum(forest.simulation_count for forest in self._forests)

    def look_at(self, probabilities: Mapping[Hashable, float], keys: UInt64Array) -> None:
        """Begin in these states.

        probabilities   of N states that are not terminal, from which playouts begin
        keys            uint64[N, R]: what the roles have observed in them, the searching one the same in all,
                        unless it searches ahead
        """
        self._probabilities, self._root_keys = probabilities, keys

    def run(self, budget: Budget) -> int:
        """Search within the budget; return the number of playouts."""
        return self._grow(budget.simulations, budget.is_over)

    def run_ahead(self, budget: Budget) -> int:
        """Search ahead for later moves while memory allows; return the number of playouts."""

        def has_ended() -> bool:
            return budget.is_over() or max(forest.fill for forest in self._forests) > FILL_AHEAD

        return 0 if has_ended() else self._grow(None, has_ended)

    def _grow(self, simulations: int | None, is_over: Callable[[], bool]) -> int:
        begun, before = time.monotonic(), self.simulation_count
        probabilities, keys = self._probabilities, self._root_keys
        self._own_key = int(keys[0, self._role])
        joined = b"".join(cast("bytes", state) for state in probabilities)
        packed = np.frombuffer(joined, np.uint8).reshape(len(keys), -1)
        weights = np.fromiter(probabilities.values(), np.float64, len(keys))
        total = _ENDLESS if simulations is None else simulations
        counts = even_shares(total, len(self._forests))
        generators = self._rng.spawn(len(self._forests))

        def grow(forest: SetForest, count: int, rng: np.random.Generator) -> None:
            if forest.fill > FILL:
                forest.clear()
            forest.grow(count, is_over, partial(self._draw_roots, forest, packed, keys, weights, rng))

        with ThreadPoolExecutor(len(self._forests)) as pool:
            list(pool.map(grow, self._forests, counts.tolist(), generators))
        self._seconds = time.monotonic() - begun
        self._playouts = self.simulation_count - before
        return self._playouts

    def prepare(self, state: Hashable) -> None:
        """Compile the kernels, or load them from the cache, by a playout from `state`."""
        self.look_at({state: 1.0}, np.zeros((1, len(self._game.roles)), np.uint64))
        self.run(Budget(simulations=1))

    def best_move(self) -> Move | None:
        """The most visited move of the current set; None before any playout."""
        return self.report().best_move

    def _draw_roots(
        self,
        forest: SetForest,
        packed: NDArray[np.uint8],
        keys: UInt64Array,
        weights: Float64Array,
        rng: np.random.Generator,
    ) -> None:
        """Give each lane a state to begin in, by systematic sampling, in random order."""
        drawn = rng.permutation(draw_by_weight(weights, forest.lane_count, rng.random()))
        fluents = len(self._game.terms.fluents)
        states = np.unpackbits(packed[drawn], axis=1, count=fluents, bitorder="little").astype(np.bool_)
        forest.put_roots(states, keys[drawn])

    def report(self) -> SearchReport:
        """Statistics of the current set; the moves by their visits."""
        visits: Counter[Move] = Counter()
        total: dict[Move, float] = defaultdict(float)
        for forest in self._forests:
            for move, edge in forest.moves(self._role, self._own_key).items():
                visits[move] += edge.visits
                total[move] += edge.total
        order = sorted(visits, key=lambda move: (-visits[move], -total[move], str(move)))
        return SearchReport(
            seconds=self._seconds,
            playouts=self._playouts,
            descents=self._playouts,
            nodes=sum(forest.set_count for forest in self._forests),
            is_full=any(forest.is_full for forest in self._forests),
            moves=tuple(
                MoveReport(move, visits[move], total[move] / max(1, visits[move]), None) for move in order
            ),
            mode="trees",
        )


def draw_by_weight(weights: ArrayLike, count: int, offset: float) -> NDArray[np.int64]:
    """int64[count] places of `weights` drawn by systematic sampling, so that few are drawn twice.

    offset   from 0 to 1, drawn at random

    >>> draw_by_weight([1.0, 3.0], 4, 0.5).tolist()
    [0, 1, 1, 1]
    """
    bounds = np.cumsum(np.asarray(weights, np.float64))
    points = (np.arange(count) + offset) * bounds[-1] / count
    drawn: NDArray[np.int64] = np.minimum(np.searchsorted(bounds, points, side="right"), len(bounds) - 1)
    return drawn


def even_shares(total: int, trees: int) -> NDArray[np.int64]:
    """`total` in int64[trees] shares that differ by one at most."""
    shares = np.full(trees, total // trees, np.int64)
    shares[: total % trees] += 1
    return shares
