"""Calibration: CPU seconds of a fixed loop, to compare machines by."""

from __future__ import annotations

import time

ROUNDS = 2_000_000


def calibrate(rounds: int = ROUNDS) -> float:
    """CPU seconds that a fixed loop of integer arithmetic takes on this machine now."""
    begin = time.process_time()
    value = 1
    for _ in range(rounds):
        value = (value * 1103515245 + 12345) & 0x7FFFFFFF
    return time.process_time() - begin
