"""The `Game` protocol: what every engine offers and everything above it talks to.

A game is the rules, never a match: it holds no current state. States are opaque hashable values,
equal exactly when the same facts are true in them. Moves, facts and roles are ground
terms; `str(term)` is their canonical KIF text.

    GameError
    ├── IllegalMoveError     a joint move that the rules do not allow
    ├── NoLegalMoveError     a role without a move in a state that is not terminal
    └── GoalError            no goal value for a role, or several, or one that is no integer 0..100
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Protocol, TypeAlias, TypeVar

from gdl.program import Program
from gdl.terms import Symbol, Term, is_goal

Role: TypeAlias = Term
Move: TypeAlias = Term
Fact: TypeAlias = Term
JointMove: TypeAlias = Sequence[Move]
State = TypeVar("State", bound=Hashable)
_Key = TypeVar("_Key")

RANDOM_ROLE = Symbol("random")
"""The chance role of GDL-II: it moves uniformly at random and has no goal."""


class GameError(Exception):
    """A fault of the rules or of a move, met in one state.

    step   the state's place in the match (0 = initial state), where the raiser knew it
    """

    def __init__(self, message: str, *, step: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.step = step

    def at_step(self, step: int) -> GameError:
        """This error with its place in the match filled in, for `raise error.at_step(n)`."""
        self.step = step
        return self

    def __str__(self) -> str:
        return self.message if self.step is None else f"step {self.step}: {self.message}"


class IllegalMoveError(GameError):
    """A joint move of the wrong length, or with a move that is not legal for its role."""


class NoLegalMoveError(GameError):
    """A role has no legal move although the state is not terminal: the rules are at fault."""


class GoalError(GameError):
    """A role has no goal value in a state, or several, or one that is no integer in 0..100."""


class Game(Protocol[State]):
    """The rules of one game, ready to be played.

    name      short, for titles and records
    program   the rules as read, positions kept
    roles     in rule-sheet order; this is the order of every joint move
    """

    @property
    def name(self) -> str: ...
    @property
    def program(self) -> Program: ...
    @property
    def roles(self) -> tuple[Role, ...]: ...

    def initial_state(self) -> State:
        """The state in which every match starts."""
        ...

    def is_terminal(self, state: State) -> bool:
        """Whether the match is over in `state`."""
        ...

    def legal_moves(self, state: State, role: Role) -> tuple[Move, ...]:
        """The moves `role` may choose from, sorted by text; the same order in every engine.

        Empty in terminal states where the rules say so. Raises NoLegalMoveError where `state`
        is not terminal and the role has no move.
        """
        ...

    def next_state(self, state: State, joint_move: JointMove) -> State:
        """The state after every role made its move of `joint_move` (in role order).

        Raises IllegalMoveError where the length is wrong or a move is not legal.
        """
        ...

    def goal(self, state: State, role: Role) -> int:
        """What `role` gets in `state`, 0..100. Raises GoalError where there is not exactly one value."""
        ...

    def facts(self, state: State) -> tuple[Fact, ...]:
        """The facts true in `state`, sorted by text."""
        ...

    def percepts(self, state: State, joint_move: JointMove, role: Role) -> tuple[Term, ...]:
        """What `role` sees when `joint_move` is made in `state` (GDL-II `sees`), sorted by text.

        In games without `sees` (GDL-I), where everybody sees everything, this is empty.
        """
        ...


class RoleTable(dict[Role, _Key]):
    """What an engine knows its roles by; asking for something else says what a role is."""

    def __missing__(self, role: object) -> _Key:
        known = ", ".join(map(str, self))
        raise GameError(f"{role!r} is no role of this game ({known}): take them from game.roles")


def illegal(move: object, role: Role) -> IllegalMoveError:
    """The error for a move that is not legal, which text never is."""
    hint = "; a move is a term: gdl.parser.parse_term makes one of text" if isinstance(move, str) else ""
    return IllegalMoveError(f"{move} is not legal for {role}{hint}")


def no_state(game: Game[Any]) -> GameError:
    """The error for what is given as a state and cannot be one."""
    return GameError(f"no state of {game.name}: take states from its initial_state() and next_state()")


def engine_of(game: Game[Any]) -> str:
    """Which engine plays `game`: "lanes", "reasoner", "prolog"; "other" for games written by hand."""
    return str(getattr(game, "engine", "other"))


def goal_of(role: Role, values: Sequence[Term]) -> int:
    """The goal of `role` where the rules derive `values` for it; 0 for the chance role without one.

    Raises GoalError unless there is exactly one value and it is an integer in 0..100.
    """
    texts = [str(value) for value in values]
    if len(texts) == 1 and is_goal(values[0]):
        return int(texts[0])
    if not texts and role == RANDOM_ROLE:
        return 0
    found = " ".join(sorted(texts)) or "none"
    raise GoalError(f"{role} needs one goal value in 0..100, the rules give: {found}")
