"""The tree of the plain-Python search: nodes, paths, proofs, and all moves as first.

The last are the twin of `ggp.search.tree.policies.rave`, which explains RAVE.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from ggp.game import Move
from ggp.search.tree.reference.policies import Goals, Moves, Step

MoveIndices: TypeAlias = tuple[int, ...]
BEST_GOAL = 100


@dataclass(slots=True)
class Node:
    """A state in the tree, with the statistics below it.

    moves      per role, the legal moves; empty in terminal states
    visits     per role and move, how often a simulation took it
    totals     per role and move, the sum of that role's goals in those simulations
    rave_visits, rave_totals    the same of simulations that made the move here or later
    children   joint move, as one index per role → node; in a graph a node may be the child of several
    behind     per move of the only role with a choice, the goal proven for that role behind it; by index
    goals      terminal states and dead ends only: what each role gets
    proof      what each role is proven to get
    """

    state: Hashable
    moves: tuple[Moves, ...]
    goals: Goals | None
    visit_count: int = 0
    visits: list[list[int]] = field(default_factory=list)
    totals: list[list[float]] = field(default_factory=list)
    rave_visits: list[list[int]] = field(default_factory=list)
    rave_totals: list[list[float]] = field(default_factory=list)
    children: dict[MoveIndices, Node] = field(default_factory=dict)
    behind: dict[int, float] = field(default_factory=dict)
    proof: Goals | None = None


Path: TypeAlias = list[tuple[Node, MoveIndices]]


def joint_move_of(node: Node, indices: MoveIndices) -> Moves:
    return tuple(moves[m] for moves, m in zip(node.moves, indices, strict=True))


def best_path(root: Node, limit: int = 12) -> Path:
    """The nodes along the most visited moves, each with the moves taken there."""
    path: Path = []
    node: Node | None = root
    while node is not None and len(path) < limit and all(any(counts) for counts in node.visits):
        if not node.moves:
            break
        indices = tuple(
            max(range(len(counts)), key=lambda m: (counts[m], totals[m], -m))
            for counts, totals in zip(node.visits, node.totals, strict=True)
        )
        path.append((node, indices))
        node = node.children.get(indices)
    return path


def decider_of(node: Node) -> int | None:
    """The only role with a choice; the first role if none has one, None if several have."""
    choosing = [role for role, moves in enumerate(node.moves) if len(moves) > 1]
    return None if len(choosing) > 1 else choosing[0] if choosing else 0


def proven_goal(node: Node, role: int, m: int) -> float | None:
    """The goal that `role` is proven to get by its move `m` if no other role has a choice."""
    return node.behind.get(m) if decider_of(node) == role else None


def pass_up(path: Path, goals: Goals) -> None:
    """Back up a proof: the last step of `path` leads to `goals`.

    Source: Winands, Björnsson and Saito, "Monte-Carlo tree search solver" (2008); here a proof is a goal.
    """
    for node, indices in reversed(path):
        role = decider_of(node)
        if role is None:
            return
        node.behind[indices[role]] = goals[role]
        if node.proof is not None or not _prove_node(node, role):
            return
        assert node.proof is not None
        goals = node.proof


def _prove_node(node: Node, role: int) -> bool:
    """Prove `node`, where only `role` may have a choice, from its moves; return whether they suffice."""
    best = max(node.behind.values())
    if best < BEST_GOAL and len(node.behind) < len(node.moves[role]):
        return False
    node.proof = tuple(best if r == role else BEST_GOAL - best for r in range(len(node.moves)))
    return True


def nodes_below(root: Node, lost: Node | None = None) -> Iterator[Node]:
    """`root` and all nodes below it, each once, without those that are reached only through `lost`."""
    seen, stack = {id(root), id(lost)}, [root]
    while stack:
        node = stack.pop()
        yield node
        for child in node.children.values():
            if id(child) not in seen:
                seen.add(id(child))
                stack.append(child)


def forget_proofs(root: Node) -> None:
    """Drop every proof below and including `root`."""
    for node in nodes_below(root):
        node.proof = None
        node.behind.clear()


def rave_weight(k: float, visits: int) -> float:
    """The schedule of all-moves-as-first means."""
    return math.sqrt(k / (3.0 * visits + k))


def amaf_mean(node: Node, role: int, m: int) -> float | None:
    """The all-moves-as-first mean of move `m`; None where unknown."""
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


def _made_below(path: Path, steps: Sequence[Step]) -> Iterator[tuple[Node, list[set[Move]]]]:
    """The nodes of `path` from the last to the first, with the moves made there or later, per role."""
    made: list[set[Move]] = [set() for _ in steps[0].joint_move]
    for depth in range(len(steps) - 1, -1, -1):
        for role, move in enumerate(steps[depth].joint_move):
            made[role].add(move)
        if depth < len(path):
            yield path[depth][0], made
