"""Limits, progress and errors of the solver.

SolverError
├── SolverLimitError    the game needs more states, memory or time than allowed
└── UnsolvableError     the solver cannot handle this kind of game, or the rules are faulty
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ggp.integers import check_integers

DEFAULT_MEBIBYTES = 8192


class SolverError(Exception):
    """The game was not solved."""


class SolverLimitError(SolverError):
    """More states, memory or time than allowed."""


class UnsolvableError(SolverError):
    """The solver has no method for this kind of game, or the rules are faulty."""


@dataclass(frozen=True)
class Progress:
    """Progress of an enumeration; layer_ends[d] states are reached by at most d joint moves."""

    states: int
    expanded: int
    transitions: int
    layer_ends: tuple[int, ...]
    seconds: float


class Stop(Protocol):
    """A stop signal, such as a `threading.Event`; polled every few milliseconds."""

    def is_set(self) -> bool: ...


@dataclass(frozen=True)
class SolverLimits:
    """Limits of states, time, memory and disk for solving.

    >>> import ggp
    >>> ggp.solve(ggp.load("tictactoe"), SolverLimits(states=1000))
    Traceback (most recent call last):
    ggp.solver.limits.SolverLimitError: ...

    mebibytes     memory for states, table, values and those transitions that are not on disk
    states        at most this many; None: as many as memory holds
    histories     at most this many in the tree of a game with hidden information; None: see `mebibytes`
    deadline      time.monotonic() seconds
    stop          the solver gives up, within milliseconds, when this is set
    estimated_states    it gives up when `ggp.solver.estimate` expects more than this many; asked once
                        `estimate_from` are known, since fewer show little about the rest
    work_folder   folder for transitions and all else that is needed to resume after an interruption; None:
                  memory, and a temporary folder for what memory cannot hold
    chunk_seconds   about how often progress is reported, and limits other than `stop` and `deadline` checked
    may_use_disk    False: the solver gives up instead of moving transitions to disk
    """

    mebibytes: int = DEFAULT_MEBIBYTES
    states: int | None = None
    histories: int | None = None
    deadline: float | None = None
    work_folder: Path | None = None
    stop: Stop | None = None
    estimated_states: int | None = None
    estimate_from: int = 250_000
    chunk_seconds: float = 0.5
    may_use_disk: bool = True

    def __post_init__(self) -> None:
        check_integers(self, mebibytes=0, states=0, histories=0, estimated_states=0, estimate_from=0)

    def check_time(self, so_far: str) -> None:
        """Raise SolverLimitError if stopped or past the deadline; `so_far` is done: "5,478 states found"."""
        if self.stop is not None and self.stop.is_set():
            raise SolverLimitError(f"{so_far} when stopped")
        if self.deadline is not None and time.monotonic() > self.deadline:
            raise SolverLimitError(f"{so_far} when time was up")
