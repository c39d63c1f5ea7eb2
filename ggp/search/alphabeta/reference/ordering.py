"""Move ordering: it may change how many nodes are searched, never a bound."""

from __future__ import annotations

from heapq import heapify, heappop, heappush

from ggp.search.alphabeta.events import EventKind
from ggp.search.alphabeta.reference.node import Memory, Node
from ggp.search.alphabeta.reference.position import Choice, Position, signed

TERMINAL_RANK = 1 << 50
TABLE_RANK = 1 << 48
KILLER_RANK = 1 << 46
HISTORY_RANK = 1 << 20
HISTORY_LIMIT = 1 << 24
"""History counts are halved beyond this, so that ranks keep their order."""


def rank_children(memory: Memory, node: Node) -> None:
    """Rank the children: known good scores, table move, killers, history, static score."""
    use = memory.refinements
    for child in node.children:
        child.rank = static_rank(node, child) if use.static_order else 0
        if child.end is None and child.choice is not None:
            if use.history:
                child.rank += HISTORY_RANK * memory.history[child.choice]
            if use.killers:
                child.rank += killer_rank(memory, node.ply, child.choice)
            if use.order_by_table and child.choice == node.table_choice:
                child.rank += TABLE_RANK


def static_rank(node: Node, child: Position) -> int:
    """Children with a certain score first if it raises alpha, else last; between them by the static score.
    Mobility breaks ties, for the role that has it."""
    mover = node.position.mover
    if child.end is not None:
        end = signed(child.end, mover)
        return end + (TERMINAL_RANK if end > node.alpha else -TERMINAL_RANK)
    mobility = child.mobility if child.mover == mover else -child.mobility
    return 64 * signed(child.score, mover) + mobility


def killer_rank(memory: Memory, ply: int, choice: Choice) -> int:
    """Moves that refuted a sibling often refute this node too. Source: Akl and Newborn (1977)."""
    killers = memory.killers[ply]
    return (2 - killers.index(choice)) * KILLER_RANK if choice in killers else 0


def reward_cutoff(memory: Memory, node: Node, choice: Choice | None) -> None:
    """Make a move that caused a cutoff the first killer of its ply, and raise its history. History counts
    depth², as deep cutoffs save more. Source: Schaeffer (1989)."""
    if choice is None:
        return
    killers = memory.killers[node.ply]
    if choice not in killers[:1]:
        killers[:] = [choice, *killers[:1]]
    memory.history[choice] += min(node.depth, 16) ** 2
    if memory.history[choice] > HISTORY_LIMIT:
        for each in memory.history:
            memory.history[each] //= 2


def next_child(memory: Memory, node: Node) -> Position | None:
    """Pick the untried child of the highest rank, the first of equals; None if all are tried. From a heap:
    after a cutoff, sorting all children would have been in vain, and there may be thousands."""
    children, here, queue = node.children, node.tried, node.queue
    if here == len(children):
        return None
    if not here:
        queue += [(-child.rank, place) for place, child in enumerate(children)]
        heapify(queue)
    while (best := heappop(queue)[1]) < here:
        pass  # the child that stood here has moved
    if best > here:
        heappush(queue, (-children[here].rank, best))
        children[here], children[best] = children[best], children[here]
    node.tried += 1
    child = children[here]
    if memory.refinements.killers and child.end is None and child.choice in memory.killers[node.ply]:
        memory.show(EventKind.KILLER, node, child)
    return child
