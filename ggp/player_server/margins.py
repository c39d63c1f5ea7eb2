"""Margins: time between the HTTP player's answer and the end of the clock.

The margin covers sending the answer to the manager. Half of it is given up if otherwise only a guess could be
sent. Margins of players (`ggp.players.options`) are added, and on a busy machine the recent delay of the
server.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import time
from collections import deque
from dataclasses import dataclass

MAX_MARGIN_SECONDS = 60
"""The largest margin that can be chosen."""
_LARGEST_SHARE = 0.5
"""Largest share of a clock that a margin may take: a short clock must leave time to search."""


@dataclass(frozen=True)
class Margin:
    """Seconds reserved for sending an answer, for remote and for local managers."""

    local_seconds: float
    remote_seconds: float

    def __str__(self) -> str:
        return f"{self.remote_seconds:g}; {self.local_seconds:g} for local managers"


class LoopLag:
    """Delay of the event loop in the last ten seconds."""

    def __init__(self) -> None:
        self._lags: deque[float] = deque([0.0], maxlen=100)

    async def watch(self) -> None:
        """Measure the delay every tenth of a second until cancelled."""
        while True:
            due = time.monotonic() + 0.1
            await asyncio.sleep(0.1)
            self._lags.append(time.monotonic() - due)

    def seconds(self, clock_seconds: float) -> float:
        """Seconds of a clock reserved for the delay of receiving and answering: at most a quarter of it."""
        return min(2 * max(self._lags), clock_seconds / 4)


START_MARGIN = Margin(local_seconds=0.3, remote_seconds=2.0)
PLAY_MARGIN = Margin(local_seconds=0.2, remote_seconds=1.0)


def answer_deadline(
    arrival: float, clock_seconds: float, margin: Margin, chosen_seconds: float | None, peer: str
) -> float:
    """Deadline for sending the answer, `time.monotonic()` seconds.

    arrival          when the message arrived: the clock starts then
    chosen_seconds   margin set by the user, replaces `margin`; None: not set
    peer             address of the manager, host:port

    >>> answer_deadline(100.0, 10.0, PLAY_MARGIN, None, "127.0.0.1:4000")
    109.8
    """
    if chosen_seconds is None:
        is_local = False
        with contextlib.suppress(ValueError):
            is_local = ipaddress.ip_address(peer.rpartition(":")[0]).is_loopback
        chosen_seconds = margin.local_seconds if is_local else margin.remote_seconds
    return arrival + clock_seconds - min(chosen_seconds, _LARGEST_SHARE * clock_seconds)
