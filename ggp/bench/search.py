"""Benchmark of the tree search on lanes: playouts and descents per CPU second.

Always from the initial state and after a warm-up, so that kernels and machine code are compiled and the
number of lanes in flight has grown to its steady value. The tree keeps growing meanwhile, which makes each
descent longer: rates are a little higher for short measurements.
"""

from __future__ import annotations

import time
from dataclasses import replace

from ggp.bench.measurement import Measurement, with_rates
from ggp.engines.compiled import CompiledGame
from ggp.search.budget import Budget
from ggp.search.tree.options import MctsOptions
from ggp.search.tree.search import LanesSearch

WARM_UP_PLAYOUTS = 4096


def measure_search(
    game: CompiledGame, policy: str = "uniform", *, seconds: float = 2.0, options: MctsOptions | None = None
) -> Measurement:
    """Search the initial state for `seconds` of wall-clock time. Raises OptionError for an unknown policy.

    warm_up_seconds       wall-clock time of the first WARM_UP_PLAYOUTS, compilation included
    playouts_per_second   of wall-clock time: what a player gets
    mean_depth, deepest   in the tree, in joint moves
    nodes, is_full        size of all trees, and whether a memory limit stopped one
    """
    chosen = replace(options or MctsOptions(), policy=policy)
    search = LanesSearch(game, game.roles[0], options=chosen)
    begin = time.perf_counter()
    search.move_to(game.initial_state(), None)
    search.run(Budget(simulations=WARM_UP_PLAYOUTS))
    game.native.wait(chosen.words)
    warm_up_seconds = time.perf_counter() - begin
    search.move_to(game.initial_state(), None)
    cpu_begin = time.process_time()
    search.run(Budget(time.monotonic() + seconds))
    cpu_seconds = max(time.process_time() - cpu_begin, 1e-9)
    report = search.report()
    search.close()
    return with_rates(
        {
            "game": game.name,
            "policy": policy,
            "threads": chosen.threads,
            "lanes": 64 * chosen.words,
            "lanes_per_leaf": chosen.lanes_per_leaf,
            "warm_up_seconds": warm_up_seconds,
            "cpu_seconds": cpu_seconds,
            "playouts": report.playouts,
            "descents": report.descents,
            "playouts_per_second": report.playouts_per_second,
            "mean_depth": report.mean_depth,
            "deepest": report.deepest,
            "nodes": report.nodes,
            "is_full": report.is_full,
        }
    )
