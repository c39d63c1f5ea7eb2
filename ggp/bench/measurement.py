"""What every benchmark reports: a dictionary of figures, as `ggp bench --json` prints it."""

from __future__ import annotations

from typing import Any, TypeAlias

Measurement: TypeAlias = dict[str, Any]
"""`game`, `cpu_seconds` of the process with all its threads, `playouts`, and the keys of each benchmark."""


def with_rates(measurement: Measurement) -> Measurement:
    """Add the rates per CPU second of playouts, states and descents; shorten all numbers to six digits.

    >>> with_rates({"cpu_seconds": 4.0, "playouts": 10})
    {'cpu_seconds': 4.0, 'playouts': 10, 'playouts_per_cpu_second': 2.5}
    """
    seconds = measurement["cpu_seconds"]
    rates = {
        f"{name}_per_cpu_second": measurement[name] / seconds if seconds > 0 else 0.0
        for name in ("playouts", "states", "descents")
        if name in measurement
    }
    return {
        key: float(f"{value:.6g}") if isinstance(value, float) else value
        for key, value in (measurement | rates).items()
    }
