"""How the memory of a search is shared out: nodes and edges of its tree, and what policies learn."""

from __future__ import annotations

from typing import NamedTuple

from ggp.kernels.lane_tables import LaneTables
from ggp.kernels.tree_allocation import (
    BYTES_PER_GRAM,
    BYTES_PER_PAIR,
    BYTES_PER_WEIGHED_MOVE,
    bytes_per_edge,
    bytes_per_node,
    bytes_per_table,
)
from ggp.search.options import MctsOptions

HISTORY_TICKS = 1024

NODE_SHARE = 0.3
"""Share of the memory for nodes; the rest is for edges."""

TABLE_SHARE = 0.4
"""Share of the memory for the tables of GRAVE, where there are any."""

MOST_GRAMS = 2**17
"""Room for N-grams of NST at most, and never over a quarter of the memory. Caches are fast."""


class TreeRoom(NamedTuple):
    """How many there may be of each in one tree; tables of GRAVE and N-grams are 0 where there is no use."""

    nodes: int
    edges: int
    tables: int
    grams: int


def memory_of_a_tree(options: MctsOptions) -> int:
    """Bytes for one tree and what is learned beside it."""
    return options.memory_mebibytes * 2**20 // options.threads


def past_bytes(tables: LaneTables, words: int) -> int:
    """What PAST takes beside one tree: pairs of facts and moves, the last states of lanes, and scratch."""
    states = HISTORY_TICKS * -(-tables.fluent_count // 64) * 64 * words * 8
    of_a_move = BYTES_PER_PAIR * tables.fluent_count + BYTES_PER_WEIGHED_MOVE * 64
    return states + of_a_move * tables.move_count


def has_room_for_past(tables: LaneTables, options: MctsOptions) -> bool:
    """Whether PAST leaves the tree half of the memory."""
    return 2 * past_bytes(tables, options.words) <= memory_of_a_tree(options)


def room_of_a_tree(tables: LaneTables, options: MctsOptions) -> TreeRoom:
    """What fits into the memory of one tree; room for the root and its edges there is in any case."""
    memory = memory_of_a_tree(options)
    moves = tables.move_count
    grams = 0
    if options.learns == "past":
        memory -= past_bytes(tables, options.words)
    if options.learns == "nst":
        grams = min(MOST_GRAMS, 1 << (memory // 4 // BYTES_PER_GRAM).bit_length() - 1)
        memory -= grams * BYTES_PER_GRAM
    table_share = TABLE_SHARE if options.has_grave else 0.0
    edges = int((1 - NODE_SHARE - table_share) * memory) // bytes_per_edge(options.has_rave)
    return TreeRoom(
        nodes=max(64, int(NODE_SHARE * memory) // bytes_per_node(tables.role_count)),
        edges=max(edges, 4 * moves + 64),
        tables=max(1, int(table_share * memory) // bytes_per_table(moves)) if options.has_grave else 0,
        grams=grams,
    )
