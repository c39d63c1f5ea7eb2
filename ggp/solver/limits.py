"""What solving may cost, how far it is, and how it fails.

SolverError
├── SolverLimitError    more states, memory or time than allowed
└── UnsolvableError     a kind of game, or a fault of the rules, that the solver cannot handle
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from pathlib import Path

DEFAULT_MEBIBYTES = 8192


class SolverError(Exception):
    """The game was not solved."""


class SolverLimitError(SolverError):
    """More states, memory or time than allowed."""


class UnsolvableError(SolverError):
    """The solver has no method for this kind of game, or the rules are at fault."""


@dataclass(frozen=True)
class Progress:
    """How far an enumeration is. layer_ends[d] states are reached by d joint moves or fewer."""

    states: int
    expanded: int
    transitions: int
    layer_ends: tuple[int, ...]
    seconds: float


@dataclass(frozen=True)
class Limits:
    """What solving may cost.

    mebibytes     memory for states, table, values and those transitions that are not on disk
    states        at most so many; None: what memory holds
    deadline      time.monotonic() seconds
    stop          gives up when it is set
    estimated_states    gives up when so many are to be expected, by `ggp.solver.estimate`, once
                        `estimate_from` are known: fewer say little about the rest
    work_folder   where transitions are kept, and all that is needed to go on after an interruption; None: in
                  memory, or in a temporary folder as far as memory cannot hold them
    """

    mebibytes: int = DEFAULT_MEBIBYTES
    states: int | None = None
    deadline: float | None = None
    work_folder: Path | None = None
    stop: threading.Event | None = None
    estimated_states: int | None = None
    estimate_from: int = 250_000
