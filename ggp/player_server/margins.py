"""Margins: time between the HTTP player's answer and the end of the clock.

The margin covers sending the answer to the manager. Half of it is given up if otherwise only a guess could be
sent. Margins of players (`ggp.players.options`) are added, and on a busy machine the recent delay of the
server.
"""

from __future__ import annotations

import asyncio
import ipaddress
import time
from collections import deque
from dataclasses import dataclass

MAX_MARGIN_SECONDS = 60
"""The largest margin that can be chosen."""

LARGEST_SHARE = 0.5
"""Largest share of a clock that a margin may take: a short clock must leave time to search."""


@dataclass(frozen=True)
class Margin:
    """Seconds reserved for sending an answer, for remote and for local managers.

    >>> str(Margin(local_seconds=0.5, remote_seconds=3.0))
    '3; 0.5 for local managers'
    """

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

    >>> answer_deadline(100.0, 10.0, PLAY_MARGIN, None, "192.0.2.1:4000")
    109.0
    >>> answer_deadline(100.0, 10.0, PLAY_MARGIN, None, "127.0.0.1:4000")
    109.8
    >>> answer_deadline(100.0, 10.0, PLAY_MARGIN, 30.0, "192.0.2.1:4000")
    105.0
    """
    if chosen_seconds is None:
        chosen_seconds = margin.local_seconds if _is_local(peer) else margin.remote_seconds
    return arrival + clock_seconds - min(chosen_seconds, LARGEST_SHARE * clock_seconds)


def latest_deadline(arrival: float, clock_seconds: float, deadline: float) -> float:
    """Deadline for waiting for a legal move if none is known at `deadline`: half of the margin is left.

    >>> latest_deadline(100.0, 10.0, 109.0)
    109.5
    """
    return (deadline + arrival + clock_seconds) / 2


def _is_local(peer: str) -> bool:
    try:
        return ipaddress.ip_address(peer.rpartition(":")[0]).is_loopback
    except ValueError:
        return False
