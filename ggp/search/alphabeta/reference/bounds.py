"""Nodes that need no search: by the transposition table, by their children's entries, by goal bounds."""

from __future__ import annotations

from ggp.search.alphabeta.estimate import SCALE
from ggp.search.alphabeta.events import EventKind
from ggp.search.alphabeta.reference.node import Bound, Entry, Memory, Node
from ggp.search.alphabeta.reference.position import signed


def answer_from_table(memory: Memory, node: Node) -> bool:
    """Answer a node from the table; return whether it did. The remembered move comes first in any case.

    An entry answers if its search was at least as deep and its bound decides the window: an exact score, a
    lower bound from beta on, or an upper bound up to alpha. The result is then such a bound itself.
    Source: Greenblatt, Eastlake and Crocker (1967); Slate and Atkin (1977).
    """
    entry = memory.table.get(node.position.state)
    if entry is None:
        return False
    node.table_choice = entry.choice
    decides = (
        entry.bound == Bound.EXACT
        or (entry.bound == Bound.LOWER and entry.score >= node.beta)
        or (entry.bound == Bound.UPPER and entry.score <= node.alpha)
    )
    if node.excluded is not None or not decides or not entry.covers(node.depth):
        return False
    node.decide(entry.score, entry.choice, is_open=not entry.is_resolved)
    memory.show(EventKind.TABLE_HIT, node, score=node.best)
    return True


def store(memory: Memory, node: Node) -> None:
    """Remember the bound that a finished node has shown.

    A score from beta on is a lower bound, one up to the first alpha an upper bound: fail-soft results lie
    outside the window and still hold.
    """
    if not memory.refinements.transpositions or node.excluded is not None:
        return
    bound = Bound.LOWER if node.best >= node.beta else Bound.EXACT if node.best > node.floor else Bound.UPPER
    entry = Entry(node.best, bound, node.depth, not node.is_open, node.best_choice)
    memory.table[node.position.state] = entry


def cut_off_by_table(memory: Memory, node: Node) -> bool:
    """Enhanced transposition cutoff: a child's entry suffices for a cutoff, before any child is searched.

    The entry must bound the child's value for this node's mover from below by beta; the result is that lower
    bound. Children whose value is proven, or proven to be at most alpha, need no search on the way.
    Source: Plaat, Schaeffer, Pijls and de Bruin (1996).
    """
    for child in node.open_children():
        entry = memory.table.get(child.state)
        if entry is None or not entry.covers(node.depth - 1):
            continue
        score, bound = entry.score, entry.bound
        if child.mover != node.position.mover:
            score, bound = -score, bound.opposite
        if bound != Bound.UPPER and score >= node.beta:
            node.decide(score, child.choice, is_open=not entry.is_resolved)
            memory.show(EventKind.TABLE_CUTOFF, node, child, score)
            return True
        fails_low = bound == Bound.UPPER and score <= node.alpha
        if entry.is_resolved and (bound == Bound.EXACT or fails_low):
            child.end = signed(entry.score, child.mover)
    return False


def cut_off_by_goals(memory: Memory, node: Node) -> bool:
    """Goal bounds: a child whose least goal is good enough ends the node, with that goal as lower bound.

    A child whose greatest goal is at most alpha gets it as its score, an upper bound, and is not searched.
    Both hold whatever the horizon. Source: `ggp.search.alphabeta.goal_bounds`.
    """
    mover = node.position.mover
    assert memory.goal_range is not None
    for child in node.open_children():
        low, high = sorted(signed(SCALE * goal, mover) for goal in memory.goal_range(child.state))
        if low >= node.beta:
            node.decide(low, child.choice, is_open=False)
            memory.show(EventKind.GOAL_CUTOFF, node, child, low)
            return True
        if high <= node.alpha:
            child.end = signed(high, mover)
    return False
