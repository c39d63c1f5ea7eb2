"""Fresh arrays for a tree search, and the memory they take; shapes: `ggp.search.tree.kernels.arrays`."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from ggp.circuit.tables import Int32Array
from ggp.jit.rows import ALL_ONES, make_rows, words_of
from ggp.lanes.choose import make_scratch, seeded_random
from ggp.lanes.indices import INDEX_PLANES
from ggp.lanes.layout import LaneTables
from ggp.lanes.roulette import make_legal_moves
from ggp.search.tree.kernels import counters as c
from ggp.search.tree.kernels.arrays import (
    EDGE_BLOCK,
    ContextStatistics,
    Float64Array,
    MoveStatistics,
    SearchArrays,
    Tree,
    Walkers,
    WeighedMoves,
)
from ggp.search.tree.kernels.graph import MIN_SLOTS
from ggp.search.tree.options import MctsOptions
from ggp.search.tree.policies.fast_kernels import no_cases
from ggp.search.tree.policies.policy import RAVE, Policy

HISTORY_TICKS = 1024
"""A power of two. Of longer playouts only the last moves are learned from."""

ROOT_LOGS = 8192
"""Numbers of visits whose logarithms are computed beforehand: those of most nodes."""

BYTES_PER_PAIR = 24
BYTES_PER_WEIGHED_MOVE = 12

NODE_SHARE, NODE_SHARE_OF_GRAPH = 0.3, 0.45
"""Share of the memory for nodes; the rest is for edges. In a graph they keep their states."""


def memory_of_a_tree(options: MctsOptions) -> int:
    """Bytes for one tree and its learned tables."""
    return options.memory_mebibytes * 2**20 // options.threads


def past_bytes(tables: LaneTables, words: int) -> int:
    """Bytes of PAST next to one tree: pairs of facts and moves, the last states of lanes, scratch."""
    states = HISTORY_TICKS * -(-tables.fluent_count // 64) * 64 * words * 8
    of_a_move = BYTES_PER_PAIR * tables.fluent_count + BYTES_PER_WEIGHED_MOVE * 64
    return states + of_a_move * tables.move_count


def has_room_for_past(tables: LaneTables, options: MctsOptions) -> bool:
    """Whether PAST leaves the tree half of the memory."""
    return 2 * past_bytes(tables, options.words) <= memory_of_a_tree(options)


def make_tree(tables: LaneTables, options: MctsOptions, state_words: int = 0) -> Tree:
    """A tree as large as its memory allows, with room for the root and its edges; call `clear_tree` first.

    state_words   D of the keys of a graph; 0: a tree
    Memory is used only as the tree grows.
    """
    policy = options.parsed_policy
    has_rave = policy.mixes_in == RAVE
    roles, moves = tables.role_count, tables.move_count
    memory = memory_of_a_tree(options)
    if policy.has_states:
        memory -= past_bytes(tables, options.words)
    # Bytes of a node and an edge as below; of a node with its share of the hash tables.
    of_a_node = 4 * (roles + 1) + 4 * 4 + 4 * roles + 4 * 4 + (8 * state_words + 4 * 8 if state_words else 0)
    of_an_edge = 28 + (12 if has_rave else 0)
    node_share = NODE_SHARE_OF_GRAPH if state_words else NODE_SHARE
    nodes = max(64, int(node_share * memory) // of_a_node)
    edges = max(int((1 - node_share) * memory) // of_an_edge, 4 * moves + 64) + EDGE_BLOCK
    buckets = 1 << max(4, (2 * nodes - 1).bit_length())
    raved = edges if has_rave else 1
    return Tree(
        first_edge=np.zeros((nodes, roles + 1), np.int32),
        decider=np.zeros(nodes, np.int32),
        parent=np.zeros(nodes, np.int32),
        came=np.zeros((nodes, roles), np.int32),
        proof=np.zeros(nodes, np.int32),
        expanded=np.zeros(nodes, np.int32),
        bucket=np.zeros(buckets, np.int32),
        move=np.zeros(edges, np.int32),
        visits=np.zeros(edges, np.int32),
        started=np.zeros(edges, np.int32),
        total=np.zeros(edges, np.float64),
        child=np.zeros(edges, np.int32),
        goal=np.zeros(edges, np.int32),
        rave_visits=np.zeros(raved, np.int32),
        rave_total=np.zeros(raved, np.float64),
        key=np.zeros(max(1, nodes * state_words), np.uint64),
        slot=np.zeros(max(MIN_SLOTS, buckets) if state_words else 1, np.uint64),
    )


def make_walkers(roles: int, words: int, group: int, depth: int) -> Walkers:
    """Walkers for the lanes of `words` words, all free after `abandon`."""
    lanes = 64 * words
    of_lanes: dict[str, Any] = {name: np.zeros(lanes, np.int32) for name in Walkers._fields}
    return Walkers(**of_lanes)._replace(
        lane=np.zeros((lanes, group), np.int32),
        lanes=make_rows(lanes, words),
        path_node=np.zeros((lanes, depth), np.int32),
        path_edge=np.zeros((lanes, depth, roles), np.int32),
        start=np.zeros(lanes, np.int64),
        out=np.zeros(lanes, np.int64),
    )


def make_statistics(tables: LaneTables, policy: Policy) -> MoveStatistics:
    """Empty statistics, with room for all weights, and for the rest if the policy learns."""
    learned = tables.move_count if policy.has_statistics else 1
    return MoveStatistics(
        visits=np.zeros(learned, np.float64),
        total=np.zeros(learned, np.float64),
        weight=np.ones(tables.move_count, np.int32),
        key=np.zeros(learned, np.float64),
        best=np.full(tables.role_count, -1.0),
        stamp=np.zeros(learned, np.int64),
        epoch=np.zeros(1, np.int64),
    )


def make_contexts(tables: LaneTables, policy: Policy, words: int) -> ContextStatistics:
    """Empty statistics, with room for PAST's pairs if the policy has them."""
    pairs = (tables.move_count, tables.fluent_count) if policy.has_states else (1, 1)
    return ContextStatistics(
        pair=np.zeros((pairs[0], 2 * pairs[1]), np.float64),
        pair_mean=np.full(pairs, -1.0),
        cases=no_cases(words),
    )


@cache
def _root_logs() -> Float64Array:
    return np.sqrt([0.0, *map(math.log, range(1, ROOT_LOGS))])


def _make_weighed_moves(tables: LaneTables, is_used: bool) -> WeighedMoves:
    moves = tables.move_count if is_used else 1
    return WeighedMoves(
        fact=np.zeros((64, tables.fluent_count if is_used else 1), np.int32),
        facts=np.zeros(64, np.int64),
        legal=np.zeros(moves, np.int32),
        legal_lanes=np.zeros(moves, np.uint64),
        move=np.zeros((moves, 64), np.int32),
        value=np.zeros((moves, 64), np.float64),
        first=np.zeros((tables.role_count + 1, 64), np.int64),
    )


def make_search_arrays(
    tables: LaneTables,
    goal_value: Float64Array,
    first_move: Int32Array,
    words: int,
    *,
    seed: int,
    stream: int,
    has_states: bool,
) -> SearchArrays:
    """Rows of `words` words; a history of HISTORY_TICKS ticks."""
    history = HISTORY_TICKS
    sequence = np.random.SeedSequence([seed & (2**64 - 1), stream, 1])  # another than of the random rows
    value = make_rows(tables.row_count, words)
    words_of(value)[0] = ALL_ONES
    lanes = 64 * words
    state_words = (tables.fluent_count + 63) // 64 if has_states else 1
    return SearchArrays(
        value=value,
        scratch=make_scratch(tables, words),
        legal=make_legal_moves(len(tables.slot_node), words),
        saved=make_rows(len(tables.next_saved) + 1, words),
        random=seeded_random(words, seed, stream),
        root=np.zeros(tables.fluent_count, np.uint64),
        mask=make_rows(4, words),
        planes=make_rows(INDEX_PLANES, words),
        block=np.zeros(64, np.uint64),
        history=np.zeros((history, tables.role_count, lanes), np.int32),
        states=np.zeros((history if has_states else 1, state_words, lanes if has_states else 1), np.uint64),
        counter=np.zeros(c.COUNTERS, np.int64),
        seed=sequence.generate_state(1, np.uint64).astype(np.uint64),
        goal=np.zeros(tables.role_count, np.float64),
        goal_value=goal_value,
        root_log=_root_logs(),
        score=np.zeros(tables.move_count + EDGE_BLOCK, np.float64),
        option=np.zeros(tables.move_count + 1, np.int32),
        weighed=_make_weighed_moves(tables, has_states),
        first_move=first_move.astype(np.int64),
    )
