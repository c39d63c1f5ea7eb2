"""When a search ends that looks up now and then: at its deadline, or when somebody stops it."""

from __future__ import annotations

import time
from collections.abc import Callable


def stops_at(deadline: float | None, is_stopped: Callable[[], bool] | None = None) -> Callable[[], bool]:
    """Whether `deadline` (`time.monotonic()` seconds; None: never) has passed or `is_stopped()`, when asked.

    >>> stops_at(None)(), stops_at(0.0)(), stops_at(None, lambda: True)()
    (False, True, True)
    """

    def is_over() -> bool:
        is_late = deadline is not None and time.monotonic() >= deadline
        return is_late or (is_stopped is not None and is_stopped())

    return is_over
