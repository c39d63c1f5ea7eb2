"""search_sets: tree search over information sets; every lane is a match from a possible state.

All trees lie in one table of *sets*, found by a role and the key of what that role has observed. A tick is
that of `ggp.search.tree.kernels.search` with sets in place of nodes:

1. *choose*: lanes outside the trees select uniformly random moves, bit-sliced;
2. *descend*: in each lane inside, every role chooses in its own set by UCT; a set that is new ends the way
   through the trees, unless its role has no choice there;
3. *end*: lanes that are over pass each role's goal up that role's path;
4. *observe*: the roles' keys take in the own move and the percepts;
5. *launch* and *step*: free lanes begin again in their root states, all others take the next state.

Letters: L lanes, R roles, S sets, E edges, D edges of a path at most, P percepts of all roles.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggp.beliefs.observation_keys import ObservationNumbers
from ggp.beliefs.step_kernels import extended_key, mixed_number
from ggp.circuit.tables import Int32Array
from ggp.jit.compiling import inlined, kernel, stage
from ggp.jit.rows import Index, Rows, fill, get_word, literal, load, lowest_bit, store, word_count
from ggp.lanes.bits import clear_lane, literal_in_lane, set_lane
from ggp.lanes.choose import choose_moves
from ggp.lanes.layout import LaneTables
from ggp.lanes.step import advance, settle_states, settle_successors, sum_percepts
from ggp.search.tree.kernels.arrays import BUSY, CUT, IN_TREE, MISSING, Float64Array, SearchArrays
from ggp.search.tree.kernels.tree import NEUTRAL_GOAL, random_below, random_move, read_goals

RAMP = 8
"""Lanes in flight are at most as many as this part of the playouts of the root, and at least one."""
STUCK, FULL = -2, -3
"""In place of a set: the role has no legal move; there is no room for a new set."""

COUNTERS = 9
TICK, LEFT, LANES_BUSY, FREE_LANES, FINISHED, ROOT_VISITS, SETS, EDGES, REFUSED = range(COUNTERS)
"""Indices of `SetMemory.counter`.

TICK                   joint moves that all lanes have made
LEFT, FINISHED         playouts to be started; those that ended
LANES_BUSY, FREE_LANES lanes at work, and height of the stack of the others
ROOT_VISITS            playouts that ended since the search of this root began
SETS, EDGES, REFUSED   of the table; how often it had no room
"""


class SetTrees(NamedTuple):
    """The trees of all roles."""

    bucket: Int32Array  # int32[power of two]: open hash table of sets counted from 1; 0: nothing there
    key: NDArray[np.uint64]  # uint64[S]: of the role and its observations
    first_edge: Int32Array  # int32[S]
    edge_count: Int32Array  # int32[S]
    slot: Int32Array  # int32[E]: slot of the move, see `LaneTables`
    visits: Int32Array  # int32[E]: playouts through the edge that have ended ...
    started: Int32Array  # int32[E]: ... and all of them
    total: Float64Array  # float64[E]: sum of the role's goals in `visits` playouts


class SetLanes(NamedTuple):
    """The match in each lane."""

    key: NDArray[np.uint64]  # uint64[R, L]: of what each role has observed
    root_key: NDArray[np.uint64]  # uint64[R, L]: the same in the lane's root state
    root: Rows  # F rows: the root states
    start: NDArray[np.int64]  # int64[L]: tick of the first move
    depth: Int32Array  # int32[L]: edges of the path
    path_edge: Int32Array  # int32[L, D]
    path_role: Int32Array  # int32[L, D]
    at: Int32Array  # int32[R, L]: the set of each role in this tick
    made: Int32Array  # int32[R, L]: the slot of its move
    observed: NDArray[np.uint64]  # uint64[L]: scratch
    free: Int32Array  # int32[L]: stack of the free lanes


class SetRules(NamedTuple):
    """Settings of the search, and the numbers of which keys are made."""

    exploration: float  # C of UCT, on the scale of the goals
    step_limit: int  # joint moves of a playout, then it ends without counting as played out
    chance: int  # index of the role `random`, or -1
    choice_planes: int  # `ggp.lanes.choose.choice_planes` of the game
    numbers: ObservationNumbers


class SetMemory(NamedTuple):
    """Everything that one search works on."""

    tables: LaneTables
    arrays: SearchArrays
    trees: SetTrees
    lanes: SetLanes
    rules: SetRules
    counter: NDArray[np.int64]  # int64[COUNTERS]


@inlined
def _find_set(trees: SetTrees, key: np.uint64) -> tuple[Index, Index]:
    """The set with this key, or MISSING; and its place in the bucket, or the one where it would be."""
    last = np.uint64(trees.bucket.shape[0] - 1)
    place = key & last
    while True:
        found = np.int64(trees.bucket[np.int64(place)]) - 1
        if found < 0 or trees.key[found] == key:
            return found if found >= 0 else np.int64(MISSING), np.int64(place)
        place = (place + np.uint64(1)) & last


@stage
def _set_of(memory: SetMemory, role: Index, lane: Index) -> tuple[Index, bool]:
    """The set in which the role chooses, made if need be, STUCK or FULL; and whether it is a new choice."""
    tables, trees, counter = memory.tables, memory.trees, memory.counter
    value = memory.arrays.value
    # Roles that have observed the same choose in different sets.
    key = mixed_number(memory.lanes.key[role, lane] + np.uint64(role))
    found, place = _find_set(trees, key)
    if found >= 0:
        return found, False
    first: Index = np.int64(counter[EDGES])
    end: Index = first
    has_room = counter[SETS] < trees.key.shape[0]
    has_move = False
    for s in range(tables.first_slot[role], tables.first_slot[role + 1]):
        if literal_in_lane(value, tables.slot_literal[s], lane):
            has_move = True
            has_room = has_room and end < trees.slot.shape[0]
            if has_room:
                trees.slot[end] = s
                trees.visits[end] = 0
                trees.started[end] = 0
                trees.total[end] = 0.0
                end += 1
    if not has_move:
        return np.int64(STUCK), False
    if not has_room:
        counter[REFUSED] += 1
        return np.int64(FULL), True
    new: Index = np.int64(counter[SETS])
    trees.key[new] = key
    trees.first_edge[new] = first
    trees.edge_count[new] = end - first
    trees.bucket[place] = new + 1
    counter[SETS] = new + 1
    counter[EDGES] = end
    return new, bool(end - first > 1)


@stage
def _select_edge(memory: SetMemory, at: Index, lane: Index) -> Index:
    """An edge by UCT among those whose move is legal in the lane; MISSING if there is none.

    An untried one, at random, comes first. Of all N visits only those of legal edges count, so that sets that
    agree by a collision alone do no harm.
    """
    tables, trees, arrays = memory.tables, memory.trees, memory.arrays
    first = np.int64(trees.first_edge[at])
    end = first + np.int64(trees.edge_count[at])
    legal = 0
    untried = 0
    all_visits = 0
    ended = 0
    goals = 0.0
    chosen: Index = np.int64(MISSING)
    for e in range(first, end):
        if literal_in_lane(arrays.value, tables.slot_literal[trees.slot[e]], lane):
            n = trees.started[e]
            legal += 1
            all_visits += n
            ended += trees.visits[e]
            goals += trees.total[e]
            untried += n == 0
            chosen = np.int64(e)
    if legal < 2:
        return chosen
    rank = random_below(arrays.seed, untried) if untried > 0 else np.int64(0)
    unknown = goals / ended if ended > 0 else NEUTRAL_GOAL
    bonus = memory.rules.exploration * math.sqrt(math.log(max(1, all_visits)))
    best = -math.inf
    for e in range(first, end):
        if not literal_in_lane(arrays.value, tables.slot_literal[trees.slot[e]], lane):
            continue
        n = trees.started[e]
        if untried > 0:
            if n == 0:
                if rank == 0:
                    return np.int64(e)
                rank -= 1
            continue
        mean = trees.total[e] / trees.visits[e] if trees.visits[e] > 0 else unknown
        x = mean + bonus / math.sqrt(n)
        if x > best:
            best = x
            chosen = np.int64(e)
    return chosen


@stage
def _descend_lane(memory: SetMemory, lane: Index) -> bool:
    """Choose a move for every role of a lane in the trees; False if a role has none."""
    tables, arrays, lanes, rules = memory.tables, memory.arrays, memory.lanes, memory.rules
    leaves = False
    for role in range(tables.role_count):
        if role != rules.chance:
            at, is_new = _set_of(memory, role, lane)
            if at == STUCK:
                return False
            lanes.at[role, lane] = at
            leaves = leaves or is_new
    slot: Index
    for role in range(tables.role_count):
        at = np.int64(lanes.at[role, lane]) if role != rules.chance else np.int64(MISSING)
        edge: Index = np.int64(MISSING)
        if at >= 0:
            edge = _select_edge(memory, at, lane)
        if edge >= 0:
            slot = np.int64(memory.trees.slot[edge])
            memory.trees.started[edge] += 1
            lanes.path_edge[lane, lanes.depth[lane]] = edge
            lanes.path_role[lane, lanes.depth[lane]] = role
            lanes.depth[lane] += 1
        else:
            number = random_move(tables, arrays, role, lane)
            leaves = leaves or role != rules.chance
            if number < 0:
                return False
            slot = tables.first_slot[role] + arrays.option[number] - arrays.first_move[role]
        lanes.made[role, lane] = slot
        set_lane(arrays.value, np.int64(tables.slot_node[slot]), lane)
    if leaves or lanes.depth[lane] + tables.role_count > lanes.path_edge.shape[1]:
        clear_lane(arrays.mask, IN_TREE, lane)
    return True


@stage
def _descend(memory: SetMemory) -> None:
    """Move every lane in the trees that is not over, CUT; those that are stuck are added to CUT."""
    mask = memory.arrays.mask
    for w in range(word_count(mask)):
        bits = get_word(mask, IN_TREE, w) & ~get_word(mask, CUT, w)
        while bits != np.uint64(0):
            lane = 64 * w + lowest_bit(bits)
            bits &= bits - np.uint64(1)
            if not _descend_lane(memory, lane):
                set_lane(mask, CUT, lane)


@stage
def _end_lanes(memory: SetMemory) -> None:
    """Back up the goals of the lanes of CUT, and free them."""
    arrays, trees, lanes, counter = memory.arrays, memory.trees, memory.lanes, memory.counter
    mask = arrays.mask
    for w in range(word_count(mask)):
        bits = get_word(mask, CUT, w)
        while bits != np.uint64(0):
            lane = 64 * w + lowest_bit(bits)
            bits &= bits - np.uint64(1)
            read_goals(memory.tables, arrays, np.int64(-1), lane)
            for i in range(lanes.depth[lane]):
                e = np.int64(lanes.path_edge[lane, i])
                goal = arrays.goal[np.int64(lanes.path_role[lane, i])]
                trees.visits[e] += 1
                trees.total[e] += goal
            counter[FINISHED] += 1
            counter[ROOT_VISITS] += 1
            clear_lane(mask, BUSY, lane)
            clear_lane(mask, IN_TREE, lane)
            lanes.free[counter[FREE_LANES]] = lane
            counter[FREE_LANES] += 1
            counter[LANES_BUSY] -= 1


@stage
def _observe(memory: SetMemory) -> None:
    """Extend the keys of all roles in the lanes that stay in the trees. SEES must be settled."""
    tables, arrays, lanes, numbers = memory.tables, memory.arrays, memory.lanes, memory.rules.numbers
    for role in range(tables.role_count):
        if role == memory.rules.chance:
            continue
        for w in range(word_count(arrays.mask)):
            inside = get_word(arrays.mask, IN_TREE, w)
            if inside == np.uint64(0):
                continue
            first, end = numbers.first[role], numbers.first[role + 1]
            number, total = numbers.of_percept, lanes.observed
            sum_percepts(arrays.value, tables.percept_literal, number, first, end, w, inside, total)
            while inside != np.uint64(0):
                lane = 64 * w + lowest_bit(inside)
                inside &= inside - np.uint64(1)
                move = np.int64(tables.slot_node[lanes.made[role, lane]]) - np.int64(tables.move0)
                observed = numbers.of_move[move] + lanes.observed[lane]
                lanes.key[role, lane] = extended_key(lanes.key[role, lane], observed)


@stage
def _launch(memory: SetMemory) -> None:
    """Begin playouts in free lanes, as many as the visits of the root allow."""
    lanes, counter = memory.lanes, memory.counter
    most = max(1, counter[ROOT_VISITS] // RAMP)
    while counter[LEFT] > 0 and counter[FREE_LANES] > 0 and counter[LANES_BUSY] < most:
        counter[LEFT] -= 1
        counter[LANES_BUSY] += 1
        counter[FREE_LANES] -= 1
        lane = np.int64(lanes.free[counter[FREE_LANES]])
        for role in range(memory.tables.role_count):
            lanes.key[role, lane] = lanes.root_key[role, lane]
        lanes.depth[lane] = 0
        lanes.start[lane] = counter[TICK] + 1
        set_lane(memory.arrays.mask, BUSY, lane)
        set_lane(memory.arrays.mask, IN_TREE, lane)


@inlined
def _find_late(memory: SetMemory) -> None:
    """CUT: the busy lanes whose playout has reached its limit of joint moves."""
    mask = memory.arrays.mask
    store(mask, CUT, fill(mask, np.uint64(0)))
    earliest = memory.counter[TICK] - memory.rules.step_limit
    for lane in range(memory.lanes.start.shape[0]):
        if memory.lanes.start[lane] <= earliest:
            set_lane(mask, CUT, lane)
    store(mask, CUT, load(mask, CUT) & load(mask, BUSY))


@kernel
def search_sets(memory: SetMemory, ticks: int) -> bool:
    """Search for at most `ticks` ticks; return whether nothing is in flight and nothing left to start."""
    tables, arrays, counter = memory.tables, memory.arrays, memory.counter
    value, mask = arrays.value, arrays.mask
    for _ in range(ticks):
        settle_states(tables, value)
        _find_late(memory)
        busy = load(mask, BUSY)
        over = load(mask, CUT) | (literal(value, np.int64(tables.terminal)) & busy)
        playing = busy & ~load(mask, IN_TREE) & ~over
        stuck = choose_moves(
            tables, value, arrays.scratch, memory.rules.choice_planes, arrays.random, playing
        )
        store(mask, CUT, over | stuck)
        _descend(memory)
        _end_lanes(memory)
        # The busy lanes are those that have made a move; the free ones may begin again, from their roots.
        moved = load(mask, BUSY)
        settle_successors(tables, value, True)
        _observe(memory)
        _launch(memory)
        advance(tables, value, arrays.saved, moved, memory.lanes.root, np.int64(0))
        counter[TICK] += 1
        if counter[LANES_BUSY] == 0 and counter[LEFT] == 0:
            return True
    return False
