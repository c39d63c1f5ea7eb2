"""search_sets: tree search over information sets; every lane is a match from a possible state.

All trees lie in one table of *sets*, found by a role and the key of what that role has observed. A tick is
that of `ggp.search.mcts.kernels.search` with sets in place of nodes:

1. *choose*: lanes outside the trees select uniformly random moves, bit-sliced;
2. *descend*: in each lane inside, every role chooses in its own set, by UCT or regret matching; a set that
   is new ends the way through the trees, unless its role has no choice there;
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

from ggp.beliefs.step_kernels import extended_key, mixed_number
from ggp.circuit.tables import Int32Array
from ggp.jit.compiling import inlined, kernel, stage
from ggp.jit.rows import Index, Rows, fill, get_word, literal, load, lowest_bit, store, word_count
from ggp.lanes.bits import clear_lane, literal_in_lane, literal_word, set_lane
from ggp.lanes.choose import choose_moves
from ggp.lanes.layout import LaneTables
from ggp.lanes.playout import step_lanes
from ggp.lanes.settle import settle_apart
from ggp.search.forest.kernel import put_roots
from ggp.search.mcts.kernels.arrays import BUSY, CUT, IN_TREE, MISSING, Float64Array, SearchArrays
from ggp.search.mcts.kernels.tree import random_below
from ggp.search.mcts.kernels.values import NEUTRAL_GOAL

STUCK, FULL = -2, -3
"""In place of a set: the role has no legal move; there is no room for a new set."""

TICK, LEFT, LANES_BUSY, FREE_LANES, FINISHED, ROOT_VISITS, SETS, EDGES, REFUSED = range(9)
DEPTH_SUM, STEPS, UNAIMED, UNAIMED_HITS = range(9, 13)
"""Indices of `SetMemory.counter`.

TICK, STEPS            joint moves that all lanes have made; those of finished playouts
LEFT, FINISHED         playouts to be started; those that ended
LANES_BUSY, FREE_LANES lanes at work, and height of the stack of the others
ROOT_VISITS            playouts that ended since the search of this root began
SETS, EDGES, REFUSED   of the table; how often it had no room
DEPTH_SUM              edges of the paths of finished playouts
UNAIMED, UNAIMED_HITS  playouts from the initial state since the search of this root began, and those of them
                       that came through the searched set
"""
COUNTERS = 13
MOST_IMPORTANCE = 1000.0
"""Of a playout; rarer ones would decide a strategy alone."""
DRAW_STEPS = 2**31
"""Different numbers that a draw by shares can have."""


class SetTrees(NamedTuple):
    """The trees of all roles.

    bucket       int32[power of two]: open hash table of sets counted from 1; 0: nothing there
    key          uint64[S]: of the role and its observations
    first_edge, edge_count   int32[S]
    slot         int32[E]: slot of the move, see `LaneTables`
    visits, flight   int32[E]: playouts through the edge that have ended, and that have not
    total        float64[E]: sum of the role's goals in `visits` playouts
    regret, weight   float64[E] for regret matching, else of one element: what the move would have gained so
                 far, at least 0, and the sum of its shares in the strategies that were played
    """

    bucket: Int32Array
    key: NDArray[np.uint64]
    first_edge: Int32Array
    edge_count: Int32Array
    slot: Int32Array
    visits: Int32Array
    flight: Int32Array
    total: Float64Array
    regret: Float64Array
    weight: Float64Array


class SetLanes(NamedTuple):
    """What each lane knows of its match.

    key          uint64[R, L]: of what each role has observed
    root_key     uint64[R, L]: the same in the lane's root state
    root         F rows: the root states
    is_unaimed   bool[2, L]: whether the playout (0), and that from the root (1), begins in the initial state
    is_hit       bool[L]: whether the playout has come through the searched set
    start        int64[L]: tick of the first move
    depth        int32[L]: edges of the path
    path_edge, path_role   int32[L, D]
    path_set, path_chance, path_ratio, path_later
                 int32[L, D], float64[L, D] for regret matching, else of one element: the set of an edge; with
                 what probability it was chosen there; how much more probable it is if no role trembles;
                 scratch
    ratio        float64[R]: scratch
    at, made     int32[R, L]: set of each role, and slot of its move, in this tick
    observed         uint64[L]: scratch
    free         int32[L]: stack of the free lanes
    """

    key: NDArray[np.uint64]
    root_key: NDArray[np.uint64]
    root: Rows
    is_unaimed: NDArray[np.bool_]
    is_hit: NDArray[np.bool_]
    start: NDArray[np.int64]
    depth: Int32Array
    path_edge: Int32Array
    path_role: Int32Array
    path_set: Int32Array
    path_chance: Float64Array
    path_ratio: Float64Array
    path_later: Float64Array
    ratio: Float64Array
    at: Int32Array
    made: Int32Array
    observed: NDArray[np.uint64]
    free: Int32Array


class SetRules(NamedTuple):
    """How to search, and the numbers that keys are made of.

    exploration      C of UCT, on the scale of the goals
    is_matching      select by regret matching in place of UCT; observations in another order make another set
    trembling        share of the choices of regret matching that are made evenly
    ramp             lanes in flight are at most (root visits) // ramp, and at least one
    step_limit       joint moves of a playout, then it ends without counting as played out
    chance           index of the role `random`, or -1
    choice_planes    `ggp.lanes.choose.choice_planes` of the game
    percept_first    int64[R+1]: percepts of role r are percept_first[r] .. percept_first[r+1] - 1
    percept_number   uint64[P], move_number uint64[M]: see `ObservationKeys`
    """

    exploration: float
    is_matching: bool
    trembling: float
    ramp: int
    step_limit: int
    chance: int
    choice_planes: int
    percept_first: NDArray[np.int64]
    percept_number: NDArray[np.uint64]
    move_number: NDArray[np.uint64]


class SearchedSet(NamedTuple):
    """Whose move is searched, in arrays of one element."""

    role: NDArray[np.int64]
    key: NDArray[np.uint64]


class SetMemory(NamedTuple):
    """Everything that one search works on. counter: int64[COUNTERS]."""

    tables: LaneTables
    arrays: SearchArrays
    trees: SetTrees
    lanes: SetLanes
    rules: SetRules
    searched: SearchedSet
    counter: NDArray[np.int64]


@inlined
def key_of_set(key: np.uint64, role: Index) -> np.uint64:
    """The key of a role's set: roles that have observed the same choose in different sets."""
    return mixed_number(key + np.uint64(role))


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
    key = key_of_set(memory.lanes.key[role, lane], role)
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
                trees.flight[end] = 0
                trees.total[end] = 0.0
                if memory.rules.is_matching:
                    trees.regret[end] = 0.0
                    trees.weight[end] = 0.0
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


@inlined
def _random_slot(memory: SetMemory, role: Index, lane: Index) -> Index:
    """A uniformly random legal move of the role; MISSING if it has none."""
    tables, arrays = memory.tables, memory.arrays
    chosen: Index = np.int64(MISSING)
    count = 0
    for s in range(tables.first_slot[role], tables.first_slot[role + 1]):
        if literal_in_lane(arrays.value, tables.slot_literal[s], lane):
            count += 1
            if random_below(arrays.seed, count) == 0:
                chosen = np.int64(s)
    return chosen


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
            n = trees.visits[e] + trees.flight[e]
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
        n = trees.visits[e] + trees.flight[e]
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
def _match_edge(memory: SetMemory, at: Index, lane: Index) -> tuple[Index, float, float]:
    """An edge drawn by regret matching among those whose move is legal in the lane, and its probability.

    Also its share by regrets alone over this probability. Moves have shares of the sum of regrets, or even
    ones if there is no regret; of all choices `trembling` are even. MISSING if no move is legal.
    """
    tables, trees, arrays = memory.tables, memory.trees, memory.arrays
    first = np.int64(trees.first_edge[at])
    end = first + np.int64(trees.edge_count[at])
    legal = 0
    regrets = 0.0
    chosen: Index = np.int64(MISSING)
    for e in range(first, end):
        if literal_in_lane(arrays.value, tables.slot_literal[trees.slot[e]], lane):
            legal += 1
            regrets += trees.regret[e]
            chosen = np.int64(e)
    if legal < 2:
        return chosen, 1.0, 1.0
    rest = random_below(arrays.seed, np.int64(DRAW_STEPS)) / DRAW_STEPS
    chance = 1.0
    ratio = 1.0
    for e in range(first, end):
        if literal_in_lane(arrays.value, tables.slot_literal[trees.slot[e]], lane):
            share = trees.regret[e] / regrets if regrets > 0.0 else 1.0 / legal
            p = memory.rules.trembling / legal + (1.0 - memory.rules.trembling) * share
            if p > 0.0:
                chosen, chance, ratio = np.int64(e), p, share / p
                rest -= p
                if rest < 0.0:
                    break
    return chosen, chance, ratio


@stage
def _learn_regrets(memory: SetMemory, lane: Index) -> None:
    """Add the regrets of a playout that has ended to the sets that it came through.

    It counts for a set as it would if no role trembled but its own there and before: no regret stems from
    moves that no role would make (outcome sampling, Lanctot and others 2009, section 4).
    """
    lanes = memory.lanes
    importance = _importance(memory, lane)
    lanes.ratio[:] = importance
    for i in range(lanes.depth[lane]):
        role = np.int64(lanes.path_role[lane, i])
        _average_in_set(memory, np.int64(lanes.path_set[lane, i]), lanes.ratio[role])
        lanes.ratio[role] *= lanes.path_ratio[lane, i]
    lanes.ratio[:] = 1.0
    for i in range(lanes.depth[lane] - 1, -1, -1):
        role = np.int64(lanes.path_role[lane, i])
        lanes.path_later[lane, i] = lanes.ratio[role]
        lanes.ratio[role] *= lanes.path_ratio[lane, i]
    for i in range(lanes.depth[lane]):
        role = np.int64(lanes.path_role[lane, i])
        weight = importance * lanes.path_later[lane, i]
        for other in range(lanes.ratio.shape[0]):
            if other != role:
                weight *= lanes.ratio[other]
        _learn_in_set(memory, lane, np.int64(i), weight)


@inlined
def _share(trees: SetTrees, edge: Index, regrets: float, count: Index) -> float:
    """The share of one of `count` edges by regret matching; `regrets`: the sum of all."""
    return trees.regret[edge] / regrets if regrets > 0.0 else 1.0 / count


@stage
def _average_in_set(memory: SetMemory, at: Index, weight: float) -> None:
    """Add the strategy that a set has to its average."""
    trees = memory.trees
    first = np.int64(trees.first_edge[at])
    count = np.int64(trees.edge_count[at])
    regrets = 0.0
    for e in range(first, first + count):
        regrets += trees.regret[e]
    for e in range(first, first + count):
        trees.weight[e] += weight * _share(trees, np.int64(e), regrets, count)


@stage
def _learn_in_set(memory: SetMemory, lane: Index, step: Index, weight: float) -> None:
    """Add the regrets of a playout to the set of one step of its path.

    A move is taken to bring its mean; the one made, what it did bring, corrected by its mean so that no
    estimate is biased (Schmid and others 2019). Negative regrets are raised to 0 (Tammelin 2014).
    """
    trees, lanes = memory.trees, memory.lanes
    at = np.int64(lanes.path_set[lane, step])
    made = np.int64(lanes.path_edge[lane, step])
    chance = lanes.path_chance[lane, step]
    goal = memory.arrays.goal[np.int64(lanes.path_role[lane, step])]
    first = np.int64(trees.first_edge[at])
    count = np.int64(trees.edge_count[at])
    if count < 2 or weight == 0.0:
        return
    regrets = 0.0
    ended = 0
    goals = 0.0
    for e in range(first, first + count):
        regrets += trees.regret[e]
        ended += trees.visits[e]
        goals += trees.total[e]
    unknown = goals / ended if ended > 0 else NEUTRAL_GOAL
    mean = 0.0
    for e in range(first, first + count):
        share = _share(trees, np.int64(e), regrets, count)
        mean += share * _estimate(trees, np.int64(e), unknown, made, chance, goal)
    for e in range(first, first + count):
        gain = _estimate(trees, np.int64(e), unknown, made, chance, goal) - mean
        trees.regret[e] = max(0.0, trees.regret[e] + weight * gain)


@inlined
def _importance(memory: SetMemory, lane: Index) -> float:
    """How much a playout counts, so that those that begin in possible states do not count too often.

    Of all playouts that come through the searched set, where its role is now, most were made to begin there.
    The others count more, by the ratio of both frequencies (Lisý, Lanctot and Bowling 2015, section 4.1).
    """
    counter = memory.counter
    if memory.lanes.is_hit[lane] or counter[UNAIMED] == 0:
        return 1.0
    # Of those that have ended: playouts from the initial state are longer, so fewer than their lanes suggest.
    unaimed = float(counter[UNAIMED]) / float(counter[ROOT_VISITS])
    reach = float(counter[UNAIMED_HITS] + 1) / float(counter[UNAIMED] + 1)
    return min(MOST_IMPORTANCE, ((1.0 - unaimed) / reach + unaimed) / unaimed)


@inlined
def _estimate(trees: SetTrees, edge: Index, unknown: float, made: Index, chance: float, goal: float) -> float:
    """What the move of an edge is worth after a playout in which `made` brought `goal`."""
    mean = trees.total[edge] / trees.visits[edge] if trees.visits[edge] > 0 else unknown
    return mean + (goal - mean) / chance if edge == made else mean


@stage
def _descend_lane(memory: SetMemory, lane: Index) -> bool:
    """Choose a move for every role of a lane in the trees; False if a role has none."""
    tables, arrays, lanes, rules = memory.tables, memory.arrays, memory.lanes, memory.rules
    leaves = False
    searched = memory.searched
    if rules.is_matching and lanes.key[searched.role[0], lane] == searched.key[0]:
        lanes.is_hit[lane] = True
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
        chance, ratio = 1.0, 1.0
        if at >= 0 and rules.is_matching:
            edge, chance, ratio = _match_edge(memory, at, lane)
        elif at >= 0:
            edge = _select_edge(memory, at, lane)
        if edge >= 0:
            if rules.is_matching:
                lanes.path_set[lane, lanes.depth[lane]] = at
                lanes.path_chance[lane, lanes.depth[lane]] = chance
                lanes.path_ratio[lane, lanes.depth[lane]] = ratio
            slot = np.int64(memory.trees.slot[edge])
            memory.trees.flight[edge] += 1
            lanes.path_edge[lane, lanes.depth[lane]] = edge
            lanes.path_role[lane, lanes.depth[lane]] = role
            lanes.depth[lane] += 1
        else:
            slot = _random_slot(memory, role, lane)
            leaves = leaves or role != rules.chance
            if slot < 0:
                return False
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


@inlined
def _read_goal(memory: SetMemory, role: Index, lane: Index) -> float:
    """The goal of a role in the lane's state; 0 unless there is exactly one."""
    tables, arrays = memory.tables, memory.arrays
    found = 0
    goal = 0.0
    for q in range(tables.goal_first[role], tables.goal_first[role + 1]):
        if literal_in_lane(arrays.value, tables.goal_literal[q], lane):
            found += 1
            goal = arrays.goal_value[q]
    return goal if found == 1 else 0.0


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
            for role in range(memory.tables.role_count):
                arrays.goal[role] = _read_goal(memory, role, lane)
            if memory.rules.is_matching:
                _learn_regrets(memory, lane)
            for i in range(lanes.depth[lane]):
                e = np.int64(lanes.path_edge[lane, i])
                goal = arrays.goal[np.int64(lanes.path_role[lane, i])]
                trees.visits[e] += 1
                trees.flight[e] -= 1
                trees.total[e] += goal
            counter[FINISHED] += 1
            counter[ROOT_VISITS] += 1
            if lanes.is_unaimed[0, lane]:
                counter[UNAIMED] += 1
                counter[UNAIMED_HITS] += lanes.is_hit[lane]
            counter[DEPTH_SUM] += lanes.depth[lane]
            counter[STEPS] += counter[TICK] - lanes.start[lane]
            clear_lane(mask, BUSY, lane)
            clear_lane(mask, IN_TREE, lane)
            lanes.free[counter[FREE_LANES]] = lane
            counter[FREE_LANES] += 1
            counter[LANES_BUSY] -= 1


@stage
def _observe(memory: SetMemory) -> None:
    """Extend the keys of all roles in the lanes that stay in the trees. SEES must be settled."""
    tables, arrays, lanes, rules = memory.tables, memory.arrays, memory.lanes, memory.rules
    for role in range(tables.role_count):
        if role == rules.chance:
            continue
        for w in range(word_count(arrays.mask)):
            inside = get_word(arrays.mask, IN_TREE, w)
            if inside == np.uint64(0):
                continue
            for lane in range(64 * w, 64 * w + 64):
                lanes.observed[lane] = np.uint64(0)
            for p in range(rules.percept_first[role], rules.percept_first[role + 1]):
                bits = literal_word(arrays.value, np.int64(tables.percept_literal[p]), w) & inside
                while bits != np.uint64(0):
                    lanes.observed[64 * w + lowest_bit(bits)] += rules.percept_number[p]
                    bits &= bits - np.uint64(1)
            while inside != np.uint64(0):
                lane = 64 * w + lowest_bit(inside)
                inside &= inside - np.uint64(1)
                move = np.int64(tables.slot_node[lanes.made[role, lane]]) - np.int64(tables.move0)
                observed = rules.move_number[move] + lanes.observed[lane]
                # In regret matching the order of observations counts.
                lanes.key[role, lane] = extended_key(lanes.key[role, lane], observed, rules.is_matching)


@stage
def _launch(memory: SetMemory) -> None:
    """Begin playouts in free lanes, as many as the visits of the root bear."""
    lanes, counter = memory.lanes, memory.counter
    most = max(1, counter[ROOT_VISITS] // memory.rules.ramp) if memory.rules.ramp > 0 else counter[LEFT]
    while counter[LEFT] > 0 and counter[FREE_LANES] > 0 and counter[LANES_BUSY] < most:
        counter[LEFT] -= 1
        counter[LANES_BUSY] += 1
        counter[FREE_LANES] -= 1
        lane = np.int64(lanes.free[counter[FREE_LANES]])
        for role in range(memory.tables.role_count):
            lanes.key[role, lane] = lanes.root_key[role, lane]
        lanes.is_unaimed[0, lane] = lanes.is_unaimed[1, lane]
        lanes.is_hit[lane] = not lanes.is_unaimed[1, lane]
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
    """Search for at most `ticks` ticks; returns whether nothing is in flight and nothing left to start."""
    tables, arrays, counter = memory.tables, memory.arrays, memory.counter
    value, mask = arrays.value, arrays.mask
    for _ in range(ticks):
        settle_apart(tables, value, 0, 2)
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
        moved = load(mask, BUSY)
        settle_apart(tables, value, 2, 4)
        _observe(memory)
        _launch(memory)
        step_lanes(tables, value, arrays.saved, arrays.root, ~moved)
        put_roots(tables, value, memory.lanes.root, ~moved)
        counter[TICK] += 1
        if counter[LANES_BUSY] == 0 and counter[LEFT] == 0:
            return True
    return False


@kernel
def add_choices(
    memory: SetMemory, role: int, first_row: int, keys: NDArray[np.uint64], count: Float64Array
) -> None:
    """Add how often a role has made each move in its sets: visits, or with regrets the sums of its shares.

    first_row   row of the role's first move
    keys        uint64[N]
    count       float64[N, M], by number of the role's move
    """
    tables, trees = memory.tables, memory.trees
    for i in range(keys.shape[0]):
        found, _ = _find_set(trees, key_of_set(keys[i], np.int64(role)))
        if found >= 0:
            first = np.int64(trees.first_edge[found])
            for e in range(first, first + np.int64(trees.edge_count[found])):
                move = np.int64(tables.slot_node[trees.slot[e]]) - first_row
                if 0 <= move < count.shape[1]:  # sets of two roles may agree by a collision
                    count[i, move] += trees.weight[e] if memory.rules.is_matching else trees.visits[e]
