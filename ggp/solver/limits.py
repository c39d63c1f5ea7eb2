"""Limits, progress, forecast and errors of the solver.

SolverError
├── SolverLimitError    the game needs more states, memory or time than allowed
└── UnsolvableError     the solver cannot handle this kind of game, or the rules are faulty
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import exp, log
from pathlib import Path
from typing import Protocol

from ggp.integers import check_integers

DEFAULT_MEBIBYTES = 8192
_WINDOW = 5
_HORIZON = 1000
_OUT_OF_REACH = 10**18


class SolverError(Exception):
    """The game was not solved.

    >>> import ggp
    >>> ggp.solve(ggp.load("kuhn_poker"))
    Traceback (most recent call last):
    ggp.solver.limits.UnsolvableError: the game has hidden information (`sees`), so ...
    """


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
    estimated_states    it gives up when `estimate_states` expects more than this many; asked once
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


def estimate_states(layer_ends: Sequence[int]) -> int | None:
    """A rough forecast of the number of states, 10^18 at most; None while the layers show no trend.

    layer_ends   states found after 0, 1, 2, ... joint moves. The growth from layer to layer usually falls
                 steadily; the forecast continues the last few steps of that fall in a straight line.

    >>> estimate_states([1, 10, 82, 587, 3_751])
    10545479965
    >>> estimate_states([1, 3, 7, 15, 31])  # the growth does not fall
    """
    sizes = [b - a for a, b in zip([0, *layer_ends[:-1]], layer_ends, strict=True)]
    growth = [log(b / a) for a, b in pairwise(sizes) if a > 0 and b > 0]
    recent = growth[-_WINDOW:]
    if len(recent) < 3:
        return None
    fall = (recent[0] - recent[-1]) / (len(recent) - 1)
    if fall <= 0:
        return None
    total, size, rate = float(layer_ends[-1]), float(sizes[-1]), recent[-1]
    for _ in range(_HORIZON):
        rate -= fall
        size *= exp(rate)
        total += size
        if total > _OUT_OF_REACH:
            return _OUT_OF_REACH
        if size < 1:
            break
    return int(total)
