"""Explored states as Python objects, for games that cannot be explored on lanes.

Also the naive twin of `ggp.validation.lane_states`.
"""

from __future__ import annotations

import itertools
import time
from array import array
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

from gdl.dependencies import strong_components
from gdl.errors import ReasoningError
from ggp.engines.compiled import NO_GOAL
from ggp.game import Fact, Game, GoalError, Move, NoLegalMoveError, Role
from ggp.validation.explored_states import Bounds, Cycle, Sums
from ggp.validation.properties import Declarations, Witness, players_of

Goals: TypeAlias = tuple[int, ...]
"""Goal per player (see `players_of`), NO_GOAL unless there is exactly one value."""

LegalMoves: TypeAlias = tuple[tuple[int, ...], ...]
"""Per role, indices into `ObjectStates.moves`."""


@dataclass
class ObjectStates:
    """States numbered in the order in which they were found; number 0 is the initial one.

    moves       per role, every move found so far
    states      number → the game's state
    parent      number → the state from which it was first reached; -1 for the initial one
    step        number → position of that joint move in the product of the parent's legal moves
    terminal    number → 1 for terminal states
    goals       number → goals of a terminal state
    legal       number → legal moves of a non-terminal state that was expanded
    children    number → successors of an expanded state, one per joint move, in the order of the product
    explored    states 0 .. explored-1 were expanded or are terminal
    fault       the state at which the rules could not be evaluated, and why

    The questions are documented in `ggp.validation.explored_states.ExploredStates`.
    """

    game: Game[Any]
    moves: list[list[Move]]
    states: list[Hashable] = field(default_factory=list)
    parent: array[int] = field(default_factory=lambda: array("q"))
    step: array[int] = field(default_factory=lambda: array("q"))
    terminal: bytearray = field(default_factory=bytearray)
    goals: dict[int, Goals] = field(default_factory=dict)
    legal: dict[int, LegalMoves] = field(default_factory=dict)
    children: dict[int, array[int]] = field(default_factory=dict)
    explored: int = 0
    fault: tuple[int, str] | None = None

    @property
    def state_count(self) -> int:
        return len(self.states)

    @property
    def terminal_count(self) -> int:
        return len(self.goals)

    @property
    def is_complete(self) -> bool:
        return self.explored == len(self.states)

    def witness(self, number: int) -> Witness:
        """A shortest match to a state."""
        return Witness(self.path(number), self.game.facts(self.states[number]))

    def path(self, number: int) -> tuple[tuple[Move, ...], ...]:
        """The joint moves of a shortest match to a state."""
        steps = []
        while self.parent[number] >= 0:
            steps.append(self.joint_move(self.parent[number], self.step[number]))
            number = self.parent[number]
        return tuple(reversed(steps))

    def joint_move(self, number: int, position: int) -> tuple[Move, ...]:
        """The joint move at `position` of the product of a state's legal moves."""
        indices = next(itertools.islice(itertools.product(*self.legal[number]), position, None))
        return tuple(moves[index] for moves, index in zip(self.moves, indices, strict=True))

    @cached_property
    def _components(self) -> list[list[int]]:
        """Strongly connected components, successors first."""
        components = strong_components(range(len(self.states)), lambda n: self.children.get(n, ()))
        return list(map(list, components))

    def cycle(self) -> Cycle | None:
        for component in self._components:
            if len(component) > 1 or component[0] in self.children.get(component[0], ()):
                return self._cycle_through(min(component), set(component))
        return None

    def _cycle_through(self, start: int, component: set[int]) -> Cycle:
        """A shortest cycle through `start`."""
        previous: dict[int, tuple[int, int]] = {}
        frontier = [start]
        while start not in previous:
            following = []
            for number in frontier:
                for step, child in enumerate(self.children.get(number, ())):
                    if child in component and child not in previous:
                        previous[child] = (number, step)
                        following.append(child)
            frontier = following
        steps: list[tuple[Move, ...]] = []
        number = start
        while not steps or number != start:
            number, step = previous[number]
            steps.append(self.joint_move(number, step))
        return Cycle(start, tuple(reversed(steps)))

    def longest_match(self) -> int:
        longest = [0] * len(self.states)
        for (number,) in self._components:
            longest[number] = 1 + max((longest[child] for child in self.children.get(number, ())), default=-1)
        return longest[0]

    def stuck_state(self) -> int | None:
        return min((number for number, legal in self.legal.items() if not all(legal)), default=None)

    def faulty_end(self) -> int | None:
        return min((number for number, goals in self.goals.items() if NO_GOAL in goals), default=None)

    def end_with_goal(self, player: int, goal: int) -> int | None:
        return min((number for number, goals in self.goals.items() if goals[player] == goal), default=None)

    def goal_sums(self) -> Sums:
        total: int | None = None
        for number, goals in sorted(self.goals.items()):
            if NO_GOAL in goals:
                continue
            if total is None:
                total = sum(goals)
            elif sum(goals) != total:
                return Sums(total, number, sum(goals))
        return Sums(total)

    def simultaneous_state(self) -> int | None:
        choices = ((number, sum(len(moves) > 1 for moves in legal)) for number, legal in self.legal.items())
        return min((number for number, count in choices if count > 1), default=None)

    def undeclared_fact(self, declarations: Declarations) -> tuple[int, Fact] | None:
        found = (declarations.undeclared_fact(self.game.facts(state)) for state in self.states)
        return next(((number, fact) for number, fact in enumerate(found) if fact is not None), None)

    def undeclared_move(self, declarations: Declarations) -> tuple[int, Role, Move] | None:
        checked: set[tuple[int, int]] = set()
        for number, legal in sorted(self.legal.items()):
            for r, role in enumerate(self.game.roles):
                new = [index for index in legal[r] if (r, index) not in checked]
                checked.update((r, index) for index in new)
                moves = (self.moves[r][index] for index in new)
                outside = declarations.undeclared_move(role, moves)
                if outside is not None:
                    return number, role, outside
        return None

    def can_force(self, player: int, goal: int) -> bool:
        seat = self.game.roles.index(players_of(self.game)[player])
        won = bytearray(len(self.states))
        for number, goals in self.goals.items():
            won[number] = goals[player] == goal
        has_changed = True
        while has_changed:
            has_changed = False
            for number in reversed(range(len(self.states))):
                if not won[number] and self._has_safe_move(number, seat, won):
                    won[number] = 1
                    has_changed = True
        return bool(won[0])

    def _has_safe_move(self, number: int, seat: int, won: bytearray) -> bool:
        """Whether some move of a role leads only to won states, whatever the others do."""
        children = self.children.get(number, ())
        if not children:
            return False
        legal = self.legal[number]
        joint_moves = zip(itertools.product(*legal), children, strict=True)
        failed = {joint[seat] for joint, child in joint_moves if not won[child]}
        return len(failed) < len(legal[seat])


def explore(game: Game[Any], bounds: Bounds, progress: Callable[[int], None] | None = None) -> ObjectStates:
    """Explore `game` within `bounds`. A state in which some role has no move has no children."""
    space = ObjectStates(game, [[] for _ in game.roles])
    expansion = _Expansion(space)
    deadline = time.monotonic() + bounds.seconds
    expansion.add(game.initial_state(), -1, 0)
    while not space.is_complete:
        if len(space.states) > bounds.states or time.monotonic() > deadline:
            return space
        try:
            if not space.terminal[space.explored]:
                expansion.expand(space.explored)
        except ReasoningError as error:
            space.fault = (space.explored, str(error))
            return space
        space.explored += 1
        if progress is not None and space.explored % 256 == 0:
            progress(len(space.states))
    return space


class _Expansion:
    """Adds states to a space, one joint move at a time."""

    def __init__(self, space: ObjectStates) -> None:
        self.space, self.game = space, space.game
        self._number: dict[Hashable, int] = {}
        self._index: list[dict[Move, int]] = [{} for _ in self.game.roles]
        self._players = players_of(self.game)

    def add(self, state: Hashable, parent: int, step: int) -> int:
        """The number of a state, which is added unless it is known."""
        known = self._number.get(state)
        if known is not None:
            return known
        space = self.space
        number = self._number[state] = len(space.states)
        space.states.append(state)
        space.parent.append(parent)
        space.step.append(step)
        space.terminal.append(0)
        if self.game.is_terminal(state):
            space.terminal[number] = 1
            space.goals[number] = tuple(self._goal(state, role) for role in self._players)
        return number

    def expand(self, number: int) -> None:
        """Add the children of a non-terminal state."""
        space, state = self.space, self.space.states[number]
        legal = space.legal[number] = self._legal(state)
        children = array("q")
        for step, indices in enumerate(itertools.product(*legal)):
            joint_move = [moves[index] for moves, index in zip(space.moves, indices, strict=True)]
            children.append(self.add(self.game.next_state(state, joint_move), number, step))
        space.children[number] = children

    def _goal(self, state: Hashable, role: Role) -> int:
        try:
            return self.game.goal(state, role)
        except GoalError:
            return NO_GOAL

    def _legal(self, state: Hashable) -> LegalMoves:
        found = []
        for role, moves, index in zip(self.game.roles, self.space.moves, self._index, strict=True):
            try:
                legal: Sequence[Move] = self.game.legal_moves(state, role)
            except NoLegalMoveError:
                legal = ()
            for move in legal:
                if move not in index:
                    index[move] = len(moves)
                    moves.append(move)
            found.append(tuple(index[move] for move in legal))
        return tuple(found)
