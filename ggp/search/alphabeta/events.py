"""Events of the readable searches: alpha-beta (`reference`) and `multi_role` show them to a listener."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Any, NamedTuple, Protocol, TypeAlias, runtime_checkable

from ggp.game import Move


@runtime_checkable
class ValueTree(Protocol):
    """What a game may state beyond GDL: goals outside 0..100, chance moves that are not equally likely.

    possible_goals    of the first role, ascending
    chance_weights    of the moves of chance in a state, in the order of the rules
    """

    possible_goals: Sequence[float]

    def chance_weights(self, state: Any) -> Sequence[int]: ...


class EventKind(StrEnum):
    """The kind of event at a node.

    Of the node itself, whose `move` led to it:
        ENTER       it begins, with this window and depth
        TABLE_HIT   the transposition table answers it
        LEAVE       it is finished; score and window show what is known (`Event.bound`)

    Of its child behind `move`:
        LEAF        it needs no search: its score is certain, or that of the horizon
        KILLER      it is tried early because its move is a killer
        EXTENSION, REDUCTION   it is searched deeper, or less deep at first
        RE_SEARCH   a null window or a reduction failed high: search it again with this window
        CUTOFF      its score ends the node: beta is reached, or at a chance node either bound
        TABLE_CUTOFF, GOAL_CUTOFF   the same by its table entry or its goal bounds, before any search
        PRUNED      it and all moves after it are left out
    """

    ENTER = "enter"
    TABLE_HIT = "table hit"
    LEAVE = "leave"
    LEAF = "leaf"
    KILLER = "killer"
    EXTENSION = "extension"
    REDUCTION = "reduction"
    RE_SEARCH = "re-search"
    CUTOFF = "cutoff"
    TABLE_CUTOFF = "table cutoff"
    GOAL_CUTOFF = "goal cutoff"
    PRUNED = "pruned"


class Event(NamedTuple):
    """One step of a node. Scores are hundredths of a goal for `mover`, the role that chooses at the node.

    ply, depth    plies from the root, and to the horizon
    alpha, beta   the window: of the node's beginning for ENTER, TABLE_HIT and LEAVE, else the present one
    state         of the node, or behind `move`
    values        goals of all roles, in max^n
    excluded      the move left out, in the test of a singular extension
    """

    kind: EventKind
    ply: int
    depth: int
    alpha: float
    beta: float
    mover: int
    move: Move | None  # see `EventKind`; None at the root, or where there is only one
    score: float | None = None  # None where there is none yet
    state: Any = None
    values: tuple[float, ...] | None = None
    excluded: Move | None = None

    @property
    def bound(self) -> str:
        """Whether the score of LEAVE or TABLE_HIT is `exact`, a `lower` or an `upper` bound of the value."""
        assert self.score is not None
        return "lower" if self.score >= self.beta else "upper" if self.score <= self.alpha else "exact"


Listener: TypeAlias = Callable[[Event], None]


class StoppedError(Exception):
    """The deadline has passed, or the nodes are used up."""
