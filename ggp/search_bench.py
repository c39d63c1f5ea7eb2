"""Measuring the search on lanes: playouts that enter the statistics, and descents, per CPU second.

Always from the initial state and after a warm-up, so that kernels are compiled and the number of lanes in
flight has grown to what it stays at. The tree keeps growing meanwhile, which makes each descent longer: rates
are a little higher for short measurements.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from ggp.bench import calibrate
from ggp.compiled_game import CompiledGame
from ggp.search.mcts import LanesSearch
from ggp.search.options import MctsOptions

POLICIES = ("uniform", "mast", "rave+mast")
WARM_UP_PLAYOUTS = 4096


@dataclass(frozen=True)
class SearchMeasurement:
    """What searching one game cost.

    warm_up_seconds       wall-clock time of the first WARM_UP_PLAYOUTS, compilation included
    cpu_seconds           of the process, all threads together; the rates are per CPU second
    playouts_per_second   per second of wall-clock time: what a player gets
    mean_depth, deepest   in the tree, in joint moves
    nodes, is_full        size of the tree (of all threads), and whether a memory limit stopped it
    calibration_seconds   CPU time of `ggp.bench.calibrate` beside it, to compare machines by
    """

    game: str
    policy: str
    threads: int
    lanes: int
    lanes_per_leaf: int
    warm_up_seconds: float
    cpu_seconds: float
    playouts: int
    descents: int
    playouts_per_cpu_second: float
    descents_per_cpu_second: float
    playouts_per_second: float
    mean_depth: float
    deepest: int
    nodes: int
    is_full: bool
    calibration_seconds: float

    def to_dict(self) -> dict[str, Any]:
        """This measurement as JSON-able data."""
        return asdict(self)


def measure_search(
    game: CompiledGame,
    policy: str = "uniform",
    *,
    seconds: float = 2.0,
    seed: int = 0,
    options: MctsOptions | None = None,
    calibration_seconds: float | None = None,
) -> SearchMeasurement:
    """Search the initial state for `seconds` of wall-clock time. Raises OptionError for an unknown policy."""
    calibration = calibrate() if calibration_seconds is None else calibration_seconds
    chosen = replace(options or MctsOptions(), policy=policy)
    search = LanesSearch(game, game.roles[0], seed=seed, options=chosen)
    begin = time.perf_counter()
    search.move_to(game.initial_state(), None)
    search.run(simulations=WARM_UP_PLAYOUTS)
    warm_up_seconds = time.perf_counter() - begin
    search.move_to(game.initial_state(), None)
    cpu_begin = time.process_time()
    search.run(deadline=time.monotonic() + seconds)
    cpu_seconds = max(time.process_time() - cpu_begin, 1e-9)
    report = search.report()
    search.close()
    return SearchMeasurement(
        game=game.name,
        policy=policy,
        threads=chosen.threads,
        lanes=64 * chosen.words,
        lanes_per_leaf=chosen.lanes_per_leaf,
        warm_up_seconds=round(warm_up_seconds, 3),
        cpu_seconds=round(cpu_seconds, 4),
        playouts=report.playouts,
        descents=report.descents,
        playouts_per_cpu_second=round(report.playouts / cpu_seconds, 1),
        descents_per_cpu_second=round(report.descents / cpu_seconds, 1),
        playouts_per_second=round(report.playouts_per_second, 1),
        mean_depth=round(report.mean_depth, 2),
        deepest=report.deepest,
        nodes=report.nodes,
        is_full=report.is_full,
        calibration_seconds=round(calibration, 4),
    )


def measure_searches(
    game: CompiledGame,
    policies: Sequence[str] = POLICIES,
    *,
    seconds: float = 2.0,
    seed: int = 0,
    options: MctsOptions | None = None,
) -> Iterator[SearchMeasurement]:
    """`measure_search` for each policy, with one calibration for all."""
    calibration = calibrate()
    for policy in policies:
        yield measure_search(
            game, policy, seconds=seconds, seed=seed, options=options, calibration_seconds=calibration
        )
