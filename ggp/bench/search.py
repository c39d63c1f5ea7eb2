"""Benchmark of the tree search on lanes: playouts and descents per CPU second.

Always from the initial state and after a warm-up, so that kernels are compiled and the number of lanes in
flight has grown to its steady value. The tree keeps growing meanwhile, which makes each descent longer: rates
are a little higher for short measurements.
"""

from __future__ import annotations

import time
from dataclasses import replace

from ggp.bench.measurement import SearchMeasurement, rate
from ggp.engines.compiled import CompiledGame
from ggp.search.budget import Budget
from ggp.search.tree.options import MctsOptions
from ggp.search.tree.search import LanesSearch

WARM_UP_PLAYOUTS = 4096


def measure_search(
    game: CompiledGame,
    policy: str = "uniform",
    *,
    seconds: float = 2.0,
    options: MctsOptions | None = None,
    calibration_seconds: float,
) -> SearchMeasurement:
    """Search the initial state for `seconds` of wall-clock time. Raises OptionError for an unknown policy."""
    chosen = replace(options or MctsOptions(), policy=policy)
    search = LanesSearch(game, game.roles[0], options=chosen)
    begin = time.perf_counter()
    search.move_to(game.initial_state(), None)
    search.run(Budget(simulations=WARM_UP_PLAYOUTS))
    warm_up_seconds = time.perf_counter() - begin
    search.move_to(game.initial_state(), None)
    cpu_begin = time.process_time()
    search.run(Budget(time.monotonic() + seconds))
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
        playouts_per_cpu_second=rate(report.playouts, cpu_seconds, 1),
        descents_per_cpu_second=rate(report.descents, cpu_seconds, 1),
        playouts_per_second=round(report.playouts_per_second, 1),
        mean_depth=round(report.mean_depth, 2),
        deepest=report.deepest,
        nodes=report.nodes,
        is_full=report.is_full,
        calibration_seconds=round(calibration_seconds, 4),
    )
