"""The search itself: fail-soft alpha-beta in its negamax form, with principal variation search."""

from __future__ import annotations

from ggp.search.alphabeta.events import EventKind
from ggp.search.alphabeta.reference import bounds, ordering, selective
from ggp.search.alphabeta.reference.node import INFINITE, MAX_PLIES, Memory, Node
from ggp.search.alphabeta.reference.position import Position, signed


def negamax(memory: Memory, node: Node) -> None:
    """Search a node whose position is not terminal; `node.best` is the result r, for its mover.

    With the window (alpha, beta) at the beginning, r bounds v, the value of the tree cut off `node.depth`
    plies below and scored there statically:

        r <= alpha   then v <= r   (fail low)
        r >= beta    then v >= r   (fail high)
        else         v = r

    r may lie outside the window (fail-soft; Fishburn 1983). If `node.is_open` is False the same holds for the
    value of the game. Source: Knuth and Moore (1975). Raises StoppedError and AlphaBetaError.
    """
    memory.visit(node)
    if memory.refinements.transpositions and bounds.answer_from_table(memory, node):
        memory.hits += 1
        return
    node.children = memory.children_of(node)
    if not is_cut_off(memory, node):
        ordering.rank_children(memory, node)
        selective.extend_forced(memory, node)
        if selective.needs_singular_test(memory, node):
            test = selective.singular_test(memory, node)
            negamax(memory, test)
            node.extends = "table" if test.best < test.beta else ""
        search_children(memory, node)
    bounds.store(memory, node)
    memory.show(EventKind.LEAVE, node, score=node.best)


def is_cut_off(memory: Memory, node: Node) -> bool:
    """Whether goal bounds or table entries of the children answer the node, unless it is the root."""
    use = memory.refinements
    if node.ply == 0:
        return False
    if memory.goal_range is not None and bounds.cut_off_by_goals(memory, node):
        return True
    return use.enhanced_cutoffs and use.transpositions and bounds.cut_off_by_table(memory, node)


def search_children(memory: Memory, node: Node) -> None:
    """Score the children in order until one reaches beta."""
    mover = node.position.mover
    while (child := ordering.next_child(memory, node)) is not None:
        left = node.depth - 1 + selective.extension(memory, node, child)
        if child.end is not None:
            score, is_open = memory.leaf(node, child, signed(child.end, mover)), False
        elif left <= 0 or node.ply + 1 >= MAX_PLIES:
            score, is_open = memory.leaf(node, child, signed(child.score, mover)), True
        elif selective.is_pruned(memory, node):
            node.is_open = True
            memory.show(EventKind.PRUNED, node, child)
            return
        else:
            score, is_open = search_child(memory, node, child, left)
        if take_score(memory, node, child, score, is_open=is_open):
            return


def take_score(memory: Memory, node: Node, child: Position, score: int, *, is_open: bool) -> bool:
    """Count the score of a child; return whether it causes a cutoff. A cutoff rests on this child alone, so
    the node is as open as the child; otherwise it is open if any is."""
    node.is_open |= is_open
    if score > node.best:
        node.best, node.best_choice = score, child.choice
    node.alpha = max(node.alpha, score)
    if score < node.beta:
        return False
    node.is_open = is_open
    memory.show(EventKind.CUTOFF, node, child, score)
    ordering.reward_cutoff(memory, node, child.choice)
    return True


def search_child(memory: Memory, node: Node, child: Position, left: int) -> tuple[int, bool]:
    """The score of a child for the node's mover, and whether it is open.

    Principal variation search: once a move has a score, the others only have to fail low with the null window
    (alpha, alpha + 1). One that fails high there is searched again with the whole window, unless its score
    reaches beta. Sources: Pearl's Scout (1980); Marsland and Campbell (1982); Reinefeld's Negascout (1983),
    which opens the second window at the score instead of alpha.
    """
    alpha, beta = node.alpha, node.beta
    late = selective.is_reduced(memory, node)
    if late:
        memory.show(EventKind.REDUCTION, node, child)
        score, is_open = child_score(memory, node, child, left - selective.REDUCTION, alpha + 1)
        if score <= alpha:
            return score, is_open
        memory.show(EventKind.RE_SEARCH, node, child, score)
    scouts = memory.refinements.principal_variation and node.best > -INFINITE and beta - alpha > 1
    if late or scouts:
        score, is_open = child_score(memory, node, child, left, alpha + 1)
        if score <= alpha or score >= beta:
            return score, is_open
        memory.show(EventKind.RE_SEARCH, node, child, score)
    return child_score(memory, node, child, left, beta)


def child_score(memory: Memory, node: Node, child: Position, depth: int, beta: int) -> tuple[int, bool]:
    """Search a child with the window (node.alpha, beta); its score for the node's mover. Negamax: where the
    other role moves, the window and the score change sign."""
    window = (node.alpha, beta)
    is_same = child.mover == node.position.mover
    low, high = window if is_same else (-window[1], -window[0])
    below = Node(child, node.ply + 1, depth, low, high)
    negamax(memory, below)
    return below.best if is_same else -below.best, below.is_open
