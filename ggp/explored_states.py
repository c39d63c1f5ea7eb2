"""What a proof asks of the states that were explored, however they are kept.

`ggp.state_space` keeps them as Python objects and can explore any game; `ggp.lane_states` explores compiled
games thousands of times as fast. Both number states breadth first in the same order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeAlias

from ggp.game import Fact, Game, Move, Role
from ggp.game_properties import Declarations, Witness

Explorer: TypeAlias = Callable[..., "ExploredStates"]


class UndecidedError(Exception):
    """Time was up before a question about the explored states was answered."""


class Circle(NamedTuple):
    """A state, and joint moves that lead from it back to it."""

    state: int
    joint_moves: tuple[tuple[Move, ...], ...]


class Sums(NamedTuple):
    """What the goals of the players add up to at the end.

    total       in the first terminal state; None where there is none in which everybody has a goal
    exception   the first terminal state in which it is another sum, None where there is none
    other       that sum
    """

    total: int | None
    exception: int | None = None
    other: int = 0


@dataclass(frozen=True)
class Bounds:
    """How far to explore: so many states, or `seconds`. All questions may take as long again."""

    states: int
    seconds: float


class ExploredStates(Protocol):
    """The first states of a game, breadth first; number 0 is the initial one. Players are as in `players_of`.

    Questions for *a* state are answered with the lowest number, or None where no explored state is such.
    They may raise UndecidedError.
    """

    @property
    def game(self) -> Game[Any]: ...
    @property
    def state_count(self) -> int:
        """States found; those beyond `explored` only as successors of others."""
        ...

    @property
    def explored(self) -> int: ...
    @property
    def terminal_count(self) -> int: ...
    @property
    def fault(self) -> tuple[int, str] | None:
        """A state whose successors the rules could not be evaluated for, and why; exploring ended there."""
        ...

    @property
    def is_complete(self) -> bool:
        """Whether every reachable state was explored."""
        ...

    def witness(self, number: int) -> Witness:
        """A shortest match to a state."""
        ...

    def circle(self) -> Circle | None:
        """A way from some state back to it."""
        ...

    def longest_match(self) -> int:
        """Joint moves of the longest match; to be asked where all were explored and there is no circle."""
        ...

    def stuck_state(self) -> int | None:
        """A state that is not terminal although some role has no legal move."""
        ...

    def faulty_end(self) -> int | None:
        """A terminal state in which not every player has exactly one goal from 0 to 100."""
        ...

    def end_with_goal(self, player: int, goal: int) -> int | None:
        """A terminal state in which a player gets `goal`."""
        ...

    def goal_sums(self) -> Sums: ...

    def crowded_state(self) -> int | None:
        """A state in which several roles have a choice."""
        ...

    def undeclared_fact(self, declarations: Declarations) -> tuple[int, Fact] | None:
        """A state, and a fact that holds there though base does not list it."""
        ...

    def undeclared_move(self, declarations: Declarations) -> tuple[int, Role, Move] | None:
        """A state, a role and a legal move of it that input does not list."""
        ...

    def can_force(self, player: int, goal: int) -> bool:
        """Whether a player can make sure of `goal` from the start, its choices made before the others'.

        Where not all states were explored, False only means that these do not show it.
        """
        ...
