"""MCTS-Solver: exact goals found in the tree, backed up (Winands, Björnsson & Saito 2008).

Used with one role, or with two whose goals sum up to 100 in every terminal state seen; then a value proven
for the one proves the other's. Nodes at which both have a choice are never proven, so simultaneous moves
stay sound; games with chance are left alone. Any other sum, in the tree or at the end of a playout, turns
the solver off for good and forgets what was proven.
"""

from __future__ import annotations

import numpy as np

from ggp.jit.compiling import inlined, piece, stage
from ggp.jit.rows import Index
from ggp.search.tree.kernels import counters as c
from ggp.search.tree.kernels.arrays import MISSING, SEVERAL, UNPROVEN, SearchArrays, Tree, Walkers
from ggp.search.tree.kernels.tree import BEST_GOAL


@piece
def stop_proving(arrays: SearchArrays, tree: Tree) -> None:
    """Forget all proofs, and make no more."""
    counter = arrays.counter
    counter[c.IS_CONSTANT_SUM] = 0
    for node in range(counter[c.NODES]):
        tree.proof[node] = UNPROVEN
    for e in range(counter[c.EDGES]):
        tree.goal[e] = UNPROVEN


@inlined
def _prove_node(tree: Tree, node: Index, role: Index) -> bool:
    """Prove `node`, at which only `role` may have a choice, from its edges; return whether they suffice."""
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
def note_end(arrays: SearchArrays, tree: Tree, walkers: Walkers, walker: Index, leaf: Index) -> None:
    """`leaf`, at the end of the walker's path, is terminal, with the goals in arrays.goal."""
    counter = arrays.counter
    if leaf == MISSING or tree.proof[leaf] != UNPROVEN or counter[c.IS_CONSTANT_SUM] == 0:
        return
    roles = arrays.goal.shape[0]
    if roles == 2 and arrays.goal[0] + arrays.goal[1] != float(BEST_GOAL):
        stop_proving(arrays, tree)
        return
    tree.proof[leaf] = np.int64(arrays.goal[0])
    pass_up(tree, walkers, walker, leaf)


@stage
def pass_up(tree: Tree, walkers: Walkers, walker: Index, leaf: Index) -> None:
    """Record the proof of `leaf` on the last edge of the walker's path, and prove what follows above."""
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
