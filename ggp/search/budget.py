"""Budget: the limits of a search."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Budget:
    """The limits of a search, which ends when it reaches the first of them.

    deadline      time.monotonic() seconds, with the margin of the player already subtracted
    simulations   playouts; None: any number
    nodes         positions to expand, in alpha-beta; None: any number
    is_stopped    asked every few milliseconds; None: nothing stops the search, as it does pondering

    >>> Budget(deadline=0.0).is_over(), Budget(simulations=100).is_over()
    (True, False)
    >>> Budget(is_stopped=lambda: True).is_over()
    True
    """

    deadline: float = math.inf
    simulations: int | None = None
    nodes: int | None = None
    is_stopped: Callable[[], bool] | None = None

    @property
    def is_counted(self) -> bool:
        """Whether a number ends the search, so that its result does not depend on the clock."""
        return self.simulations is not None or self.nodes is not None

    def is_interrupted(self) -> bool:
        """Whether the search was stopped early."""
        return self.is_stopped is not None and self.is_stopped()

    def is_over(self) -> bool:
        """Whether the deadline has passed or the search was stopped."""
        return time.monotonic() >= self.deadline or self.is_interrupted()

    def seconds_left(self) -> float:
        """Seconds until the deadline; negative after it."""
        return self.deadline - time.monotonic()

    def part(self, share: float) -> Budget:
        """A budget with this share of the remaining time."""
        if self.deadline == math.inf:
            return self
        now = time.monotonic()
        return replace(self, deadline=now + share * (self.deadline - now))

    def earlier(self, seconds: float) -> Budget:
        """A budget that ends some seconds earlier, but keeps at least half of the remaining time."""
        return replace(self, deadline=self.deadline - min(seconds, max(0.0, self.seconds_left()) / 2))


NO_LIMIT = Budget()
"""To the end of the search, however long that takes."""

NO_TIME = Budget(deadline=-math.inf)
"""For preparations during a match: nothing may take long."""
