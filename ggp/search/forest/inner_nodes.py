"""Nodes below the roots of a forest that were visited often: their states, and what was found there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ggp.circuit.tables import Int32Array, Phase
from ggp.lanes.engine import Lanes
from ggp.search.forest.forest import BoolArray, Forest
from ggp.search.mcts.kernels.arrays import MISSING, UNPROVEN, Float64Array

Int64Array = NDArray[np.int64]


@dataclass(frozen=True)
class InnerNodes:
    """N nodes, none of them a root, terminal or proven.

    states  bool[N, F]
    values  float64[N, R]: mean goals over the simulations that made a move there
    first   int64[N+1]: moves of node n are first[n] .. first[n+1] - 1, of every role that has a choice
    move    int32[*]: counted over all roles
    role    int32[*]: whose move it is
    visits  int32[*]
    """

    states: BoolArray
    values: Float64Array
    first: Int64Array
    move: Int32Array
    role: Int32Array
    visits: Int32Array

    def __len__(self) -> int:
        return len(self.states)


def inner_nodes(forest: Forest, roots: BoolArray, lanes: Lanes, least_visits: int) -> InnerNodes:
    """The nodes with at least so many visits, in the order in which they were made.

    roots  bool[T, F]: what `forest` searched last
    lanes  that may be overwritten; no state is kept in a tree, so moves are made again from the roots

    >>> import ggp, numpy as np
    >>> game = ggp.load("tictactoe")
    >>> forest = Forest(game)
    >>> roots = game.unpack(game.initial_state())[None]
    >>> forest.search(roots, [200])
    True
    >>> found = inner_nodes(forest, roots, Lanes(game.lane_tables), 15)
    >>> len(found), found.states.sum(axis=1).tolist()       # a mark, and whose turn it is
    (6, [2, 2, 2, 2, 2, 2])
    """
    node = _visited_nodes(forest, len(roots), least_visits)
    states = _states_of(forest, roots, lanes, node)
    tree = forest.tree
    node, states = (each[tree.proof[node] == UNPROVEN] for each in (node, states))
    roles = len(forest.game.roles)
    values = np.zeros((len(node), roles))
    sizes = np.zeros((len(node), roles), np.int64)
    edges_of, owners, role_of = [], [], []
    for role in range(roles):
        edges, owner = _edges_of(forest, node, role)
        visits = np.bincount(owner, tree.visits[edges], len(node))
        values[:, role] = np.bincount(owner, tree.total[edges], len(node)) / np.maximum(visits, 1)
        size = np.bincount(owner, minlength=len(node))
        is_choice = size[owner] > 1
        sizes[:, role] = np.where(size > 1, size, 0)
        edges_of.append(edges[is_choice])
        owners.append(owner[is_choice])
        role_of.append(np.full(is_choice.sum(), role, np.int32))
    edges, role_of_edge = np.concatenate(edges_of), np.concatenate(role_of)
    order = np.argsort(np.concatenate(owners), kind="stable")
    first = np.concatenate([[0], np.cumsum(sizes.sum(axis=1))])
    edges = edges[order]
    return InnerNodes(states, values, first, tree.move[edges], role_of_edge[order], tree.visits[edges])


def _edges_of(forest: Forest, node: Int64Array, role: int) -> tuple[Int64Array, Int64Array]:
    """The edges of a role at each node, one node after another, and whose they are as a place in `node`."""
    first_edge = forest.tree.first_edge
    begin, end = (first_edge[node, r].astype(np.int64) for r in (role, role + 1))
    sizes = end - begin
    owner = np.repeat(np.arange(len(node)), sizes)
    offsets = np.concatenate([[0], np.cumsum(sizes)[:-1]]) if len(node) else np.zeros(0, np.int64)
    return np.arange(len(owner)) + np.repeat(begin - offsets, sizes), owner


def _visited_nodes(forest: Forest, trees: int, least_visits: int) -> Int64Array:
    """int64[N]: expanded nodes beyond the roots with as many visits; a node stands after its parent."""
    tree = forest.tree
    inner = np.arange(trees, forest.node_count)
    inner = inner[tree.first_edge[inner, 0] != MISSING]
    edges, owner = _edges_of(forest, inner, 0)
    found: Int64Array = inner[np.bincount(owner, tree.visits[edges], len(inner)) >= least_visits]
    return found


def _states_of(forest: Forest, roots: BoolArray, lanes: Lanes, node: Int64Array) -> BoolArray:
    """bool[N, F]. The parent of a node is a root or stands in `node` too: it has as many visits or more."""
    tree, first_move = forest.tree, forest.game.tables.first_move
    parent = tree.parent[node].astype(np.int64)
    is_below_root = parent < len(roots)
    place = np.searchsorted(node, parent)
    states = np.zeros((len(node), roots.shape[1]), np.bool_)
    is_known = np.zeros(len(node), np.bool_)
    while not is_known.all():
        ready = np.flatnonzero(~is_known & (is_below_root | is_known[np.where(is_below_root, 0, place)]))
        for begin in range(0, len(ready), lanes.lane_count):
            batch = ready[begin : begin + lanes.lane_count]
            before = np.where(
                is_below_root[batch, None],
                roots[np.where(is_below_root[batch], parent[batch], 0)],
                states[np.where(is_below_root[batch], 0, place[batch])],
            )
            edges = tree.first_edge[parent[batch], 0][:, None] + tree.came[node[batch]]
            selected = np.zeros((int(first_move[-1]), len(batch)), np.bool_)
            selected[tree.move[edges], np.arange(len(batch))[:, None]] = True
            lanes.set_states(before.T)
            lanes.set_moves(selected)
            lanes.settle(Phase.LEGAL, Phase.NEXT)
            states[batch] = lanes.read(forest.game.lane_tables.next, len(batch)).T
        is_known[ready] = True
    return states
