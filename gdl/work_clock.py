"""How long a child process has worked: CPU time, as waiting for a core on a busy machine costs nothing."""

from __future__ import annotations

import time

WALL_FACTOR = 10.0
"""Wall time per CPU second of a limit, for a child that neither works nor answers."""


class WorkClock:
    """The time that a child takes, from now, in CPU time.

    A child that sleeps, or waits for something else, gets `WALL_FACTOR` times as long in wall time.

    >>> import os
    >>> WorkClock(os.getpid()).has_passed(3600.0)
    False
    """

    def __init__(self, pid: int | None) -> None:
        self._pid = pid
        self._begin, self._cpu_begin = time.monotonic(), _cpu_seconds(pid)

    @property
    def seconds(self) -> float:
        """CPU time of the child, all threads together; wall time where the system does not report it."""
        return _cpu_seconds(self._pid) - self._cpu_begin

    def has_passed(self, seconds: float) -> bool:
        """Whether the child has taken more than `seconds`."""
        wall = time.monotonic() - self._begin
        return wall > seconds and (self.seconds > seconds or wall > WALL_FACTOR * seconds)


def _cpu_seconds(pid: int | None) -> float:
    if pid is not None:
        try:
            return time.clock_gettime(~pid << 3 | 2)  # Linux: see clock_getcpuclockid(3)
        except (AttributeError, OSError, OverflowError):
            pass
    return time.monotonic()
