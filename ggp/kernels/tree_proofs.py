"""MCTS-Solver (Winands, Björnsson & Saito 2008): exact goals found in the tree, passed up.

Used with one role, or with two whose goals sum up to 100 in every terminal state seen; then a value proven
for the one proves the other's. Nodes where both have a choice are never proven, so simultaneous moves
stay sound; games with chance are left alone. Any other sum, in the tree or at the end of a playout, turns
the solver off for good and forgets what was proven.
"""

from __future__ import annotations

import numpy as np

from ggp.kernels.compiling import inlined, piece, stage
from ggp.kernels.rows import Index
from ggp.kernels.tree import BEST_GOAL
from ggp.kernels.tree_arrays import (
    EDGES,
    IS_CONSTANT_SUM,
    MISSING,
    NODES,
    SEVERAL,
    UNPROVEN,
    SearchArrays,
    Tree,
    Walkers,
)


@piece
def stop_proving(arrays: SearchArrays, tree: Tree) -> None:
    """Forget all proofs, and make no more."""
    counter = arrays.counter
    counter[IS_CONSTANT_SUM] = 0
    for node in range(counter[NODES]):
        tree.proof[node] = UNPROVEN
    for e in range(counter[EDGES]):
        tree.goal[e] = UNPROVEN


@inlined
def _prove_node(tree: Tree, node: Index, role: Index) -> bool:
    """Prove `node`, where only `role` may have a choice, from its edges if they allow; whether they do."""
    best: Index = UNPROVEN
    has_open = False
    for e in range(tree.first_edge[node, role], tree.first_edge[node, role + 1]):
        goal = np.int64(tree.goal[e])
        if goal == UNPROVEN:
            has_open = True
        best = max(best, goal)
    if best == BEST_GOAL or (not has_open and best != UNPROVEN):
        tree.proof[node] = best if role == 0 else BEST_GOAL - best
        return True
    return False


@stage
def note_terminal(arrays: SearchArrays, tree: Tree, walkers: Walkers, walker: Index, leaf: Index) -> None:
    """`leaf`, at the end of the walker's path, is terminal with the goals in arrays.goal."""
    counter = arrays.counter
    if leaf == MISSING or tree.proof[leaf] != UNPROVEN or counter[IS_CONSTANT_SUM] == 0:
        return
    roles = arrays.goal.shape[0]
    if roles == 2 and arrays.goal[0] + arrays.goal[1] != float(BEST_GOAL):
        stop_proving(arrays, tree)
        return
    tree.proof[leaf] = np.int64(arrays.goal[0])
    proof = np.int64(tree.proof[leaf])
    for d in range(walkers.depth[walker] - 1, -1, -1):
        node = np.int64(walkers.path_node[walker, d])
        decider = tree.decider[node]
        if decider == SEVERAL:
            return
        role: Index = np.int64(decider) if decider > 0 else 0
        tree.goal[walkers.path_edge[walker, d, role]] = proof if role == 0 else BEST_GOAL - proof
        if tree.proof[node] != UNPROVEN or not _prove_node(tree, node, role):
            return
        proof = np.int64(tree.proof[node])
