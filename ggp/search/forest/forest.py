"""Forest: searches some hundred states at once, each from scratch, with its own number of playouts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from gdl.slices import slice_offsets, slice_places
from ggp.circuit.tables import Int32Array
from ggp.engines.compiled import CompiledGame
from ggp.game import Move
from ggp.integers import to_integer_array
from ggp.jit.compiling import announced_compilation
from ggp.jit.rows import make_rows, words_of
from ggp.search.forest.kernel import Roots, search_forest
from ggp.search.report import MoveReport
from ggp.search.tree.kernels import counters as c
from ggp.search.tree.kernels.arrays import MISSING, NO_PARTS, UNPROVEN, Float64Array
from ggp.search.tree.kernels.compaction import abandon, clear_tree
from ggp.search.tree.options import MctsOptions
from ggp.search.tree.tree_engine import TreeEngine

SLICE_TICKS = 256
"""Ticks of one kernel call, after which a search may be stopped."""

MEBIBYTES = 512
"""Default memory of a forest; only what the trees need is used."""

BoolArray = NDArray[np.bool_]


@dataclass(frozen=True)
class RootMoves:
    """Statistics of one role's moves at the roots, tree after tree.

    first   int32[N+1]: those of tree n are first[n] .. first[n+1] - 1; none where the root was not expanded
    move    int32[*], counted within the role
    visits  int32[*], total float64[*]: playouts, and the sum of the role's goals in them
    goal    int32[*]: proven goal of the role, or UNPROVEN
    """

    first: Int32Array
    move: Int32Array
    visits: Int32Array
    total: Float64Array
    goal: Int32Array

    def best(self) -> tuple[Int32Array, Float64Array]:
        """The move to make in each tree, -1 where none is known, and its mean goal; int32[N], float64[N].

        The most visited one, unless a proof is better; a move proven to give 0 only if all are
        (as `LanesSearch.best_move`).
        """
        counts = np.diff(self.first)
        has = counts > 0
        tree, begin = np.repeat(np.arange(len(counts)), counts), self.first[:-1][has]
        is_proven = self.goal != UNPROVEN
        mean = np.where(is_proven, self.goal, self.total / np.maximum(self.visits, 1))
        open_one = np.lexsort((-mean, -np.where(is_proven, -1, self.visits), tree))[begin]
        sure = np.lexsort((-np.where(is_proven, self.goal, -1), tree))[begin]
        best, value = np.full(len(counts), -1, np.int32), np.zeros(len(counts))
        is_sure = is_proven[sure] & (
            is_proven[open_one] | ((self.goal[sure] > 0) & (self.goal[sure] >= mean[open_one]))
        )
        chosen = np.where(is_sure, sure, open_one)
        best[has], value[has] = self.move[chosen], mean[chosen]
        return best, value

    def reports(self, moves: Sequence[Move]) -> list[MoveReport]:
        """Reports of one tree's moves, most visited first; `moves`: the moves of the role."""
        order = np.argsort(-self.visits, kind="stable")
        columns = (column[order].tolist() for column in (self.move, self.visits, self.total, self.goal))
        return [
            MoveReport(moves[move], visits, total / max(1, visits), None if goal == UNPROVEN else goal)
            for move, visits, total, goal in zip(*columns, strict=True)
        ]


class Forest:
    """One tree per lane, in one kernel call; playouts are uniform.

    Of two searches with the same seed, words and roots everything is the same. What a tree finds depends on
    the trees next to it, though, because all lanes draw from one generator.

    >>> import ggp, numpy as np
    >>> game = ggp.load("tictactoe")
    >>> forest = Forest(game)
    >>> roots = np.repeat(game.unpack(game.initial_state())[None], 3, axis=0)
    >>> forest.search(roots, [50, 100, 200])
    True
    >>> x = forest.root_moves(0)
    >>> np.add.reduceat(x.visits, x.first[:-1]).tolist()      # every playout goes through a move of the root
    [50, 100, 200]
    """

    def __init__(
        self,
        game: CompiledGame,
        *,
        words: int = 8,
        seed: int = 0,
        stream: int = 0,
        options: MctsOptions | None = None,
        mebibytes: int = MEBIBYTES,
    ) -> None:
        """Set up the lanes.

        words          64 trees each
        seed, stream   as of `Lanes`
        options        those of UCT count: exploration, solver, step limit. Raises ValueError for a policy
        mebibytes      for all trees together
        """
        options = options or MctsOptions()
        if options.parsed_policy.has_statistics:
            raise ValueError(f"trees side by side learn nothing about moves, as {options.policy} does")
        self.game = game
        self.options = replace(
            options,
            words=words,
            lanes=None,
            lanes_per_leaf=1,
            leaf_growth=0,
            ramp=0,
            threads=1,
            is_decisive=False,
            memory_mebibytes=mebibytes,
        )
        self._engine = TreeEngine(game, self.options, seed=seed, stream=stream)
        node, left = np.zeros(self.lane_count, np.int32), np.zeros(self.lane_count, np.int64)
        self._roots = Roots(node, left, make_rows(game.lane_tables.fluent_count, words))
        self._count = 0

    @property
    def lane_count(self) -> int:
        """Trees at a time, 64*W."""
        return 64 * self.options.words

    @property
    def node_count(self) -> int:
        """Nodes of all trees of the last search."""
        return int(self._engine.arrays.counter[c.NODES])

    @property
    def is_full(self) -> bool:
        """Whether a node or its edges found no room in the last search."""
        return self._engine.is_full

    @property
    def simulation_count(self) -> int:
        """Playouts of all searches so far."""
        return self._engine.simulation_count

    def search(
        self,
        states: BoolArray,
        simulations: Sequence[int] | NDArray[np.int64],
        is_stopped: Callable[[], bool] | None = None,
    ) -> bool:
        """Search every state; return whether all searches were completed.

        states       bool[N, F], N at most `lane_count`, none of them terminal
        simulations  N numbers of playouts; fewer are made in trees whose root is proven
        is_stopped   asked a few hundred times per second
        """
        left = to_integer_array(simulations, "simulations", 0)
        self._plant(states, len(states))
        self._roots.left[: len(states)] = left
        return self._grow(is_stopped)

    def _plant(self, states: BoolArray, trees: int) -> None:
        """Begin `trees` empty trees, one for each of the states, or one for all of them."""
        count, fluents = states.shape
        if count > self.lane_count:
            raise ValueError(f"{count} states do not fit into {self.lane_count} lanes")
        if fluents != len(self.game.terms.fluents):
            raise ValueError(f"a state of {self.game.name} has {len(self.game.terms.fluents)} fluents")
        engine = self._engine
        arrays, tree = engine.arrays, engine.tree
        if trees > len(tree.decider):
            raise ValueError(f"no room for the roots of {trees} trees: more mebibytes are needed")
        abandon(arrays, tree, engine.memory.walkers, count)
        clear_tree(arrays, tree)
        arrays.counter[[c.DEEPEST, c.REFUSED]] = 0
        arrays.counter[c.NODES] = trees
        tree.first_edge[:trees, 0] = MISSING
        tree.parent[:trees] = MISSING
        tree.proof[:trees] = UNPROVEN
        self._roots.node[:count] = np.arange(count) % trees
        lanes = np.zeros((fluents, self.lane_count), np.bool_)
        lanes[:, :count] = states.T
        rows = np.packbits(lanes, axis=1, bitorder="little").view(np.uint64)
        words_of(self._roots.state)[:] = rows
        words_of(arrays.value)[1 : 1 + fluents] = rows
        self._count = trees

    def _grow(self, is_stopped: Callable[[], bool] | None, ticks: int = SLICE_TICKS) -> bool:
        """Search until all trees are done; return False if stopped before."""
        with announced_compilation():
            self._tick(0)
        while not self._tick(ticks):
            if is_stopped is not None and is_stopped():
                return False
        return True

    def _tick(self, ticks: int) -> bool:
        return bool(search_forest(self._engine.memory, NO_PARTS, self._roots, ticks))

    def root_moves(self, role: int) -> RootMoves:
        """Statistics of a role's moves at all roots of the last search."""
        tree = self._engine.tree
        first_edge = tree.first_edge[: self._count].astype(np.int64)
        begin, end = first_edge[:, role], first_edge[:, role + 1]
        sizes = np.where(first_edge[:, 0] == MISSING, 0, end - begin)
        edges = slice_places(begin, sizes)
        return RootMoves(
            slice_offsets(sizes).astype(np.int32),
            (tree.move[edges] - self.game.tables.first_move[role]).astype(np.int32),
            tree.visits[edges].copy(),
            tree.total[edges].copy(),
            tree.goal[edges].copy(),
        )

    def root_values(self) -> Float64Array:
        """Mean goals float64[N, R] of the last search at each root, over the simulations that made a move."""
        count, roles = self._count, len(self.game.roles)
        found = np.full((count, roles), np.nan)
        for role in range(roles):
            moves = self.root_moves(role)
            trees = np.repeat(np.arange(count), np.diff(moves.first))
            visits, total = (np.bincount(trees, each, count) for each in (moves.visits, moves.total))
            np.divide(total, visits, out=found[:, role], where=visits > 0)
        proof = self.root_proofs()
        is_proven = proof != UNPROVEN
        found[is_proven, :2] = np.stack([proof, 100 - proof], axis=1)[is_proven, :roles]
        return found

    def root_proofs(self) -> Int32Array:
        """int32[N]: the proven goal of the first role at each root of the last search, or UNPROVEN."""
        return self._engine.tree.proof[: self._count].copy()
