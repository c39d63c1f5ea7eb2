"""Benchmark of lanes: uniform playouts per CPU second, and the time of a tick by its parts."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from ggp.bench.calibration import calibrate
from ggp.bench.measurement import LanesMeasurement, rate
from ggp.engines.compiled import CompiledGame
from ggp.jit.compiling import announced_compilation, kernel
from ggp.jit.rows import ALL_ONES, fill
from ggp.lanes.choose import choice_planes, choose_moves
from ggp.lanes.engine import STEP_LIMIT, BoolArray, Lanes, calibrate_words
from ggp.lanes.layout import LaneTables
from ggp.lanes.playout import PlayoutArrays
from ggp.lanes.step import settle_states, settle_successors

_CHUNK_SECONDS = 0.02


class _Tally(NamedTuple):
    """Counts of one thread."""

    playouts: int
    stuck: int
    cut: int
    states: int
    ticks: int
    cpu_seconds: float
    wall_seconds: float


def measure_lanes(
    load: Callable[[], CompiledGame],
    *,
    seconds: float = 1.0,
    threads: int = 1,
    words: int | None = None,
    seed: int = 0,
    step_limit: int = STEP_LIMIT,
    calibration_seconds: float | None = None,
) -> LanesMeasurement:
    """Load a game and play uniform playouts for `seconds` of CPU time on each thread.

    words                 None: the faster of two widths, found by a short trial (`calibrate_words`)
    calibration_seconds   of `ggp.bench.calibration.calibrate`; None: measured here
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
    is_stopped = threading.Event()
    with ThreadPoolExecutor(threads) as pool:
        try:
            tallies = list(
                pool.map(lambda engine: _measure(engine, root, seconds, step_limit, is_stopped), engines)
            )
        except KeyboardInterrupt:
            is_stopped.set()
            raise
    return _measurement(game, engines, tallies, (setup_seconds, compile_seconds, calibration))


def _measurement(
    game: CompiledGame, engines: list[Lanes], tallies: list[_Tally], times: tuple[float, float, float]
) -> LanesMeasurement:
    """The counts of all threads together; `times`: to set up, to compile, to calibrate."""
    setup_seconds, compile_seconds, calibration_seconds = times
    wall_rate = sum(tally.playouts / tally.wall_seconds for tally in tallies)
    total = _Tally(*(sum(column) for column in zip(*tallies, strict=True)))
    tick_seconds = total.cpu_seconds / total.ticks
    settle_seconds, choose_seconds = _parts(engines[0], tick_seconds)
    literals = len(game.lane_tables.schedule.source)
    return LanesMeasurement(
        game=game.name,
        engine="lanes",
        threads=len(engines),
        words=engines[0].words,
        lanes=engines[0].lane_count,
        literals=literals,
        gates=len(game.lane_tables.schedule.target),
        setup_seconds=round(setup_seconds, 4),
        compile_seconds=round(compile_seconds, 4),
        cpu_seconds=round(total.cpu_seconds, 4),
        playouts=total.playouts,
        states=total.states,
        stuck=total.stuck,
        cut=total.cut,
        mean_length=round(total.states / total.playouts, 2) if total.playouts else 0.0,
        playouts_per_cpu_second=rate(total.playouts, total.cpu_seconds),
        states_per_cpu_second=rate(total.states, total.cpu_seconds),
        playouts_per_second=round(wall_rate, 3),
        tick_seconds=tick_seconds,
        settle_seconds=settle_seconds,
        choose_seconds=choose_seconds,
        step_seconds=max(0.0, tick_seconds - settle_seconds - choose_seconds),
        calibration_seconds=round(calibration_seconds, 4),
    )


def _measure(
    lanes: Lanes, root: BoolArray, seconds: float, step_limit: int, is_stopped: threading.Event
) -> _Tally:
    """Play until `seconds` of CPU time have passed, or until `is_stopped`."""
    lanes.begin(root)
    lanes.play(1, step_limit)
    begin = time.thread_time()
    ticks = 1
    while (
        time.thread_time() - begin < seconds / 4 and not is_stopped.is_set()
    ):  # until lanes no longer march in step
        chunk = time.thread_time()
        lanes.play(ticks, step_limit)
        if time.thread_time() - chunk < _CHUNK_SECONDS / 2:
            ticks *= 2
    before = lanes.statistics()
    begin, wall_begin, played = time.thread_time(), time.perf_counter(), 0
    while (spent := time.thread_time() - begin) < seconds and not is_stopped.is_set():
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
    """CPU seconds per tick of settle and of choose: the minimum of three measurements each."""
    repeats = max(1, int(0.03 / tick_seconds))
    planes = choice_planes(lanes.tables)

    def seconds_of(*work: Any) -> float:
        part, *arguments = work
        begin = time.thread_time()
        part(lanes.tables, lanes.arrays, *arguments, repeats)
        return (time.thread_time() - begin) / repeats

    with announced_compilation():
        _settle_ticks(lanes.tables, lanes.arrays, 1)
        _choose_ticks(lanes.tables, lanes.arrays, planes, 1)
    settle = min(seconds_of(_settle_ticks) for _ in range(3))
    return settle, min(seconds_of(_choose_ticks, planes) for _ in range(3))


@kernel
def _settle_ticks(tables: LaneTables, arrays: PlayoutArrays, repeats: int) -> None:
    for _ in range(repeats):
        settle_states(tables, arrays.value)
        settle_successors(tables, arrays.value, False)


@kernel
def _choose_ticks(tables: LaneTables, arrays: PlayoutArrays, planes: int, repeats: int) -> None:
    everywhere = fill(arrays.value, ALL_ONES)
    for _ in range(repeats):
        choose_moves(tables, arrays.value, arrays.scratch, planes, arrays.random, everywhere)
