"""The memory of a tree search: plain arrays, one set per tree, in one NamedTuple that the kernels share.

Letters used in every shape: N nodes, E edges, R roles, M moves of all roles, L lanes, G lanes per
descent at most, D depth of a path at most, H ticks of history.

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
from ggp.lanes.keys.key_table import Words
from ggp.lanes.layout import LaneTables
from ggp.lanes.roulette import LegalMoves
from ggp.search.tree.policies.fast_kernels import FeatureCases

Float64Array = NDArray[np.float64]
Int64Array = NDArray[np.int64]

ROOT = 0
MISSING = -1
"""No node, no walker, no edge."""

NO_ROLE, SEVERAL = -1, -2
"""Tree.decider where no role, or more than one, has a choice."""

UNPROVEN = -1
"""Tree.proof and Tree.goal."""

SAME_AS = -2
"""Tree.first_edge of a node that another one stands for: SAME_AS minus its number."""

EDGE_BLOCK = 8
"""Edges that are computed at a time, which takes as long as one; the arrays have room for as many more."""

BUSY, IN_TREE, CUT, MOVED = range(4)
"""Rows of SearchArrays.mask: lanes of a walker; of a walker in the tree; those that end in this tick (scratch
before); those that made a move in it."""


class Settings(NamedTuple):
    """Settings of a search; see `ggp.search.tree.options` for meaning and defaults.

    Lanes in flight are at most (root visits) // ramp, and at least 1, what counter[MIN_IN_FLIGHT] allows,
    or untried moves of the root. At most lanes_per_leaf of them share a descent, and one for every
    leaf_growth visits of the root, at least one.
    """

    exploration: float  # C of UCT, on the scale of the goals
    lanes_per_leaf: int  # 1..G
    leaf_growth: int  # 0: always lanes_per_leaf
    ramp: int  # 0: no limit in flight
    step_limit: int  # joint moves of a playout, then it is cut
    rave_k: float  # k of RAVE; 0: without
    playout: int  # UNIFORM, GIBBS, PAST or FAST
    learning: int  # NO_MOVES, ALL_MOVES or TREE_MOVES
    temperature: float  # tau of GIBBS and PAST
    refresh: int  # playouts after which, at the end of a tick, the weights of the moves are recomputed
    chance: int  # index of the role `random`, or -1
    is_solving: int  # 1: prove nodes
    choice_planes: int  # `ggp.lanes.choose.choice_planes` of the game


class Tree(NamedTuple):
    """Nodes and edges: a tree, or a graph where nodes with the same state are one (`kernels.graph`).

    In a tree children have higher numbers than their parents. Edges of role r at node n are
    first_edge[n, r] .. first_edge[n, r+1] - 1; first_edge[n, 0] is MISSING where the node is not expanded
    yet, and SAME_AS - m where node m stands for it.
    """

    first_edge: Int32Array  # [N, R+1]
    decider: Int32Array  # [N] the only role with a choice, or NO_ROLE, or SEVERAL
    parent: Int32Array  # [N] of several the first; MISSING at the root, or if that was dropped
    came: Int32Array  # [N, R] the joint move that led here, as edges counted from the parent's first
    proof: Int32Array  # [N] proven goal of role 0, or UNPROVEN
    expanded: Int32Array  # [N] nodes in the order in which they were expanded
    bucket: Int32Array  # [power of two] hash table of the children of nodes where SEVERAL decide

    move: Int32Array  # [E] counted over all roles
    visits: Int32Array  # [E] playouts that took the edge and have ended
    started: Int32Array  # [E] playouts that took the edge, whether they have ended or not
    total: Float64Array  # [E] sum of the role's goals in `visits` playouts
    child: Int32Array  # [E] node behind the edge where one role decides, or MISSING
    goal: Int32Array  # [E] what the deciding role is proven to get behind the edge, or UNPROVEN
    rave_visits: Int32Array  # [E] playouts that made the move here or later
    rave_total: Float64Array  # [E]

    # Of a graph; arrays of length 1 in a tree.
    key: Words  # [N*D] keys of the expanded nodes, in the order of `expanded`
    slot: Words  # [power of two] hash table of `key`; the first counter[SLOTS] are in use


class Walkers(NamedTuple):
    """Descents in flight, and which lane belongs to which. There are as many walkers as lanes."""

    node: Int32Array  # [L] the node whose move is to be chosen; MISSING once out of the tree
    leaf: Int32Array  # [L] the last node reached, or MISSING where that is not in the tree
    depth: Int32Array  # [L] edges of the path
    size: Int32Array  # [L] lanes at the start
    left: Int32Array  # [L] lanes not ended yet
    lane: Int32Array  # [L, G]
    lanes: Rows  # L: the same as a row
    path_node: Int32Array  # [L, D]
    path_edge: Int32Array  # [L, D, R]
    descending: Int32Array  # [L] the walkers in the tree
    free: Int32Array  # [L] stack of the free walkers
    of_lane: Int32Array  # [L] walker of a lane, or MISSING
    start: Int64Array  # [L] tick of the first move
    out: Int64Array  # [L] tick of the first move outside the tree
    free_lane: Int32Array  # [L] stack of the free lanes


class MoveStatistics(NamedTuple):
    """Statistics of moves, whatever the state."""

    visits: Float64Array  # [M]
    total: Float64Array  # [M]
    weight: Int32Array  # [M] what the roulette reads; 1 everywhere before anything is learned
    key: Float64Array  # [M] the means as of the last refresh; the best of the role where there is none
    best: Float64Array  # [R] the best of these means, -1 before the first refresh
    stamp: Int64Array  # [M] scratch of RAVE
    epoch: Int64Array  # [1] scratch of RAVE


class ContextStatistics(NamedTuple):
    """Statistics of moves in their context: facts or features."""

    pair: Float64Array  # [M, 2F] PAST: visits and total of each fluent in turn, by move
    pair_mean: Float64Array  # [M, F] the mean goal, -1 below PAST_VISITS visits; read more than written
    cases: FeatureCases  # FAST: what moves are worth


class WeighedMoves(NamedTuple):
    """Scratch of PAST: the legal moves of 64 lanes, and their values."""

    fact: Int32Array  # [64, F] the fluents that hold in each lane
    facts: Int64Array  # [64] how many
    legal: Int32Array  # [M] the moves of one role that are legal in some lane
    legal_lanes: Words  # [M] where
    move: Int32Array  # [M, 64] the legal moves of each lane, of the first role first
    value: Float64Array  # [M, 64]
    first: Int64Array  # [R+1, 64] those of role r are first[r] .. first[r + 1] - 1; first[0] stays 0


class SearchArrays(NamedTuple):
    """Rows and counters of one tree search; K rows of the circuit."""

    value: Rows  # K+1: the circuit in all lanes
    scratch: Rows  # for `choose`; the last F are those of the root state
    legal: LegalMoves  # scratch of draws by weight
    saved: Rows  # for fluents whose next value cannot be written in place
    random: Rows  # 2
    root: Words  # [F] all ones where the fluent holds in the root state, else 0
    mask: Rows  # BUSY, IN_TREE, CUT, MOVED
    planes: Rows  # INDEX_PLANES of scratch
    block: Words  # [64] scratch
    history: Int32Array  # [H, R, L] the move made at a tick (modulo H), counted over all roles
    states: Words  # [H, F words, L] PAST: the state before the move of a tick; else empty
    counter: Int64Array  # [COUNTERS]
    seed: Words  # [1] state of the generator that decides in the tree
    goal: Float64Array  # [R] scratch
    goal_value: Float64Array  # goal of each goal literal
    root_log: Float64Array  # [ROOT_LOGS] root_log[n] = sqrt(ln n), for small n
    score: Float64Array  # [M + EDGE_BLOCK] scratch of the values that UCT compares, of PAST and FAST
    option: Int32Array  # [M + 1] scratch of lists of moves
    weighed: WeighedMoves  # scratch of PAST
    first_move: Int64Array  # [R+1]


class StatePlanes(NamedTuple):
    """How to read the key of a state from a lane; P planes and D words per key, 0 planes: not needed. Fluents
    of the planes: see `ggp.lanes.keys.state_code.StateCode`."""

    first_source: Int32Array  # [P+1]
    source: Int32Array
    key: Words  # [D] scratch: the key read last


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
    """Entry points of the kernels that a search calls, by its policy and width; NO_ENTRY for none. Arguments:
    `ggp.search.tree.policies.parts`."""

    choose: int = NO_ENTRY  # first half of a tick: settle, find the lanes that are over, choose in playouts
    record: int = NO_ENTRY  # enter the moves of the tick into the history
    finish: int = NO_ENTRY  # second half: settle what follows, and step
    learn: int = NO_ENTRY  # what a playout teaches about moves
    refresh: int = NO_ENTRY  # the weights of moves, after ticks in which as many playouts as it takes ended
    learn_amaf: int = NO_ENTRY  # the same as first moves
    learn_context: int = NO_ENTRY  # the same in their context
    draw: int = NO_ENTRY  # an untried edge, where the state decides
    mix: int = NO_ENTRY  # all-moves-as-first means into those UCT compares


NO_PARTS = Parts()
"""For kernels that choose uniformly and finish a tick by themselves."""
