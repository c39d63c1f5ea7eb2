"""The memory of a tree search: plain arrays, one set per tree, in one NamedTuple that the kernels share.

Letters used in every shape: N nodes, E edges, R roles, M moves of all roles, L lanes, G lanes per
descent at most, D depth of a path at most, H ticks of history, T tables of GRAVE.

A *walker* is one descent in flight: up to G lanes that go down the tree together from the root state and
then play out, each on its own. When its last lane has ended the walker is free again. Without transpositions
a node is known by the way to it, and no state is stored.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggp.circuit.tables import Int32Array
from ggp.jit.entry_points import NO_ENTRY
from ggp.jit.rows import Rows
from ggp.lanes.keys.hashing import Words
from ggp.lanes.layout import LaneTables
from ggp.lanes.sparse_roulette import RouletteScratch
from ggp.search.mcts.policies.fast_kernels import FeatureCases

Float64Array = NDArray[np.float64]

ROOT = 0
MISSING = -1
"""No node, no walker, no edge."""

# `decider` of a node: the only role that has a choice, or one of these.
NOBODY, SEVERAL = -1, -2

# `proof` of a node.
UNPROVEN = -1

SAME_AS = -2
"""Tree.first_edge of a node that another one stands for: SAME_AS minus its number."""

# Indices of SearchArrays.mask.
BUSY, IN_TREE, CUT, MOVED = range(4)


class Settings(NamedTuple):
    """What a search does; see `ggp.search.mcts.options` for meaning and defaults.

    exploration      C of UCT, on the scale of the goals
    lanes_per_leaf   lanes that share one descent, 1..G: at most this many ...
    leaf_growth      ... and one for every leaf_growth visits of the root, at least one; 0: always the most
    ramp             lanes in flight are at most (root visits) // ramp, and at least 1, what
                     counter[LEAST_IN_FLIGHT] allows, or untried moves of the root; 0: no such limit
    step_limit       joint moves of a playout, then it is cut
    rave_k           k of RAVE or GRAVE; 0: neither
    grave_reference  playouts from which a table of GRAVE serves; 0: no GRAVE
    playout          UNIFORM, GIBBS, PAST or FAST
    learning         NO_MOVES, ALL_MOVES or TREE_MOVES
    temperature      tau of GIBBS and PAST
    refresh          playouts after which the weights of the moves are recomputed
    chance           index of the role `random`, or -1
    is_solving       1: prove nodes
    past_visits      PAST: visits of a fact-move pair below which it does not count
    choice_planes    `ggp.lanes.choose.choice_planes` of the game
    """

    exploration: float
    lanes_per_leaf: int
    leaf_growth: int
    ramp: int
    step_limit: int
    rave_k: float
    grave_reference: int
    playout: int
    learning: int
    temperature: float
    refresh: int
    chance: int
    is_solving: int
    past_visits: int
    choice_planes: int


class Tree(NamedTuple):
    """Nodes and edges: a tree, or a graph where nodes with the same state are one (`kernels.graph`).

    In a tree children have higher numbers than their parents.

    first_edge   int32[N, R+1]: edges of role r are first_edge[n, r] .. first_edge[n, r+1] - 1;
                 [n, 0] = MISSING where the node is not expanded yet, SAME_AS - m where node m stands for it
    decider      int32[N]: the only role with a choice, or NOBODY, or SEVERAL
    parent       int32[N]: of several the first; MISSING at the root, or if that was dropped
    came         int32[N, R]: the joint move that led here, as edges counted from the parent's first
    proof        int32[N]: proven goal of role 0, or UNPROVEN
    expanded     int32[N]: nodes in the order in which they were expanded
    bucket       int32[power of two]: open hash table of the children of nodes where SEVERAL decide
    move         int32[E]: move, counted over all roles
    visits       int32[E]: playouts that took the edge and have ended
    flight       int32[E]: playouts that took the edge and have not ended
    total        float64[E]: sum of the role's goals in `visits` playouts
    child        int32[E]: node behind the edge where one role decides, or MISSING
    goal         int32[E]: what the deciding role is proven to get behind the edge, or UNPROVEN
    rave_visits, rave_total    int32[E], float64[E]: the same of playouts that made the move here or later

    Of GRAVE; arrays of length 1 without it:
    playouts     int32[N]: playouts through the node
    table        int32[N]: the node's table of all moves as first, or MISSING
    table_node   int32[T]: whose table it is, or MISSING
    table_playouts             int32[T]: playouts that the table has taken in
    table_visits, table_total  int32[T, M], float64[T, M]: those that made the move, with its role's goals
    free_table   int32[T]: stack of the free tables

    Of a graph; arrays of length 1 in a tree:
    key          uint64[N*D]: keys of the expanded nodes, in the order of `expanded`
    slot         uint64[power of two]: hash table of `key`, of which the first counter[SLOTS] are in use
    """

    first_edge: Int32Array
    decider: Int32Array
    parent: Int32Array
    came: Int32Array
    proof: Int32Array
    expanded: Int32Array
    bucket: Int32Array
    move: Int32Array
    visits: Int32Array
    flight: Int32Array
    total: Float64Array
    child: Int32Array
    goal: Int32Array
    rave_visits: Int32Array
    rave_total: Float64Array
    playouts: Int32Array
    table: Int32Array
    table_node: Int32Array
    table_playouts: Int32Array
    table_visits: Int32Array
    table_total: Float64Array
    free_table: Int32Array
    key: Words
    slot: Words


class Walkers(NamedTuple):
    """Descents in flight, and which lane belongs to which. There are as many walkers as lanes.

    node        int32[L]: the node whose move is to be chosen; MISSING once out of the tree
    leaf        int32[L]: the last node reached, or MISSING where that is not in the tree
    reference   int32[L]: the table of GRAVE that serves where the walker stands, or MISSING
    depth       int32[L]: edges of the path
    size, left  int32[L]: lanes at the start, and not ended yet
    lane        int32[L, G]
    path_node   int32[L, D]
    path_edge   int32[L, D, R]
    descending  int32[L]: the walkers in the tree
    free        int32[L]: stack of the free walkers
    of_lane     int32[L]: walker of a lane, or MISSING
    start, out  int64[L]: by lane: tick of its first move, and of its first move outside the tree
    free_lane   int32[L]: stack of the free lanes
    """

    node: Int32Array
    leaf: Int32Array
    reference: Int32Array
    depth: Int32Array
    size: Int32Array
    left: Int32Array
    lane: Int32Array
    path_node: Int32Array
    path_edge: Int32Array
    descending: Int32Array
    free: Int32Array
    of_lane: Int32Array
    start: NDArray[np.int64]
    out: NDArray[np.int64]
    free_lane: Int32Array


class MoveStatistics(NamedTuple):
    """What playouts teach about moves, whatever the state.

    visits, total  float64[M]
    weight         int32[M]: what the roulette reads; 1 everywhere before anything is learned
    key            float64[M]: the means as of the last refresh; the best of the role where there is none
    best           float64[R]: the best of these means, -1 before the first refresh
    stamp          int64[M], epoch int64[1]: scratch of RAVE
    """

    visits: Float64Array
    total: Float64Array
    weight: Int32Array
    key: Float64Array
    best: Float64Array
    stamp: NDArray[np.int64]
    epoch: NDArray[np.int64]


class ContextStatistics(NamedTuple):
    """What playouts teach about moves in their context: facts or features.

    pair           float64[M, 2F]: PAST, visits and total of each fluent in turn, by move
    pair_mean      float64[M, F]: the mean goal, -1 below `past_visits` visits; read more than written
    cases          FAST: what moves are worth
    """

    pair: Float64Array
    pair_mean: Float64Array
    cases: FeatureCases


class WeighedMoves(NamedTuple):
    """Scratch of PAST: what 64 lanes can do, and what that is worth.

    fact         int32[64, F]: the fluents that hold in each lane; facts int64[64]: how many
    legal        int32[M], legal_lanes uint64[M]: the moves of one role that are legal in some lane, and where
    move         int32[M, 64], value float64[M, 64]: the legal moves of each lane, of the first role first
    first        int64[R+1, 64]: those of role r are first[r] .. first[r + 1] - 1; first[0] stays 0
    """

    fact: Int32Array
    facts: NDArray[np.int64]
    legal: Int32Array
    legal_lanes: NDArray[np.uint64]
    move: Int32Array
    value: Float64Array
    first: NDArray[np.int64]


class SearchArrays(NamedTuple):
    """Rows and counters of one tree search.

    value      K+1 rows: the circuit in all lanes
    scratch    rows for `choose`; roulette: scratch of draws by weight
    saved      rows for fluents whose next value cannot be written in place
    random     2 rows
    root       uint64[F]: all ones where the fluent holds in the root state, else 0
    mask       rows BUSY (lanes of a walker), IN_TREE (of a walker in the tree), CUT (those that end in this
               tick; scratch before), MOVED (those that made a move in this tick)
    planes     INDEX_PLANES rows, block uint64[64]: scratch
    history    int32[H, R, L]: the move made at a tick (modulo H), counted over all roles
    states     uint64[H, F words, L]: PAST: the state before the move of a tick; else empty
    counter    int64[COUNTERS]
    seed       uint64[1]: state of the generator that decides in the tree
    goal       float64[R]: scratch
    goal_value float64[*]: goal of each goal literal
    score      float64[M]: scratch of the values that UCT compares, of PAST, FAST and GRAVE
    option     int32[M]: scratch of GRAVE
    weighed    scratch of PAST
    first_move int64[R+1]
    """

    value: Rows
    scratch: Rows
    roulette: RouletteScratch
    saved: Rows
    random: Rows
    root: NDArray[np.uint64]
    mask: Rows
    planes: Rows
    block: NDArray[np.uint64]
    history: NDArray[np.int32]
    states: NDArray[np.uint64]
    counter: NDArray[np.int64]
    seed: NDArray[np.uint64]
    goal: Float64Array
    goal_value: Float64Array
    score: Float64Array
    option: Int32Array
    weighed: WeighedMoves
    first_move: NDArray[np.int64]


class StatePlanes(NamedTuple):
    """How to read the key of a state from a lane; P planes and D words per key, 0 planes: not needed.

    first_source   int32[P+1], source int32[*]: fluents of the planes, see `ggp.lanes.keys.packing.StateCode`
    key            uint64[D], scratch: the key read last
    """

    first_source: Int32Array
    source: Int32Array
    key: Words


class SearchMemory(NamedTuple):
    """Everything that one tree search works on.

    The types are the same whatever the policy; arrays that it does not need have length 1.
    Pieces that are compiled by themselves take only the members they need: every array is an argument of
    seven numbers.
    """

    tables: LaneTables
    arrays: SearchArrays
    tree: Tree
    walkers: Walkers
    statistics: MoveStatistics
    contexts: ContextStatistics
    planes: StatePlanes
    settings: Settings


class Parts(NamedTuple):
    """Entry points of the kernels that a search calls, by its policy and width; NO_ENTRY for none.

    choose    first half of a tick: settle, find the lanes that are over, choose in playouts
    record    enter the moves of the tick into the history
    finish    second half: settle what follows, and step
    learn     what a playout teaches about moves; learn_amaf, learn_context: as first moves, in their context
    draw      an untried edge, where the state decides; mix: all-moves-as-first means into those UCT compares
    look      an edge that wins at once; ahead: address of the `LookAhead` that it takes instead of the memory
    Arguments: `ggp.search.mcts.policies.parts`.
    """

    choose: int = NO_ENTRY
    record: int = NO_ENTRY
    finish: int = NO_ENTRY
    learn: int = NO_ENTRY
    learn_amaf: int = NO_ENTRY
    learn_context: int = NO_ENTRY
    draw: int = NO_ENTRY
    mix: int = NO_ENTRY
    look: int = NO_ENTRY
    ahead: int = NO_ENTRY


NO_PARTS = Parts()
"""For kernels that choose uniformly and finish a tick by themselves."""
