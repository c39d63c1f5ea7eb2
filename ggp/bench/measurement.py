"""Measurements: what each benchmark reports, as data that prints itself as JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Measurement:
    """What all benchmarks report.

    cpu_seconds           of the process, all threads together
    calibration_seconds   CPU time of `ggp.bench.calibration.calibrate`, to compare machines by
    """

    game: str
    cpu_seconds: float
    playouts: int
    playouts_per_cpu_second: float
    calibration_seconds: float

    def to_dict(self) -> dict[str, Any]:
        """This measurement as JSON-able data."""
        return asdict(self)


@dataclass(frozen=True)
class EngineMeasurement(Measurement):
    """Random playouts of one game on an engine.

    setup_seconds   wall-clock time from the rules to a game with its first legal moves
    playouts        finished ones: terminal, stuck or cut at the step limit
    states          states reached by a joint move, those of the unfinished playout too
    stuck           playouts that ended because a role had no move
    """

    engine: str
    setup_seconds: float
    states: int
    stuck: int
    states_per_cpu_second: float
    mean_length: float


@dataclass(frozen=True)
class PlayoutMeasurement(EngineMeasurement):
    """Random playouts through the interface of any engine; `without_goal` counts missing goals of roles."""

    without_goal: int


@dataclass(frozen=True)
class LanesMeasurement(EngineMeasurement):
    """Random playouts on lanes, in the steady state of short and long playouts mixed.

    words, lanes          width of a row, and lanes per thread
    literals, gates       size of the circuit: gate inputs, gates
    compile_seconds       of compiling kernels for this width or loading them
    cut                   playouts that ended at the step limit
    playouts_per_second   of wall-clock time, all threads together
    tick_seconds          CPU time per tick (one joint move in all lanes), of which `settle_seconds`,
                          `choose_seconds` and, the rest, `step_seconds`
    """

    threads: int
    words: int
    lanes: int
    literals: int
    gates: int
    compile_seconds: float
    cut: int
    playouts_per_second: float
    tick_seconds: float
    settle_seconds: float
    choose_seconds: float
    step_seconds: float


@dataclass(frozen=True)
class SearchMeasurement(Measurement):
    """The tree search of one game on lanes.

    warm_up_seconds       wall-clock time of the first WARM_UP_PLAYOUTS, compilation included
    playouts_per_second   of wall-clock time: what a player gets
    mean_depth, deepest   in the tree, in joint moves
    nodes, is_full        size of all trees, and whether a memory limit stopped one
    """

    policy: str
    threads: int
    lanes: int
    lanes_per_leaf: int
    warm_up_seconds: float
    descents: int
    descents_per_cpu_second: float
    playouts_per_second: float
    mean_depth: float
    deepest: int
    nodes: int
    is_full: bool


def rate(count: int, seconds: float, digits: int = 3) -> float:
    """`count` per second, rounded; 0 for no time.

    >>> rate(10, 4.0)
    2.5
    """
    return round(count / seconds, digits) if seconds > 0 else 0.0
