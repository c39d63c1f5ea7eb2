"""Events of the readable tree search, for a listener: the phases of each simulation, with their numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import NamedTuple, TypeAlias

from ggp.search.tree.reference.policies import Goals, Step
from ggp.search.tree.reference.tree import MoveIndices, Node


class Phase(StrEnum):
    """The phase of a simulation. SELECT comes once per role that chooses in a node."""

    SELECT = "selection"
    EXPAND = "expansion"
    PLAY_OUT = "playout"
    BACK_UP = "back-up"


class EdgeTerms(NamedTuple):
    """What makes up the value of a move in a node.

    mean     of the goals behind it
    bonus    of UCB1
    amaf     its all-moves-as-first mean, which counts with weight `beta`; None if unknown or not asked for
    chance   of an untried move, the probability of being drawn; the others are 0 then
    proven   the goal that it is proven to get
    """

    visits: int
    mean: float = 0.0
    bonus: float = 0.0
    amaf: float | None = None
    beta: float = 0.0
    chance: float = 0.0
    proven: float | None = None

    @property
    def value(self) -> float:
        """UCB1, the mean mixed with the all-moves-as-first mean; or the proven goal."""
        if self.proven is not None:
            return self.proven
        mean = self.mean
        if self.amaf is not None:
            mean = self.beta * self.amaf + (1.0 - self.beta) * mean
        return mean + self.bonus


class SimulationEvent(NamedTuple):
    """One phase.

    node          where it happens: the node left, the new node, the playout's first, the last one in the tree
    role, chosen  of SELECT: who chooses, and the index of the move
    terms         of SELECT, per move of the role
    path          of EXPAND and BACK_UP: the steps taken in the tree
    steps         of PLAY_OUT and BACK_UP: all steps of the simulation
    goals         per role, from PLAY_OUT on
    """

    phase: Phase
    node: Node
    role: int = 0
    chosen: int = 0
    terms: Sequence[EdgeTerms] = ()
    path: Sequence[tuple[Node, MoveIndices]] = ()
    steps: Sequence[Step] = ()
    goals: Goals = ()


Listener: TypeAlias = Callable[[SimulationEvent], None]
