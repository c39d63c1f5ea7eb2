"""The naive twin of `ggp.validation.explored_states`: states and questions in plain Python.

All number states breadth first in the same order and answer the same questions. Players are those of
`players_of`. Questions for *a* state are answered with the lowest number, or None if no explored state
qualifies.
"""

from __future__ import annotations

import itertools
import time
from array import array
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import cached_property
from typing import Any

from gdl.dependencies import shortest_path, strong_components
from gdl.errors import ReasoningError
from ggp.engines.compiled import NO_GOAL
from ggp.game import Fact, Game, GoalError, Move, NoLegalMoveError, Role
from ggp.validation.explored_states import Bounds, Cycle, Sums
from ggp.validation.properties import Declarations, Witness, players_of


class NaiveStates:
    """States numbered in the order in which they were found; number 0 is the initial one.

    moves       per role, every move found so far
    states      number → the game's state; those beyond `explored` are only known as successors
    parent      number → the state from which it was first reached; -1 for the initial one
    step        number → position of that joint move in the product of the parent's legal moves
    goals       number → goal per player of a terminal state, NO_GOAL unless there is exactly one value
    legal       number → per role, indices into `moves`, of a non-terminal state that was expanded
    children    number → successors of an expanded state, one per joint move, in the order of the product
    explored    states 0 .. explored-1 were expanded or are terminal
    fault       the state at which the rules could not be evaluated, and why; exploring ended there
    """

    def __init__(self, game: Game[Any]) -> None:
        self.game = game
        self.moves: list[list[Move]] = [[] for _ in game.roles]
        self.states: list[Hashable] = []
        self.parent, self.step = array("q"), array("q")
        self.goals: dict[int, tuple[int, ...]] = {}
        self.legal: dict[int, tuple[tuple[int, ...], ...]] = {}
        self.children: dict[int, array[int]] = {}
        self.explored = 0
        self.fault: tuple[int, str] | None = None
        self._number: dict[Hashable, int] = {}
        self._index: list[dict[Move, int]] = [{} for _ in game.roles]

    @property
    def state_count(self) -> int:
        return len(self.states)

    @property
    def terminal_count(self) -> int:
        return len(self.goals)

    @property
    def is_complete(self) -> bool:
        """Whether all reachable states were explored."""
        return self.explored == len(self.states)

    def add(self, state: Hashable, parent: int, step: int) -> int:
        """The number of a state, which is added unless it is known."""
        number = self._number.setdefault(state, len(self.states))
        if number == len(self.states):
            self.states.append(state)
            self.parent.append(parent)
            self.step.append(step)
            if self.game.is_terminal(state):
                self.goals[number] = tuple(self._goal(state, role) for role in players_of(self.game))
        return number

    def _goal(self, state: Hashable, role: Role) -> int:
        try:
            return self.game.goal(state, role)
        except GoalError:
            return NO_GOAL

    def expand(self, number: int) -> None:
        """Add the children of a non-terminal state; none if some role has no move."""
        state = self.states[number]
        legal = self.legal[number] = tuple(self._legal(state, r) for r in range(len(self.game.roles)))
        children = array("q")
        for step, indices in enumerate(itertools.product(*legal)):
            joint_move = [moves[index] for moves, index in zip(self.moves, indices, strict=True)]
            children.append(self.add(self.game.next_state(state, joint_move), number, step))
        self.children[number] = children

    def _legal(self, state: Hashable, r: int) -> tuple[int, ...]:
        moves, index = self.moves[r], self._index[r]
        try:
            legal: Sequence[Move] = self.game.legal_moves(state, self.game.roles[r])
        except NoLegalMoveError:
            return ()
        for move in legal:
            if move not in index:
                index[move] = len(moves)
                moves.append(move)
        return tuple(index[move] for move in legal)

    def witness(self, number: int) -> Witness:
        """A shortest match to a state."""
        facts, steps = self.game.facts(self.states[number]), []
        while self.parent[number] >= 0:
            steps.append(self.joint_move(self.parent[number], self.step[number]))
            number = self.parent[number]
        return Witness(tuple(reversed(steps)), facts)

    def joint_move(self, number: int, position: int) -> tuple[Move, ...]:
        """The joint move at `position` of the product of a state's legal moves."""
        indices = next(itertools.islice(itertools.product(*self.legal[number]), position, None))
        return tuple(moves[index] for moves, index in zip(self.moves, indices, strict=True))

    @cached_property
    def _components(self) -> list[tuple[int, ...]]:
        """Strongly connected components, successors first."""
        return strong_components(range(len(self.states)), lambda n: self.children.get(n, ()))

    def cycle(self) -> Cycle | None:
        """A shortest cycle through the first state of a component that has one."""
        for component in self._components:
            start, inside = min(component), set(component)

            def successors(number: int, start: int = start, inside: set[int] = inside) -> Iterable[int]:
                return filter(inside.__contains__, self.children.get(max(number, start), ()))

            path = shortest_path(-1, start, successors)  # -1: `start`, before the cycle
            if path:
                pairs = itertools.pairwise([start, *path[1:]])
                steps = (self.joint_move(one, self.children[one].index(other)) for one, other in pairs)
                return Cycle(start, tuple(steps))
        return None

    def longest_match(self) -> int:
        """Length of the longest match; requires complete exploration without a cycle."""
        longest = [0] * len(self.states)
        for (number,) in self._components:
            longest[number] = 1 + max((longest[child] for child in self.children.get(number, ())), default=-1)
        return longest[0]

    def stuck_state(self) -> int | None:
        """A non-terminal state in which some role has no legal move."""
        return min((number for number, legal in self.legal.items() if not all(legal)), default=None)

    def faulty_end(self) -> int | None:
        """A terminal state in which some player lacks a single valid goal."""
        return min((number for number, goals in self.goals.items() if NO_GOAL in goals), default=None)

    def end_with_goal(self, player: int, goal: int) -> int | None:
        """A terminal state in which a player gets `goal`."""
        return min((number for number, goals in self.goals.items() if goals[player] == goal), default=None)

    def goal_sums(self) -> Sums:
        sums = [(number, sum(goals)) for number, goals in sorted(self.goals.items()) if NO_GOAL not in goals]
        total = sums[0][1] if sums else None
        return next((Sums(total, number, other) for number, other in sums if other != total), Sums(total))

    def simultaneous_state(self) -> int | None:
        """A state in which several roles have a choice."""
        choices = ((number, sum(len(moves) > 1 for moves in legal)) for number, legal in self.legal.items())
        return min((number for number, count in choices if count > 1), default=None)

    def undeclared_fact(self, declarations: Declarations) -> tuple[int, Fact] | None:
        """A state, and a fact in it that base does not list."""
        found = (declarations.undeclared_fact(self.game.facts(state)) for state in self.states)
        return next(((number, fact) for number, fact in enumerate(found) if fact is not None), None)

    def undeclared_move(self, declarations: Declarations) -> tuple[int, Role, Move] | None:
        """A state, a role and one of its legal moves that input does not list."""
        undeclared = [
            {index for move, index in of_role.items() if declarations.undeclared_move(role, [move])}
            for role, of_role in zip(self.game.roles, self._index, strict=True)
        ]
        for number, legal in sorted(self.legal.items()):
            for r, role in enumerate(self.game.roles):
                for index in legal[r]:
                    if index in undeclared[r]:
                        return number, role, self.moves[r][index]
        return None

    def can_force(self, player: int, goal: int) -> bool:
        """Whether a player can force `goal` from the initial state, choosing before the others do.

        With incomplete exploration, False only means that the explored states do not show it.
        """
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


def explore(game: Game[Any], bounds: Bounds, progress: Callable[[int], None] | None = None) -> NaiveStates:
    """Explore `game` within `bounds`."""
    space = NaiveStates(game)
    deadline = time.monotonic() + bounds.seconds
    space.add(game.initial_state(), -1, 0)
    while not space.is_complete and len(space.states) <= bounds.states and time.monotonic() <= deadline:
        try:
            if space.explored not in space.goals:
                space.expand(space.explored)
        except ReasoningError as error:
            space.fault = (space.explored, str(error))
            break
        space.explored += 1
        if progress is not None and space.explored % 256 == 0:
            progress(len(space.states))
    return space
