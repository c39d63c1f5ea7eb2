"""A node under search, and the memory of the search: transposition table, killers, history."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, NamedTuple

from ggp.game import Game
from ggp.search.alphabeta.estimate import SCALE, Estimate
from ggp.search.alphabeta.events import Event, EventKind, Listener, StoppedError
from ggp.search.alphabeta.reference.position import (
    Choice,
    Position,
    goal_bounding,
    immediate_win,
    mirroring,
    position_of,
    possible_goals,
    static_score,
    successors,
)
from ggp.search.alphabeta.reference.refinements import Refinements
from ggp.search.alphabeta.result import AlphaBetaError
from ggp.search.budget import NO_LIMIT, Budget

INFINITE = 1 << 20
UNLIMITED = 1 << 20
"""A depth that no game reaches."""
MAX_PLIES = 200
"""Deeper nodes are scored statically: Python's stack is limited."""


class Bound(IntEnum):
    """The meaning of a score r for the value v: EXACT v = r, LOWER v >= r, UPPER v <= r."""

    EXACT = 1
    LOWER = 2
    UPPER = 3

    @property
    def opposite(self) -> Bound:
        """The bound from the other role's point of view."""
        return {Bound.LOWER: Bound.UPPER, Bound.UPPER: Bound.LOWER}.get(self, self)


class Entry(NamedTuple):
    """An entry of the transposition table: a bound of the position's value for its mover.

    is_resolved   it does not depend on a horizon, and so holds for every depth
    """

    score: int
    bound: Bound
    depth: int
    is_resolved: bool
    choice: Choice | None

    def covers(self, depth: int) -> bool:
        """Whether the entry comes from a search at least as deep."""
        return self.is_resolved or self.depth >= depth


@dataclass(eq=False)
class Node:
    """A node under search. Scores are hundredths of a goal for its mover.

    alpha, beta   the window; floor: alpha at the beginning
    """

    position: Position
    ply: int
    depth: int  # plies to the horizon
    alpha: int
    beta: int
    excluded: Choice | None = None  # a move left out, for the test of singular extensions
    floor: int = field(init=False)
    best: int = -INFINITE  # best score so far; in the end the result, see `negamax`
    best_choice: Choice | None = None
    is_open: bool = False  # whether a score that counts comes from the horizon, so that nothing is proven
    table_choice: Choice | None = None
    children: list[Position] = field(default_factory=list)
    tried: int = 0  # children picked so far
    queue: list[tuple[int, int]] = field(default_factory=list)  # heap of their negated ranks and places
    extends: str = ""  # which children are searched one ply deeper: `all`, the `table` move, or none

    def __post_init__(self) -> None:
        self.floor = self.alpha

    @property
    def has_horizon(self) -> bool:
        """Whether this is a search to a depth, not to the end."""
        return self.depth < UNLIMITED - MAX_PLIES

    def open_children(self) -> list[Position]:
        """The children that still need a search."""
        return [child for child in self.children if child.end is None]

    def decide(self, score: int, choice: Choice | None, *, is_open: bool) -> None:
        """Take a score that suffices for a cutoff as the result."""
        self.best, self.best_choice, self.is_open = score, choice, is_open


@dataclass(eq=False)
class Memory:
    """One search: the game, its settings, and its memory between nodes.

    killers   ply → the two moves that last caused cutoffs there
    history   move → sum of depth² of its cutoffs
    """

    game: Game[Any]
    refinements: Refinements
    estimate: Estimate
    listener: Listener | None = None
    table: dict[Hashable, Entry] = field(default_factory=dict)  # state → entry; holds all positions
    killers: dict[int, list[Choice]] = field(default_factory=lambda: defaultdict(list))
    history: dict[Choice, int] = field(default_factory=lambda: defaultdict(int))
    goal_sum: int | None = None
    root_depth: int = 0
    visits: int = 0  # nodes entered in the present search: expanded, or answered by the table ...
    hits: int = 0  # ... as these were
    leaves: int = 0  # children scored without a search: terminal, decided, or at the horizon
    budget: Budget = NO_LIMIT

    def __post_init__(self) -> None:
        use = self.refinements
        self.goals = possible_goals(self.game)
        self.canonical = mirroring(self.game) if use.symmetries else lambda state: state
        self.goal_range = goal_bounding(self.game) if use.goal_bounds else None

    def visit(self, node: Node) -> None:
        """Count a node. Raises StoppedError."""
        self.visits += 1
        is_spent = self.budget.nodes is not None and self.visits > self.budget.nodes
        if is_spent or self.budget.is_over():
            raise StoppedError
        self.show(EventKind.ENTER, node)

    def leaf(self, node: Node, child: Position, score: int) -> int:
        """Count a child that needs no search; return its score."""
        self.leaves += 1
        self.show(EventKind.LEAF, node, child, score)
        return score

    def show(self, kind: EventKind, node: Node, at: Position | None = None, score: int | None = None) -> None:
        """Show the listener an event of a node, or of its child `at`."""
        if self.listener is not None:
            position = at or node.position
            self.listener(
                Event(
                    kind,
                    node.ply,
                    node.depth,
                    node.floor if at is None else node.alpha,
                    node.beta,
                    node.position.mover,
                    None if position.choice is None else position.choice.move,
                    score,
                    state=position.state,
                    excluded=None if node.excluded is None else node.excluded.move,
                )
            )

    def children_of(self, node: Node) -> list[Position]:
        """The children with their scores, in the order of the rules.

        Raises AlphaBetaError and StoppedError.
        """
        children: list[Position] = []
        position = node.position
        for move, state in successors(self.game, position.state, position.mover):
            choice = Choice(position.mover, move) if position.mobility > 1 else None
            if choice is not None and choice == node.excluded:
                continue
            if self.budget.is_over():
                raise StoppedError
            child = position_of(self.game, self.canonical(state), choice)
            if child.end is not None:
                self._check_sum(child.state)
            else:
                child.score = static_score(self.game, child, self.estimate)
                if self.refinements.immediate_wins and len(self.game.roles) == 2:
                    child.end = immediate_win(self.game, child.state)
                if self.goal_range is not None and child.end is None:
                    low, high = self.goal_range(child.state)
                    child.end = SCALE * low if low == high else None
            children.append(child)
        return children

    def _check_sum(self, state: Any) -> None:
        if len(self.game.roles) == 2:
            found = sum(self.game.goal(state, role) for role in self.game.roles)
            if self.goal_sum not in (None, found):
                raise AlphaBetaError("the roles' goals do not add up to the same sum in all terminal states")
            self.goal_sum = found
