"""UCT in plain Python: the readable search, the twin of every faster one, and the one that always works.

Decoupled UCT: in each node every role keeps its own statistics of its own moves, picks by itself, and
the picks together are the joint move. With one role to move this is plain UCT, with several it is the usual
treatment of simultaneous moves (Finnsson & Björnsson, "CadiaPlayer", 2009; the rule is UCB1 as in
Kocsis & Szepesvári, 2006). The role `random` has no statistics and draws uniformly. Values are
goals, 0..100, each role maximizing its own.

    simulate    one round: descend, expand, playout, back_up
    descend     from the root along known nodes, by `select_moves`
    expand      one new node below the last one
    playout     uniformly random moves to the end
    back_up     add the goals to every edge of the path
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any

from ggp.game import RANDOM_ROLE, Game, GoalError, Move, NoLegalMoveError, Role

DEFAULT_EXPLORATION = 40.0
"""UCT constant C for values in 0..100; the one of Finnsson & Björnsson (2010)."""

NODE_LIMIT = 200_000
"""Nodes a tree may grow to; then simulations go on from its leaves without adding any."""

PLAYOUT_STEP_LIMIT = 10_000
"""States of one playout, so that a rule sheet whose matches never end cannot hold a counted search."""

Goals = tuple[float, ...]
MoveIndices = tuple[int, ...]


class OutOfTimeError(Exception):
    """The deadline passed in the middle of a simulation."""


@dataclass(slots=True)
class Node:
    """A state in the tree with what was seen below it.

    moves      per role, the legal moves; empty in terminal states
    visits     per role and move, how often a simulation took it
    totals     per role and move, the sum of that role's goals in those simulations
    children   joint move, as one index per role → node
    goals      terminal states and dead ends only: what each role gets
    """

    state: Hashable
    moves: tuple[tuple[Move, ...], ...]
    goals: Goals | None
    visit_count: int = 0
    visits: list[list[int]] = field(default_factory=list)
    totals: list[list[float]] = field(default_factory=list)
    children: dict[MoveIndices, Node] = field(default_factory=dict)


Path = list[tuple[Node, MoveIndices]]


class Search:
    """The search of one role in one match; keeps its tree from move to move.

    `best_move()` may be asked, also from another thread, at any time after `move_to`.
    """

    def __init__(
        self,
        game: Game[Any],
        role: Role,
        *,
        rng: random.Random,
        exploration: float = DEFAULT_EXPLORATION,
        on_progress: Callable[[Move], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
        node_limit: int = NODE_LIMIT,
    ) -> None:
        """`on_progress` hears of the best move of the root whenever another one takes the lead."""
        self.game = game
        self.role_index = game.roles.index(role)
        self.chance_index = game.roles.index(RANDOM_ROLE) if RANDOM_ROLE in game.roles else -1
        self.rng = rng
        self.exploration = exploration
        self.root: Node | None = None
        self.node_count = 0
        self.simulation_count = 0
        self._on_progress = on_progress
        self._clock = clock
        self._node_limit = node_limit

    def move_to(self, state: Hashable, joint_move: tuple[Move, ...] | None) -> None:
        """Make `state`, to which `joint_move` led, the root, keeping the tree below it where there is one."""
        root = self.root
        if root is not None and root.state != state:
            root = next((child for child in root.children.values() if child.state == state), None)
        self.root = root or make_node(self.game, state)
        self.node_count = count_nodes(self.root)

    def run(self, *, deadline: float = math.inf, simulations: int | None = None) -> int:
        """Simulate until `deadline` (clock seconds) or for that many simulations; how many were finished.

        A deadline is passed by one state expansion at most.
        """
        if simulations is None and deadline == math.inf:
            raise ValueError("a search needs a deadline or a number of simulations")
        root = self._require_root()
        if root.goals is not None:
            return 0
        done = 0
        leader: Move | None = None
        while simulations is None or done < simulations:
            try:
                self.simulate(deadline)
            except OutOfTimeError:
                break
            done += 1
            if self._on_progress is not None and (best := self.best_move()) != leader:
                leader = best
                self._on_progress(best)
        self.simulation_count += done
        return done

    def best_move(self) -> Move:
        """The root move most simulations took; of several the one with the higher mean, then the first."""
        root = self._require_root()
        moves = root.moves[self.role_index]
        visits, totals = root.visits[self.role_index], root.totals[self.role_index]
        return moves[max(range(len(moves)), key=lambda m: (visits[m], totals[m], -m))]

    def simulate(self, deadline: float = math.inf) -> None:
        """One simulation. Raises OutOfTimeError, statistics untouched, once `deadline` has passed."""
        path, node = self.descend(deadline)
        if node is None:
            node = self.expand(path)
        goals = node.goals if node.goals is not None else self.playout(node, deadline)
        back_up(path, goals)

    def descend(self, deadline: float = math.inf) -> tuple[Path, Node | None]:
        """The path taken from the root, and the terminal node at its end; None where a node is missing."""
        node = self._require_root()
        path: Path = []
        while node.goals is None:
            if self._clock() >= deadline:
                raise OutOfTimeError
            indices = self.select_moves(node)
            path.append((node, indices))
            child = node.children.get(indices)
            if child is None:
                return path, None
            node = child
        return path, node

    def select_moves(self, node: Node) -> MoveIndices:
        """Per role an untried move at random, else the highest UCB1 value, the first of equals."""
        return tuple(
            self.rng.randrange(len(moves)) if role == self.chance_index else self._select(node, role)
            for role, moves in enumerate(node.moves)
        )

    def _select(self, node: Node, role: int) -> int:
        visits, totals = node.visits[role], node.totals[role]
        if len(visits) == 1:
            return 0
        untried = [m for m, count in enumerate(visits) if count == 0]
        if untried:
            return untried[self.rng.randrange(len(untried))]
        bonus = self.exploration * math.sqrt(math.log(node.visit_count))
        return max(range(len(visits)), key=lambda m: totals[m] / visits[m] + bonus / math.sqrt(visits[m]))

    def expand(self, path: Path) -> Node:
        """The node behind the last step of `path`, made now, and added to the tree while there is room."""
        parent, indices = path[-1]
        joint_move = tuple(moves[m] for moves, m in zip(parent.moves, indices, strict=True))
        child = make_node(self.game, self.game.next_state(parent.state, joint_move))
        if self.node_count < self._node_limit:
            parent.children[indices] = child
            self.node_count += 1
        return child

    def playout(self, node: Node, deadline: float = math.inf) -> Goals:
        """What every role gets at the end of uniformly random moves from `node`. Raises OutOfTimeError."""
        game, state, moves = self.game, node.state, node.moves
        for _ in range(PLAYOUT_STEP_LIMIT):
            if self._clock() >= deadline:
                raise OutOfTimeError
            joint_move = tuple(options[self.rng.randrange(len(options))] for options in moves)
            state = game.next_state(state, joint_move)
            if game.is_terminal(state):
                break
            try:
                moves = tuple(game.legal_moves(state, role) for role in game.roles)
            except NoLegalMoveError:
                break
        return goals_of(game, state)

    def _require_root(self) -> Node:
        assert self.root is not None, "move_to comes first"
        return self.root


def make_node(game: Game[Any], state: Hashable) -> Node:
    """A fresh node for `state`. Where a role is stuck the node counts as an end."""
    if game.is_terminal(state):
        return Node(state, (), goals_of(game, state))
    try:
        moves = tuple(game.legal_moves(state, role) for role in game.roles)
    except NoLegalMoveError:
        return Node(state, (), goals_of(game, state))
    return Node(
        state,
        moves,
        None,
        visits=[[0] * len(options) for options in moves],
        totals=[[0.0] * len(options) for options in moves],
    )


def goals_of(game: Game[Any], state: Hashable) -> Goals:
    """Each role's goal in `state`; 0 for `random`, and where the rules fail to give exactly one."""
    return tuple(_goal_or_zero(game, state, role) for role in game.roles)


def _goal_or_zero(game: Game[Any], state: Hashable, role: Role) -> float:
    if role == RANDOM_ROLE:
        return 0.0
    try:
        return float(game.goal(state, role))
    except GoalError:
        return 0.0


def back_up(path: Path, goals: Goals) -> None:
    """Add `goals` to the move of every role in every node of `path`."""
    for node, indices in path:
        node.visit_count += 1
        for role, move_index in enumerate(indices):
            node.visits[role][move_index] += 1
            node.totals[role][move_index] += goals[role]


def count_nodes(root: Node) -> int:
    """The size of the tree below and including `root`."""
    count, stack = 0, [root]
    while stack:
        node = stack.pop()
        count += 1
        stack.extend(node.children.values())
    return count
