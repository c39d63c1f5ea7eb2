"""Ends of playouts: lanes that are over, stuck, cut or at a proven node; their goals, back-up and proofs.

MCTS-Solver (Winands, Björnsson & Saito 2008) is used with one role, or with two whose goals sum up to 100 in
every terminal state seen; then a value proven for the one proves the other's. Nodes at which both have a
choice are never proven, so simultaneous moves stay sound; games with chance are left alone. Any other sum, in
the tree or at the end of a playout, turns the solver off for good and forgets what was proven.
"""

from __future__ import annotations

import numpy as np

from ggp.jit.compiling import inlined, piece, stage
from ggp.jit.entry_points import NO_ENTRY, call_entry
from ggp.jit.rows import (
    Index,
    Row,
    Rows,
    fill,
    get_word,
    literal,
    load,
    lowest_bit,
    set_word,
    store,
    word_count,
)
from ggp.lanes.bits import clear_lane, has_lane, literal_in_lane, set_lane
from ggp.lanes.step import settle_states
from ggp.search.tree.kernels import counters as c
from ggp.search.tree.kernels.arrays import (
    BUSY,
    CUT,
    IN_TREE,
    MISSING,
    SEVERAL,
    UNPROVEN,
    Parts,
    SearchArrays,
    SearchMemory,
    Settings,
    Tree,
    Walkers,
)
from ggp.search.tree.kernels.graph import enter_key, has_graph, join, node_with_key, read_key, shared_node
from ggp.search.tree.kernels.tree import BEST_GOAL, EXPANDED, STUCK, expand, read_goals


@inlined
def lanes_to_cut(arrays: SearchArrays, walkers: Walkers, settings: Settings) -> Row:
    """Lanes whose playout has reached its limit of joint moves; checked only when the oldest may have."""
    counter = arrays.counter
    limit = settings.step_limit
    store(arrays.mask, CUT, fill(arrays.value, np.uint64(0)))
    if counter[c.TICK] < counter[c.NEXT_CUT]:
        return load(arrays.mask, CUT)
    # `oldest` is the earliest first tick of the running playouts: none is cut before its limit.
    oldest = counter[c.TICK]
    for lane in range(walkers.of_lane.shape[0]):
        walker = walkers.of_lane[lane]
        if walker != MISSING and walkers.node[walker] == MISSING:
            if counter[c.TICK] - walkers.out[walker] >= limit:
                set_lane(arrays.mask, CUT, lane)
            else:
                oldest = min(oldest, walkers.out[walker])
    counter[c.NEXT_CUT] = oldest + limit
    return load(arrays.mask, CUT)


@stage
def settle_and_end(search: SearchMemory) -> tuple[Row, Row]:
    """Settle the inputs of choices; `find_ends`."""
    settle_states(search.tables, search.arrays.value)
    return find_ends(search)


@stage
def find_ends(search: SearchMemory) -> tuple[Row, Row]:
    """The busy lanes that are over (terminal, or to be cut), and those of the others that are outside the
    tree: the policy chooses their moves."""
    tables, arrays = search.tables, search.arrays
    busy = load(arrays.mask, BUSY)
    over = literal(arrays.value, np.int64(tables.terminal)) & busy
    over = over | lanes_to_cut(arrays, search.walkers, search.settings)
    return over, busy & ~load(arrays.mask, IN_TREE) & ~over


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
def _has_other_sum(arrays: SearchArrays) -> bool:
    """Whether there are two roles whose goals in arrays.goal do not sum up to 100."""
    return bool(arrays.goal.shape[0] == 2 and arrays.goal[0] + arrays.goal[1] != float(BEST_GOAL))


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
    if _has_other_sum(arrays):
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


@inlined
def read_result(search: SearchMemory, walker: Index, lane: Index) -> bool:
    """arrays.goal = the goals of the playout that ends in `lane`; return whether they are those of its state.

    Else they are proven at the node where the walker is. Proving stops if the goals of two roles do not sum
    up to 100 at an end.
    """
    tables, arrays, tree, settings = search.tables, search.arrays, search.tree, search.settings
    node = np.int64(search.walkers.node[walker])
    if settings.is_solving != 0 and node != MISSING and tree.proof[node] != UNPROVEN:
        arrays.goal[0] = float(tree.proof[node])
        if tables.role_count > 1:
            arrays.goal[1] = BEST_GOAL - arrays.goal[0]
        return False
    read_goals(tables, arrays, settings.chance, lane)
    is_proving = settings.is_solving != 0 and arrays.counter[c.IS_CONSTANT_SUM] != 0
    if is_proving and _has_other_sum(arrays) and literal_in_lane(arrays.value, tables.terminal, lane):
        stop_proving(arrays, tree)
    return True


@stage
def end_lane(search: SearchMemory, parts: Parts, memory: Index, lane: Index) -> None:
    """Enter the playout that ends in `lane` now, before the move of this tick, and free the lane."""
    arrays, tree, walkers, counter = search.arrays, search.tree, search.walkers, search.arrays.counter
    walker = np.int64(walkers.of_lane[lane])
    depth = np.int64(walkers.depth[walker])
    # In the tree all lanes of a walker end at once, with the same goals, which enter with the first of them.
    is_in_tree = walkers.node[walker] != MISSING
    ended = walkers.size[walker] if is_in_tree else 1
    steps = depth if not is_in_tree or walkers.left[walker] == ended else 0
    for role in range(arrays.goal.shape[0]):
        goals = ended * arrays.goal[role]
        for d in range(steps):
            e = walkers.path_edge[walker, d, role]
            tree.visits[e] += ended
            tree.total[e] += goals
    # The policy learns after the back-up, and while the walker still has its path.
    for learn in (parts.learn, parts.learn_amaf, parts.learn_context):
        if learn != NO_ENTRY:
            call_entry(learn, memory, walker, lane)
    counter[c.FINISHED] += 1
    counter[c.ROOT_VISITS] += 1
    counter[c.STEPS] += counter[c.TICK] - walkers.start[walker]
    counter[c.DEPTH_SUM] += depth
    counter[c.DEEPEST] = max(counter[c.DEEPEST], depth)
    # Release the lane, and the walker with its last lane.
    walkers.of_lane[lane] = MISSING
    clear_lane(arrays.mask, BUSY, lane)
    clear_lane(arrays.mask, IN_TREE, lane)
    walkers.free_lane[counter[c.FREE_LANES]] = lane
    counter[c.FREE_LANES] += 1
    counter[c.LANES_BUSY] -= 1
    walkers.left[walker] -= 1
    if walkers.left[walker] == 0:
        walkers.free[counter[c.FREE_WALKERS]] = walker
        counter[c.FREE_WALKERS] += 1


@stage
def end_lanes(search: SearchMemory, parts: Parts, memory: Index) -> None:
    """Back up every lane in mask CUT, in the order of the lanes."""
    arrays, walkers = search.arrays, search.walkers
    for w in range(word_count(arrays.mask)):
        bits = get_word(arrays.mask, CUT, w)
        while bits != np.uint64(0):
            lane = 64 * w + lowest_bit(bits)
            bits = bits & (bits - np.uint64(1))
            walker = np.int64(walkers.of_lane[lane])
            is_of_state = read_result(search, walker, lane)
            # Without a move outside the tree the leaf itself is over.
            is_leaf = arrays.counter[c.TICK] == walkers.start[walker] + walkers.depth[walker]
            if is_of_state and is_leaf and search.settings.is_solving != 0:
                note_end(arrays, search.tree, walkers, walker, np.int64(walkers.leaf[walker]))
            end_lane(search, parts, memory, lane)
    if parts.refresh != NO_ENTRY and arrays.counter[c.REFRESH_IN] <= 0:
        call_entry(parts.refresh, memory)


@stage
def _open_node(search: SearchMemory, walker: Index, node: Index, lane: Index) -> bool:
    """Join or expand a node on its first visit; return whether the walker ends there."""
    arrays, tree = search.arrays, search.tree
    is_graph = has_graph(tree)
    if is_graph:
        read_key(search.planes, arrays.value, lane)
    if is_graph and node != arrays.counter[c.ROOT_NODE]:  # which keeps its edges, to choose from
        other = node_with_key(arrays, tree, search.planes)
        if other != MISSING:
            join(tree, node, other)
            return _is_proven(search, walker, _go_to(search, walker, other))
    found = expand(search.tables, arrays, tree, node, lane)
    if is_graph and found == EXPANDED:
        enter_key(arrays, tree, search.planes)
    return found == STUCK


@inlined
def _go_to(search: SearchMemory, walker: Index, node: Index) -> Index:
    search.walkers.node[walker] = node
    search.walkers.leaf[walker] = node
    return node


@inlined
def _is_proven(search: SearchMemory, walker: Index, node: Index) -> bool:
    """Whether the walker's node is proven; in a graph the edges of its path may not have the proof yet."""
    tree = search.tree
    if search.settings.is_solving == 0 or tree.proof[node] == UNPROVEN:
        return False
    if has_graph(tree):
        pass_up(tree, search.walkers, walker, node)
    return True


@inlined
def add_lanes(rows: Rows, row: Index, walkers: Walkers, walker: Index) -> None:
    """Set the lanes of the walker in a row."""
    for w in range(word_count(rows)):
        set_word(rows, row, w, get_word(rows, row, w) | get_word(walkers.lanes, walker, w))


@stage
def add_ends_in_tree(search: SearchMemory) -> None:
    """Expand the nodes of the walkers, and enter into mask CUT the lanes that end there. They are at a proven
    node, or a role is stuck. Lanes that are there already are left alone."""
    arrays, tree, walkers = search.arrays, search.tree, search.walkers
    for i in range(arrays.counter[c.DESCENDING]):
        walker = np.int64(walkers.descending[i])
        node: Index = np.int64(walkers.node[walker])
        lane = np.int64(walkers.lane[walker, 0])
        if has_lane(arrays.mask, CUT, lane):
            continue
        if tree.first_edge[node, 0] < MISSING:  # joined in this tick
            node = _go_to(search, walker, shared_node(tree, node))
        # A proof ends the walk before anything is expanded; proven nodes need no edges.
        is_end = _is_proven(search, walker, node)
        if not is_end and tree.first_edge[node, 0] == MISSING:
            is_end = _open_node(search, walker, node, lane)
        if is_end:
            add_lanes(arrays.mask, CUT, walkers, walker)
