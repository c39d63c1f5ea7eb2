"""Benchmark of lanes: uniform playouts per CPU second."""

from __future__ import annotations

import time
from itertools import product

from ggp.bench.measurement import Measurement, with_rates
from ggp.engines.compiled import CompiledGame
from ggp.jit.compiling import announced_compilation
from ggp.lanes.engine import STEP_LIMIT, BoolArray, Lanes, calibrate_words, candidate_words

_CHUNK_SECONDS = 0.02


def measure_lanes(game: CompiledGame, *, seconds: float = 1.0, words: int | None = None) -> Measurement:
    """Play uniform playouts for `seconds` of CPU time, in the steady state.

    words                 width of a row; None: the faster of two, found by a short trial (`calibrate_words`)
    literals, gates       size of the circuit: gate inputs, gates
    compile_seconds       of compiling kernels and machine code for this width or loading them
    is_native             whether machine code did all but draw and count ends (see `ggp.native`)
    stuck, cut            playouts that ended because a role had no move, or at the step limit
    playouts_per_second   of wall-clock time
    tick_seconds          CPU time per tick (one joint move in all lanes)
    """
    root = game.unpack(game.initial_state())
    begin = time.perf_counter()
    candidates = candidate_words(game.lane_tables) if words is None else (words,)
    is_native = _have_code(game, candidates)
    chosen = calibrate_words(game.lane_tables, root, candidates) if words is None else words
    lanes = Lanes(game.lane_tables, words=chosen, seed=0)
    with announced_compilation():
        lanes.begin(root)
        lanes.play(1, STEP_LIMIT)
    compile_seconds = time.perf_counter() - begin
    counts, ticks, playouts_per_second = _measure(lanes, root, seconds)
    return with_rates(
        {
            "game": game.name,
            "engine": "lanes",
            "words": chosen,
            "lanes": lanes.lane_count,
            "literals": len(game.lane_tables.schedule.source),
            "gates": len(game.lane_tables.schedule.target),
            "compile_seconds": compile_seconds,
            "is_native": is_native[chosen],
            **counts,
            "mean_length": counts["states"] / max(1, counts["playouts"]),
            "playouts_per_second": playouts_per_second,
            "tick_seconds": counts["cpu_seconds"] / ticks,
        }
    )


def _have_code(game: CompiledGame, widths: tuple[int, ...]) -> dict[int, bool]:
    """Compile machine code for these row widths; return for which of them all parts have it."""
    for words, code in product(widths, (game.native, game.native_playouts)):
        code.begin(words)
    return {words: game.native.wait(words) & game.native_playouts.wait(words) for words in widths}


def _measure(lanes: Lanes, root: BoolArray, seconds: float) -> tuple[dict[str, float], int, float]:
    """Play for `seconds` of CPU time; return counts, ticks, and playouts per second of wall-clock time."""
    lanes.begin(root)
    lanes.play(1, STEP_LIMIT)
    begin, ticks = time.thread_time(), 1
    # Until lanes no longer march in step.
    while time.thread_time() - begin < seconds / 4:
        chunk = time.thread_time()
        lanes.play(ticks, STEP_LIMIT)
        if time.thread_time() - chunk < _CHUNK_SECONDS / 2:
            ticks *= 2
    before = lanes.statistics()
    begin, wall_begin, played = time.thread_time(), time.perf_counter(), 0
    while (spent := time.thread_time() - begin) < seconds:
        lanes.play(ticks, STEP_LIMIT)
        played += ticks
    after = lanes.statistics()
    counts = {
        "playouts": after.playouts - before.playouts,
        "stuck": after.stuck - before.stuck,
        "cut": after.cut - before.cut,
        "states": after.steps - before.steps,
        "cpu_seconds": spent,
    }
    return counts, played, counts["playouts"] / (time.perf_counter() - wall_begin)
