"""Interface between a proof and the explored states, however they are stored.

`ggp.validation.object_states` stores them as Python objects and can explore any game;
`ggp.validation.lane_states` explores compiled games thousands of times as fast. Both number states breadth
first in the same order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from ggp.game import Fact, Game, Move, Role
from ggp.validation.properties import Declarations, Witness


class UndecidedError(Exception):
    """The deadline passed before a question about the explored states was answered."""


class Cycle(NamedTuple):
    """A state, and joint moves that lead from it back to it."""

    state: int
    joint_moves: tuple[tuple[Move, ...], ...]


class Sums(NamedTuple):
    """Sums of the players' goals in terminal states.

    total       the sum in the first terminal state in which all players have goals; None without one
    exception   the first terminal state with a different sum; None without one
    other       that sum
    """

    total: int | None
    exception: int | None = None
    other: int = 0


@dataclass(frozen=True)
class Bounds:
    """Limits of an exploration: number of states and time. The questions together get the same time again."""

    states: int
    seconds: float


class ExploredStates(Protocol):
    """The first states of a game, breadth first.

    Number 0 is the initial state; players are those of `players_of`. Questions for *a* state are answered
    with the lowest number, or None if no explored state qualifies. They may raise UndecidedError.
    """

    @property
    def game(self) -> Game[Any]: ...
    @property
    def state_count(self) -> int:
        """Number of states found; those beyond `explored` only as successors."""
        ...

    @property
    def explored(self) -> int: ...
    @property
    def terminal_count(self) -> int: ...
    @property
    def fault(self) -> tuple[int, str] | None:
        """The state at which the rules could not be evaluated, and why; exploring ended there."""
        ...

    @property
    def is_complete(self) -> bool:
        """Whether all reachable states were explored."""
        ...

    def witness(self, number: int) -> Witness:
        """A shortest match to a state."""
        ...

    def cycle(self) -> Cycle | None:
        """A cycle of states."""
        ...

    def longest_match(self) -> int:
        """Length of the longest match; requires complete exploration without a cycle."""
        ...

    def stuck_state(self) -> int | None:
        """A non-terminal state in which some role has no legal move."""
        ...

    def faulty_end(self) -> int | None:
        """A terminal state in which some player lacks a single valid goal."""
        ...

    def end_with_goal(self, player: int, goal: int) -> int | None:
        """A terminal state in which a player gets `goal`."""
        ...

    def goal_sums(self) -> Sums: ...

    def simultaneous_state(self) -> int | None:
        """A state in which several roles have a choice."""
        ...

    def undeclared_fact(self, declarations: Declarations) -> tuple[int, Fact] | None:
        """A state, and a fact in it that base does not list."""
        ...

    def undeclared_move(self, declarations: Declarations) -> tuple[int, Role, Move] | None:
        """A state, a role and one of its legal moves that input does not list."""
        ...

    def can_force(self, player: int, goal: int) -> bool:
        """Whether a player can force `goal` from the initial state, choosing before the others do.

        With incomplete exploration, False only means that the explored states do not show it.
        """
        ...
