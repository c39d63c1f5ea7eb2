"""TreeEngine: one tree, its lanes, and the calls of the kernels that grow it."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggp.engines.compiled import CompiledGame
from ggp.game import RANDOM_ROLE
from ggp.jit.rows import ALL_ONES, in_words, words_of
from ggp.jit.unboxed import Unboxed
from ggp.lanes.choose import choice_planes
from ggp.lanes.keys.state_code import StateCode
from ggp.search.tree.kernels import counters as c
from ggp.search.tree.kernels.allocation import (
    make_contexts,
    make_search_arrays,
    make_statistics,
    make_tree,
    make_walkers,
)
from ggp.search.tree.kernels.arrays import (
    MISSING,
    NO_PARTS,
    SAME_AS,
    SEVERAL,
    UNPROVEN,
    Parts,
    SearchMemory,
    Settings,
    StatePlanes,
)
from ggp.search.tree.kernels.compaction import abandon, clear_tree, move_root
from ggp.search.tree.kernels.search import search_tree
from ggp.search.tree.kernels.tree import BEST_GOAL
from ggp.search.tree.options import MctsOptions
from ggp.search.tree.policies.fast_kernels import FeatureCases
from ggp.search.tree.policies.parts import link_parts

ENDLESS = 2**60
"""More playouts than any search makes."""


class _LinkedMemory(NamedTuple):
    """The memory of a search as `search_tree` takes it, and as its parts do."""

    search: Unboxed[SearchMemory]
    memory: Unboxed[SearchMemory]
    parts: Parts


class EdgeStatistics(NamedTuple):
    """Statistics of the moves of a role at a node, by move.

    moves    counted within the role
    totals   sums of the role's goals over `visits` playouts
    goals    proven goals of the role, or UNPROVEN
    """

    moves: NDArray[np.int64]
    visits: NDArray[np.int64]
    totals: NDArray[np.float64]
    goals: NDArray[np.int64]

    @property
    def means(self) -> NDArray[np.float64]:
        """Mean goals of the role; 0 before any playout."""
        means: NDArray[np.float64] = self.totals / np.maximum(self.visits, 1)
        return means


class TreeEngine:
    """One tree of a `LanesSearch`. Belongs to one thread at a time.

    game            as it is searched: perhaps with decisive moves
    seed, stream    with the options, all that the result of a counted search depends on
    code            for a graph
    steady          lock held while another thread reads the tree, or while it is compacted
    is_loose        whether the tree may hold nodes that are not below the root
    """

    def __init__(
        self,
        game: CompiledGame,
        options: MctsOptions,
        *,
        seed: int,
        stream: int = 0,
        code: StateCode | None = None,
    ) -> None:
        policy = options.parsed_policy
        lane_tables, roles = game.lane_tables, game.terms.roles
        game.native.begin(options.words)
        if not policy.has_statistics:
            game.native_playouts.begin(options.words)
        self.tables = lane_tables
        self.options = options
        self._first_move = game.tables.first_move
        self._players = sum(role != RANDOM_ROLE for role in roles)
        self._chance = roles.index(RANDOM_ROLE) if RANDOM_ROLE in roles else -1
        lanes = 64 * options.words
        self.usable_lanes = min(lanes, options.lanes or lanes)
        state_words = code.word_count if code is not None and options.is_graph else 0
        self.memory = SearchMemory(
            tables=lane_tables,
            arrays=make_search_arrays(
                lane_tables,
                lane_tables.goal_value.astype(np.float64),
                self._first_move,
                options.words,
                seed=seed,
                stream=stream,
                has_states=policy.has_states,
            ),
            tree=make_tree(lane_tables, options, state_words),
            walkers=make_walkers(
                lane_tables.role_count, options.words, options.lanes_per_leaf, options.depth_limit
            ),
            statistics=make_statistics(lane_tables, policy),
            contexts=make_contexts(lane_tables, policy, options.words),
            planes=_planes_of(code),
            settings=self._make_settings(),
        )
        self.arrays, self.tree = self.memory.arrays, self.memory.tree
        self._linked: _LinkedMemory | None = None
        self.is_loose = False
        self.steady = threading.Lock()
        self.arrays.counter[c.REFRESH_IN] = self.memory.settings.refresh
        self.arrays.counter[c.IS_CONSTANT_SUM] = 1

    def _make_settings(self) -> Settings:
        options = self.options
        policy = options.parsed_policy
        return Settings(
            exploration=float(options.exploration),
            # A descent waits until this many lanes are free.
            lanes_per_leaf=min(options.lanes_per_leaf, self.usable_lanes),
            leaf_growth=options.leaf_growth,
            ramp=options.ramp,
            step_limit=options.step_limit,
            rave_k=float(options.rave_k) if policy.mixes_in else 0.0,
            playout=policy.playouts.draws,
            learning=policy.playouts.learns,
            temperature=float(options.gibbs_temperature),
            refresh=options.refresh or max(1, self.tables.move_count // 4),
            chance=self._chance,
            is_solving=int(options.is_solving and self._players <= 2 and self._chance < 0),
            choice_planes=choice_planes(self.tables),
        )

    def use_policy(self, options: MctsOptions, cases: FeatureCases | None) -> None:
        """Continue with the policy of `options`; `cases` are those of FAST. Before the first playout."""
        self.options = options
        contexts = self.memory.contexts
        if cases is not None:
            contexts = contexts._replace(cases=cases)
        self.memory = self.memory._replace(settings=self._make_settings(), contexts=contexts)
        self._linked = None

    @property
    def simulation_count(self) -> int:
        """Playouts that entered the statistics so far."""
        return int(self.arrays.counter[c.FINISHED])

    @property
    def node_count(self) -> int:
        return int(self.arrays.counter[c.NODES])

    @property
    def edge_count(self) -> int:
        return int(self.arrays.counter[c.EDGES])

    @property
    def is_full(self) -> bool:
        """Whether a node or its edges found no room since the root was set."""
        return bool(self.arrays.counter[c.REFUSED] > 0)

    @property
    def root(self) -> int:
        """The node of the root state."""
        return int(self.arrays.counter[c.ROOT_NODE])

    @property
    def root_goal(self) -> int | None:
        """The proven goal of role 0 in the root state, or None."""
        proof = int(self.tree.proof[self.root])
        return None if proof == UNPROVEN else proof

    @property
    def is_constant_sum(self) -> bool:
        """Whether the goals of two roles have summed up to 100 at every end so far."""
        return bool(self.arrays.counter[c.IS_CONSTANT_SUM])

    def stop_proving(self) -> None:
        """Forget all proofs for good: another tree of the search has seen such an end."""
        self.arrays.counter[c.IS_CONSTANT_SUM] = 0
        self.tree.proof[: self.node_count] = UNPROVEN
        self.tree.goal[: self.edge_count] = UNPROVEN

    def note_proofs(self, role: int, goals: Mapping[int, int]) -> bool:
        """Take over goals of `role` that are proven behind its root moves (counted within the role).

        Returns whether the tree takes them: not before its root is expanded, nor if nothing would be left to
        choose from.
        """
        edges = self.edges_of(self.root, role)
        if not self.is_constant_sum or len(edges) <= len(goals):
            return False
        for edge in edges:
            self.tree.goal[edge] = goals.get(self._move_of(edge, role), self.tree.goal[edge])
        return True

    def set_root(self, fluents: NDArray[np.bool_]) -> None:
        """Begin an empty tree at a state (bool[F])."""
        self._put_root(fluents)
        clear_tree(self.arrays, self.tree)
        self.is_loose = False

    def move_root(self, node: int, fluents: NDArray[np.bool_], *, is_late: bool = False) -> None:
        """Keep the subtree of `node`, whose state is given; `is_late`: the rest is dropped by `compact`."""
        self._put_root(fluents)
        move_root(self.arrays, self.tree, node, is_late=is_late)
        self.is_loose = is_late

    def _put_root(self, fluents: NDArray[np.bool_]) -> None:
        self.arrays.root[:] = np.where(fluents, ALL_ONES, np.uint64(0))
        self._free_lanes()
        self.arrays.counter[c.DEEPEST] = 0

    def _free_lanes(self) -> None:
        """Drop playouts in flight; all lanes are in the root state."""
        arrays = self.arrays
        abandon(arrays, self.tree, self.memory.walkers, self.usable_lanes)
        words_of(arrays.value)[1 : 1 + len(arrays.root)] = arrays.root[:, None]
        words_of(arrays.scratch)[len(arrays.scratch) - len(arrays.root) :] = arrays.root[:, None]
        arrays.counter[c.REFUSED] = 0

    def compact(self) -> None:
        """Drop playouts in flight and all that is not below the root; the search may resume."""
        launches = self.arrays.counter[c.LAUNCHES_LEFT]
        self._free_lanes()
        move_root(self.arrays, self.tree, self.root)
        self.begin(launches)
        self.is_loose = False

    def __getstate__(self) -> dict[str, Any]:
        """All but the lock and the links, which hold addresses of this memory: a copy makes its own."""
        return {name: value for name, value in self.__dict__.items() if name not in ("_linked", "steady")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _linked=None, steady=threading.Lock())

    def begin(self, simulations: int) -> None:
        """Set how many playouts to start, besides those in flight."""
        self.arrays.counter[c.LAUNCHES_LEFT] = simulations

    def allow_in_flight(self, share: float) -> None:
        """Allow this share of the lanes (0..1) in flight, however few visits the root has."""
        self.arrays.counter[c.MIN_IN_FLIGHT] = int(share * self.usable_lanes)

    def run(self, ticks: int) -> bool:
        """Search for at most `ticks` ticks; return whether all playouts have ended."""
        if self._linked is None:
            search, memory = Unboxed.made_once(in_words(self.memory)), Unboxed.made_once(self.memory)
            search_tree(search, NO_PARTS, memory.address, 0)  # compiled or loaded before the parts
            self._linked = _LinkedMemory(search, memory, link_parts(memory))
        search, memory, parts = self._linked
        return bool(search_tree(search, parts, memory.address, ticks))

    @property
    def is_linked(self) -> bool:
        """Whether the kernels of this search are loaded."""
        return self._linked is not None

    def compile_parts(self) -> None:
        """Compile the parts of `search_tree` that this search needs, or load them from the cache."""
        link_parts(Unboxed.made_once(self.memory))

    def edges_of(self, node: int, role: int) -> range:
        """The edges of a role at a node; empty where it is not expanded."""
        # A copy, and checked: the kernel may be expanding the node in another thread.
        first = self.tree.first_edge[node].tolist()
        most = self._first_move[role + 1] - self._first_move[role]
        if first[0] < 0 or not 0 <= first[role] <= first[role + 1] <= first[role] + most:
            return range(0)
        return range(first[role], first[role + 1])

    def root_edges(self, role: int, node: int | None = None) -> EdgeStatistics:
        """Statistics of the moves of `role` in the root state (or another node), by move."""
        tree, at = self.tree, self.root if node is None else node
        edges = self.edges_of(at, role)
        edge = slice(edges.start, edges.stop)
        return EdgeStatistics(
            moves=tree.move[edge].astype(np.int64) - self._first_move[role],
            visits=tree.visits[edge].astype(np.int64),
            totals=tree.total[edge].astype(np.float64),
            goals=self._goals_behind(edge, at, role),
        )

    def _goals_behind(self, edge: slice, node: int, role: int) -> NDArray[np.int64]:
        """The proven goals of `role` behind edges, whichever path found them, or UNPROVEN."""
        tree = self.tree
        goals = tree.goal[edge].astype(np.int64)
        child = tree.child[edge].astype(np.int64)
        if int(tree.decider[node]) == role:
            open_ = np.flatnonzero((goals == UNPROVEN) & (child != MISSING))
            first = tree.first_edge[child[open_], 0].astype(np.int64)
            proof = tree.proof[np.where(first >= MISSING, child[open_], SAME_AS - first)].astype(np.int64)
            own = proof if role == 0 else BEST_GOAL - proof
            goals[open_] = np.where(proof == UNPROVEN, UNPROVEN, own)
        return goals

    def child(self, node: int, moves: tuple[int, ...]) -> int | None:
        """The node behind a joint move (one index per role, counted within the role), or None."""
        edges = [
            next((e for e in self.edges_of(node, role) if self._move_of(e, role) == move), None)
            for role, move in enumerate(moves)
        ]
        if any(e is None for e in edges):
            return None
        tree, decider = self.tree, int(self.tree.decider[node])
        if decider != SEVERAL:
            child = int(tree.child[edges[max(decider, 0)]])
            return None if child == MISSING else self.shared_node(child)
        came = np.array(edges, np.int32) - tree.first_edge[node, 0]
        children = np.flatnonzero(tree.parent[: self.node_count] == node)
        found = children[(tree.came[children] == came).all(axis=1)]
        return self.shared_node(int(found[0])) if len(found) else None

    def shared_node(self, node: int) -> int:
        """The node that represents `node`: usually itself."""
        first = int(self.tree.first_edge[node, 0])
        return node if first >= MISSING else SAME_AS - first

    def _move_of(self, edge: int, role: int) -> int:
        return int(self.tree.move[edge] - self._first_move[role])

    def best_line(self, limit: int = 12) -> list[tuple[int, ...]]:
        """The joint moves along the most visited edges: the principal variation."""
        line: list[tuple[int, ...]] = []
        node: int | None = self.root
        while node is not None and len(line) < limit:
            moves = []
            for role in range(self.tables.role_count):
                edges = self.edges_of(node, role)
                if not edges:
                    return line
                best = max(edges, key=lambda e: (self.tree.visits[e], self.tree.total[e], -e))
                if self.tree.visits[best] == 0:
                    return line
                moves.append(self._move_of(best, role))
            line.append(tuple(moves))
            node = self.child(node, line[-1])
        return line


def _planes_of(code: StateCode | None) -> StatePlanes:
    if code is None:
        return StatePlanes(np.zeros(1, np.int32), np.zeros(1, np.int32), np.zeros(1, np.uint64))
    return StatePlanes(code.first_source, code.source, np.zeros(code.word_count, np.uint64))
