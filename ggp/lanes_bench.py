"""Measuring lanes: uniform playouts per CPU second, and what a tick spends on settle, choose and the rest."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from ggp.bench import calibrate
from ggp.compiled_game import CompiledGame
from ggp.kernels.compiling import announced_compilation
from ggp.lanes import STEP_LIMIT, BoolArray, Lanes, calibrate_words

_CHUNK_SECONDS = 0.02


class _Tally(NamedTuple):
    """What one thread played."""

    playouts: int
    stuck: int
    cut: int
    states: int
    ticks: int
    cpu_seconds: float
    wall_seconds: float


def bench_lanes(
    load: Callable[[], CompiledGame],
    *,
    seconds: float = 1.0,
    threads: int = 1,
    words: int | None = None,
    seed: int = 0,
    step_limit: int = STEP_LIMIT,
    calibration_seconds: float | None = None,
) -> dict[str, Any]:
    """Load a game and play uniform playouts for `seconds` of CPU time on each thread; JSON-able data.

    words                 None: the faster of two widths, found by a short trial (`calibrate_words`)
    calibration_seconds   of `ggp.bench.calibrate`; None: measured here

    Keys besides the obvious: `setup_seconds` is the wall time of `load`; `compile_seconds` that of
    compiling kernels for this W or loading them; `settle_seconds`, `choose_seconds`, `step_seconds` of CPU
    time per tick (one joint move in all lanes), `step` being all but the other two; `literals` gate inputs;
    `playouts_per_second` of wall time, all threads together.
    Playouts are counted from the initial state, lanes being in the steady state of short and long
    playouts mixed; stuck and cut ones count as playouts.
    """
    calibration = calibrate() if calibration_seconds is None else calibration_seconds
    begin = time.perf_counter()
    game = load()
    root = game.unpack(game.initial_state())
    setup_seconds = time.perf_counter() - begin
    begin = time.perf_counter()
    chosen = calibrate_words(game.lane_tables, root) if words is None else words
    engines = [Lanes(game.lane_tables, words=chosen, seed=seed, stream=i) for i in range(threads)]
    with announced_compilation():
        engines[0].begin(root)
        engines[0].play(1, step_limit)
    compile_seconds = time.perf_counter() - begin
    with ThreadPoolExecutor(threads) as pool:
        tallies = list(pool.map(lambda engine: _measure(engine, root, seconds, step_limit), engines))
    wall_rate = sum(tally.playouts / tally.wall_seconds for tally in tallies)
    total = _Tally(*(sum(column) for column in zip(*tallies, strict=True)))
    tick_seconds = total.cpu_seconds / total.ticks
    settle_seconds, choose_seconds = _parts(engines[0], tick_seconds)
    return {
        "game": game.name,
        "engine": "lanes",
        "threads": threads,
        "words": chosen,
        "lanes": engines[0].lane_count,
        "literals": len(game.lane_tables.source),
        "gates": game.lane_tables.gate_count,
        "setup_seconds": round(setup_seconds, 4),
        "compile_seconds": round(compile_seconds, 4),
        "cpu_seconds": round(total.cpu_seconds, 4),
        "playouts": total.playouts,
        "states": total.states,
        "stuck": total.stuck,
        "cut": total.cut,
        "mean_length": round(total.states / total.playouts, 2) if total.playouts else 0.0,
        "playouts_per_cpu_second": round(total.playouts / total.cpu_seconds, 3),
        "states_per_cpu_second": round(total.states / total.cpu_seconds, 3),
        "playouts_per_second": round(wall_rate, 3),
        "ns_per_state": round(total.cpu_seconds / max(1, total.states) * 1e9, 4),
        "tick_seconds": tick_seconds,
        "settle_seconds": settle_seconds,
        "choose_seconds": choose_seconds,
        "step_seconds": max(0.0, tick_seconds - settle_seconds - choose_seconds),
        "ns_per_literal": round(settle_seconds / max(1, len(game.lane_tables.source)) * 1e9, 4),
        "row_mebibytes": round(engines[0].row_bytes / 2**20, 3),
        "peak_mebibytes": round(_peak_mebibytes(), 1),
        "calibration_seconds": round(calibration, 4),
    }


def _measure(lanes: Lanes, root: BoolArray, seconds: float, step_limit: int) -> _Tally:
    lanes.begin(root)
    lanes.play(1, step_limit)
    begin = time.thread_time()
    ticks = 1
    while time.thread_time() - begin < seconds / 4:  # until lanes no longer march in step
        chunk = time.thread_time()
        lanes.play(ticks, step_limit)
        if time.thread_time() - chunk < _CHUNK_SECONDS / 2:
            ticks *= 2
    before = lanes.statistics()
    begin, wall_begin, played = time.thread_time(), time.perf_counter(), 0
    while (spent := time.thread_time() - begin) < seconds:
        lanes.play(ticks, step_limit)
        played += ticks
    after = lanes.statistics()
    return _Tally(
        playouts=after.playouts - before.playouts,
        stuck=after.stuck - before.stuck,
        cut=after.cut - before.cut,
        states=after.steps - before.steps,
        ticks=played,
        cpu_seconds=spent,
        wall_seconds=time.perf_counter() - wall_begin,
    )


def _parts(lanes: Lanes, tick_seconds: float) -> tuple[float, float]:
    """CPU seconds per tick of settle and of choose: the least of three measurements each."""
    with announced_compilation():
        lanes.time_parts(1)
    repeats = max(1, int(0.03 / tick_seconds))
    parts = np.array([lanes.time_parts(repeats) for _ in range(3)]).min(axis=0)
    return float(parts[0]), float(parts[1])


def _peak_mebibytes() -> float:
    """The largest resident size of this process so far."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20
