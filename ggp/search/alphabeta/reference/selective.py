"""Selective search: which moves are searched deeper, less deep, or not at all.

All of these change which tree is searched while there is a horizon, so that the value of the cut-off tree is
no longer exact; none changes a search to the end.
"""

from __future__ import annotations

from ggp.search.alphabeta.estimate import SCALE
from ggp.search.alphabeta.events import EventKind
from ggp.search.alphabeta.reference.node import INFINITE, MAX_PLIES, Bound, Memory, Node
from ggp.search.alphabeta.reference.position import Position

REDUCED_FROM_DEPTH = 4
UNREDUCED_MOVES = 3
REDUCTION = 2
"""Two plies: one would let the other side move at the horizon, which many estimates judge differently."""
PRUNED_FROM_DEPTH = 2
SINGULAR_FROM_DEPTH = 4
SINGULAR_MARGIN = 300
MAX_EXTENDED = 2
"""Extensions end at this multiple of the depth asked for."""


def is_reduced(memory: Memory, node: Node) -> bool:
    """Late-move reduction: moves this late in the order are first searched REDUCTION plies less deep.

    A result up to alpha counts as an upper bound, although no search of full depth showed it; a better one is
    searched again at full depth. Source: Romstad, "An introduction to late move reductions" (2006), there by
    one ply.
    """
    return (
        memory.refinements.late_move_reduction
        and node.has_horizon
        and node.depth >= REDUCED_FROM_DEPTH
        and node.tried > UNREDUCED_MOVES
        and node.best > -INFINITE
    )


def is_pruned(memory: Memory, node: Node) -> bool:
    """Forward pruning: only the first `kept_moves` of a node are searched. The result is then a lower bound
    only. Source: Shannon's type B strategy (1950); Greenblatt et al. (1967)."""
    kept = memory.refinements.kept_moves
    return 0 < kept < node.tried and node.has_horizon and node.depth >= PRUNED_FROM_DEPTH


def may_extend(memory: Memory, node: Node) -> bool:
    """Whether a node this deep may be extended; not in a search to the end, nor without limit."""
    return node.has_horizon and 0 < node.ply < min(MAX_EXTENDED * memory.root_depth, MAX_PLIES - 1)


def extend_forced(memory: Memory, node: Node) -> None:
    """Forced extension: an only move costs no depth. Source: Slate and Atkin (1977)."""
    is_forced = len(node.children) == 1 and node.excluded is None
    if memory.refinements.forced_extension and is_forced and may_extend(memory, node):
        node.extends = "all"


def needs_singular_test(memory: Memory, node: Node) -> bool:
    """Whether the table's move deserves a singular test: a deep search found it good enough."""
    entry = memory.table.get(node.position.state)
    return (
        memory.refinements.singular_extension
        and entry is not None
        and not entry.is_resolved
        and entry.bound != Bound.UPPER
        and entry.depth >= node.depth - 3
        and entry.choice is not None
        and node.depth >= SINGULAR_FROM_DEPTH
        and node.excluded is None
        and not node.extends
        and may_extend(memory, node)
    )


def singular_test(memory: Memory, node: Node) -> Node:
    """The search that shows whether all other moves fail low by a margin below the table's score.

    Half as deep, with a null window; if its result is below beta, the table's move is singular and searched
    one ply deeper. Source: Anantharaman, Campbell and Hsu (1990).
    """
    bound = memory.table[node.position.state].score - SINGULAR_MARGIN
    depth = node.depth // 2
    return Node(node.position, node.ply + 1, depth, bound - 1, bound, excluded=node.table_choice)


def extension(memory: Memory, node: Node, child: Position) -> int:
    """Plies added to the search of `child`: by the node's extension, or by quiescence.

    Quiescence search: at the horizon, a move that changes the static score by the margin (a capture, say) is
    searched on, as the score of an unquiet position says little. Source: Shannon (1950); Beal (1990).
    """
    if node.extends == "all" or (node.extends == "table" and child.choice == node.table_choice):
        memory.show(EventKind.EXTENSION, node, child)
        return 1
    margin = SCALE * memory.refinements.quiescence
    if node.extends or not margin or node.depth > 1 or not may_extend(memory, node):
        return 0
    if child.end is not None or abs(child.score - node.position.score) < margin:
        return 0
    memory.show(EventKind.EXTENSION, node, child)
    return 1
