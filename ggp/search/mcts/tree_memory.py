"""Memory budget of a search: nodes and edges of its tree, and tables of its policy."""

from __future__ import annotations

from typing import NamedTuple

from ggp.lanes.layout import LaneTables
from ggp.search.mcts.kernels.allocation import (
    BYTES_PER_PAIR,
    BYTES_PER_WEIGHED_MOVE,
    HISTORY_TICKS,
    bytes_per_edge,
    bytes_per_node,
    bytes_per_state,
    bytes_per_table,
)
from ggp.search.mcts.options import MctsOptions
from ggp.search.mcts.policies.policy import GRAVE, RAVE, Need

NODE_SHARE, NODE_SHARE_OF_GRAPH = 0.3, 0.45
"""Share of the memory for nodes; the rest is for edges. In a graph they keep their states."""

TABLE_SHARE = 0.4
"""Share of the memory for the tables of GRAVE, with that policy."""


class TreeRoom(NamedTuple):
    """Capacity of one tree; `tables`: those of GRAVE, 0 with other policies."""

    nodes: int
    edges: int
    tables: int


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


def room_of_a_tree(tables: LaneTables, options: MctsOptions, state_words: int = 0) -> TreeRoom:
    """Capacity within the memory of one tree, which always has room for the root and its edges.

    state_words   D of the keys of a graph; 0: a tree
    """
    memory = memory_of_a_tree(options)
    moves = tables.move_count
    policy = options.parsed_policy
    has_grave = policy.mixes_in == GRAVE
    if policy.needs(Need.STATES):
        memory -= past_bytes(tables, options.words)
    table_share = TABLE_SHARE if has_grave else 0.0
    node_share = NODE_SHARE_OF_GRAPH if state_words else NODE_SHARE
    edges = int((1 - node_share - table_share) * memory) // bytes_per_edge(policy.mixes_in == RAVE)
    of_a_node = bytes_per_node(tables.role_count) + (bytes_per_state(state_words) if state_words else 0)
    return TreeRoom(
        nodes=max(64, int(node_share * memory) // of_a_node),
        edges=max(edges, 4 * moves + 64),
        tables=max(1, int(table_share * memory) // bytes_per_table(moves)) if has_grave else 0,
    )
