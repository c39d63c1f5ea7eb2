"""All moves as first in plain Python; the twin of `ggp.search.tree.policies.rave`, which explains both."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from ggp.game import Move
from ggp.search.tree.reference.policies import Goals, Mean, Step
from ggp.search.tree.reference.tree import AmafTable, Node, Path


def rave_weight(k: float, visits: int) -> float:
    """The schedule: the twin of `rave_weight` in `ggp.search.tree.policies.rave`; change both."""
    return math.sqrt(k / (3.0 * visits + k))


def reference_at(node: Node, above: AmafTable | None, reference: int) -> AmafTable | None:
    """The table that serves at `node`: its own if that knows of enough playouts, else the one from above."""
    return node.amaf if node.amaf is not None and node.amaf.playouts >= reference else above


def amaf_mean(node: Node, role: int, m: int, amaf: AmafTable | None) -> float | None:
    """The all-moves-as-first mean of move `m`: from the table of GRAVE, or RAVE's; None where unknown."""
    if amaf is not None:
        mean = amaf.means[role].get(node.moves[role][m])
        return None if mean is None else mean.value
    visits = node.rave_visits[role][m]
    return node.rave_totals[role][m] / visits if visits > 0 else None


def back_up_rave(path: Path, steps: Sequence[Step], goals: Goals) -> None:
    """All moves as first: in each node of `path`, count every move that was made there or later, once."""
    for node, made in _made_below(path, steps):
        for role, moves in enumerate(node.moves):
            for m, move in enumerate(moves):
                if len(moves) > 1 and move in made[role]:
                    node.rave_visits[role][m] += 1
                    node.rave_totals[role][m] += goals[role]


def back_up_grave(path: Path, steps: Sequence[Step], goals: Goals, reference: int) -> None:
    """The same in the tables of the nodes of `path`; a node has one after `reference` visits."""
    for node, made in _made_below(path, steps):
        if node.amaf is None:
            if node.visit_count == reference:
                node.amaf = AmafTable.empty(len(goals))
            continue
        node.amaf.playouts += 1
        for role, moves in enumerate(made):
            for move in moves:
                node.amaf.means[role].setdefault(move, Mean()).add(goals[role])


def _made_below(path: Path, steps: Sequence[Step]) -> Iterator[tuple[Node, list[set[Move]]]]:
    """The nodes of `path` from the last to the first, with the moves made there or later, per role."""
    made: list[set[Move]] = [set() for _ in steps[0].joint_move]
    for depth in range(len(steps) - 1, -1, -1):
        for role, move in enumerate(steps[depth].joint_move):
            made[role].add(move)
        if depth < len(path):
            yield path[depth][0], made
