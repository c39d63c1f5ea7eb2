"""MCTS-Solver (Winands, Björnsson & Saito 2008): exact goals found in the tree, passed up.

Used with one role, or with two whose goals sum up to 100 in every terminal state seen; then a value proven
for the one proves the other's. Nodes where both have a choice are never proven, so simultaneous moves
stay sound; games with chance are left alone. Meeting any other sum turns the solver off for good and
forgets what was proven.
"""

from __future__ import annotations

import numpy as np

from ggp.kernels.compiling import inlined, piece
from ggp.kernels.rows import Index
from ggp.kernels.tree import BEST_GOAL, proven_goal
from ggp.kernels.tree_arrays import (
    IS_CONSTANT_SUM,
    MISSING,
    NOBODY,
    NODES,
    SEVERAL,
    UNPROVEN,
    SearchArrays,
    Tree,
    Walkers,
)


@piece
def _forget_proofs(tree: Tree, nodes: Index) -> None:
    for node in range(nodes):
        tree.proof[node] = UNPROVEN


@inlined
def prove_node(tree: Tree, node: Index) -> bool:
    """Prove `node` from its children where that can be done; whether it was."""
    decider = tree.decider[node]
    if decider == SEVERAL:
        return False
    role = 0 if decider == NOBODY else np.int64(decider)
    best: Index = UNPROVEN
    has_open = False
    for e in range(tree.first_edge[node, role], tree.first_edge[node, role + 1]):
        goal = proven_goal(tree, e, role)
        if goal == UNPROVEN:
            has_open = True
        best = max(best, goal)
    if best == BEST_GOAL or (not has_open and best != UNPROVEN):
        tree.proof[node] = best if role == 0 else BEST_GOAL - best
        return True
    return False


@inlined
def note_terminal(arrays: SearchArrays, tree: Tree, walkers: Walkers, walker: Index, leaf: Index) -> None:
    """`leaf`, at the end of the walker's path, is terminal with the goals in arrays.goal."""
    if leaf == MISSING or tree.proof[leaf] != UNPROVEN or arrays.counter[IS_CONSTANT_SUM] == 0:
        return
    roles = arrays.goal.shape[0]
    if roles == 2 and arrays.goal[0] + arrays.goal[1] != float(BEST_GOAL):
        arrays.counter[IS_CONSTANT_SUM] = 0
        _forget_proofs(tree, arrays.counter[NODES])
        return
    tree.proof[leaf] = np.int64(arrays.goal[0])
    d = np.int64(walkers.depth[walker]) - 1
    while d >= 0 and prove_node(tree, np.int64(walkers.path_node[walker, d])):
        d -= 1
