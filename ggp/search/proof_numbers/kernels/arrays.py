"""The memory of a proof-number search.

Letters: D words per key, F facts, V symmetries of the game, L = 256 lanes, N walkers, Y plies of a stack,
A places of an arena, S entries of the table.

A question is whether role 0 gets at least some goal. `proof` is the least number of leaves that must be
answered with yes to prove it, `disproof` with no; 0 and INFINITE are final.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggp.circuit.tables import Int32Array
from ggp.jit.rows import Rows
from ggp.lanes.keys.state_code import StateCode
from ggp.lanes.layout import LaneTables
from ggp.search.alphabeta.kernels.distance import GoalFormula
from ggp.search.alphabeta.kernels.side_circuit import SideCircuit

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]

WORDS = 4
"""Of a row. With 8 a tick takes longer, and more walkers, who search more, are needed to fill the lanes."""
LANES = 64 * WORDS
WORD_BITS = WORDS.bit_length() - 1
INFINITE = (1 << 22) - 1
BUCKET = 4
"""Entries of the table that a hash may lead to."""

# Bits of a child's note. Its count of moves, minus one, follows from COUNT_BIT on.
DECIDED_BIT, YES_BIT, MOVER_BIT, COUNT_BIT = range(4)
NOTE_PLANES = 16
COUNT_PLANES = NOTE_PLANES - COUNT_BIT
THREAT_PLANES = NOTE_PLANES // 2
"""Binary digits of a count of threats, of which there are two in the notes of states that are scored."""
THREAT_WORTH = 16
"""Hundredths of a goal for each threat, of which there are at most 255."""

# Indices of SearchMemory.option. GOAL: the least goal that means yes; QUESTION: its number in the table.
# ORDERED: whether walkers go depth first in the order of the scores; FIRST_WALKERS: how many begin then;
# WITH_LANES: whether they may hand tasks to lanes.
OPTIONS = 7
GOAL, QUESTION, NODE_LIMIT, WALKERS, ORDERED, FIRST_WALKERS, WITH_LANES = range(OPTIONS)

# Indices of SearchMemory.counter. NODES: all of whose children were made; LEAVES: children that were decided
# then. BEST: the legal move at the root that decides, counted among its mover's; -1: none does. STORED:
# entries of the table. FIRST: the walker that is served first. PENDING: records in OrderMemory.pending.
COUNTERS = 12
NODES, LEAVES, CHILDREN, TICKS, ANSWER, BEST, STORED, STOP, FAULT, FIRST, PENDING, LANE_NODES = range(
    COUNTERS
)
MOST_PENDING = 256
TASK_WORDS = 4
"""Of a row where every lane has a task: more code than fits into the first cache runs in each step, so that
wide rows pay."""
TASK_LANES = 64 * TASK_WORDS
TASK_BITS = TASK_WORDS.bit_length() - 1
DIGITS = 4
"""Binary digits of a depth in a task, whose own state has depth 0."""
FRAME = 8
"""Numbers in a frame of a search in order: a cache line."""
# Values of counter[ANSWER].
OPEN, YES, NO = range(3)
# Values of counter[FAULT].
NO_FAULT, SIMULTANEOUS, NO_MOVES, NO_GOAL_VALUE, NO_ROOM, REPETITION = range(6)


class ChildMemory(NamedTuple):
    """What makes children; rows of WORDS words."""

    tables: LaneTables
    code: StateCode
    node: Rows  # a row per node of the circuit: the parent, with one of its moves
    child: Rows  # the same of the child
    keys: Rows  # 64*D rows: keys of parents, then of children; word i of block d is word d of lane i's key
    following: (
        Int32Array  # int32[V, F]: the literals of the next facts of all images of a state, itself first
    )
    image: Rows  # 64*D rows: planes of the keys of images
    note: Rows  # NOTE_PLANES rows: which legal move to make, then the notes of children
    note_of: NDArray[np.uint16]  # uint16[L]: the same memory, see `note_place`
    scratch: Rows  # for counting and selecting moves
    live: Rows  # 1 row: the lanes in use
    choice_planes: int
    ends: SideCircuit  # which children the role to move wins at once, or loses after each of its moves
    bounds: SideCircuit  # which goals of role 0 children can still end with
    formula: GoalFormula  # the order of children
    degree: Rows  # its parts, a row of TOGETHER words each
    distance: Int32Array  # int32[L]: the scores of states in lanes
    threats: SideCircuit  # the digits of how many threats the roles have, where these are counted instead


class LaneMemory(NamedTuple):
    """What searches a task in every lane: `ggp.search.proof_numbers.kernels.lane_search`."""

    rows: Rows  # of the circuit of a step; see `ggp.search.proof_numbers.lane_circuit`
    fresh: Rows  # scratch of `put_tasks`
    keys: Rows  # 64*D rows: keys of tasks
    code: StateCode
    first_fact: int  # row of the first fact
    end_state: int  # end of the rows that are 0 in a task's own state, which follow the facts
    goal_value: Int32Array  # goals of role 0
    entry: Ints  # addresses of machine code, by TASK_BITS; 0: none yet


class SearchMemory(NamedTuple):
    """All arrays of a search. Frames of walker k lie from k*Y on, its arena of children from k*A on; place 0
    of each arena holds the root."""

    maker: ChildMemory
    table: Words  # uint64[S*(D+1)], see `ggp.search.proof_numbers.kernels.table`
    ply: Ints  # int64[N]: the node that a walker waits for, or works on
    first_lane: Ints  # int64[N]: where its children are made in this tick ...
    lanes: Ints  # int64[N]: ... and how many of them
    visits: Ints  # int64[N]: nodes entered
    chosen: Ints  # int64[N]: the child whose table entry is on the way to the cache
    moving: Ints  # int64[N]: the walkers that have not found their next node in this tick
    place: Ints  # frames, int64[N*Y]: the node's place in the arena
    first: Ints  # where its children begin ...
    children: Ints  # ... how many there are ...
    made: Ints  # ... and how many have been made
    most_proof: Ints  # the numbers at which the walker leaves it
    most_disproof: Ints
    work: Ints  # nodes entered below it
    key: Words  # arena, uint64[N*A*D + 1]
    hash: Words  # uint64[N*A]
    data: Words  # uint64[N*A]: its numbers and walkers, as in the table
    note: Int32Array  # int32[N*A]
    option: Ints
    counter: Ints
    buckets: int  # of the table, a power of two
    entry_words: int  # of an entry of the table, E; the last one is the data
    key_mask: np.uint64  # the bits of the data that belong to the key
    plies: int  # Y
    places: int  # A


class OrderMemory(NamedTuple):
    """All arrays of a search in order, which see also: `ggp.search.proof_numbers.kernels.in_order`."""

    maker: ChildMemory
    table: Words
    ply: Ints
    first_lane: Ints
    lanes: Ints
    chosen: Ints  # int64[N]: the record of the child whose table entry is on the way to the cache
    moving: Ints
    frame: Ints  # int64[N*Y*8], a cache line each
    path: Words  # uint64[Y*N]: the hash of each walker's node on a ply, 0 below the one that it works on
    cut: Ints  # int64[N]: the highest ply of a walker's nodes that another one has answered; Y: none
    child: Words  # arena, uint64[N*A*(E+2)]: records; the first one of each walker is the root
    pending: Words  # uint64[MOST_PENDING*(E+3)]: what walkers have left and the table does not hold yet
    option: Ints
    counter: Ints
    buckets: int
    entry_words: int
    key_mask: np.uint64
    plies: int
    places: int
    rest: LaneMemory  # what searches the last plies without the table
    owner: Ints  # int64[L]: the walker that waits for the task of a lane; -1: none
    asked: Ints  # int64[L]: the move that leads to the task's state
    born: Ints  # int64[L]: steps made when it began
    task: Words  # uint64[L*(E+1)]: its key and hash
    waiting: Ints  # int64[N]: whether a walker waits for tasks
    tasks: Ints  # int64[N]: how many of them are in lanes
    front: Ints  # int64[FRONTS]: see `in_order`


AnyMemory = SearchMemory | OrderMemory
