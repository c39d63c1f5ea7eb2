"""Events of a search for its listener: one per step of a node."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple, TypeAlias

from ggp.game import Move


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
        CUTOFF      its score ends the node: beta is reached
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
    move          see `EventKind`; None at the root, or where there is only one
    score         None where there is none yet
    """

    kind: EventKind
    ply: int
    depth: int
    alpha: int
    beta: int
    mover: int
    move: Move | None
    score: int | None = None

    @property
    def bound(self) -> str:
        """Whether the score of LEAVE or TABLE_HIT is `exact`, a `lower` or an `upper` bound of the value."""
        assert self.score is not None
        return "lower" if self.score >= self.beta else "upper" if self.score <= self.alpha else "exact"


Listener: TypeAlias = Callable[[Event], None]
