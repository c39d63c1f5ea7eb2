"""Benchmarks: what is counted, also where time or rules cut a playout."""

import itertools
import json
import signal
import threading
import time

import pytest

from ggp.bench.engines import measure
from ggp.bench.lanes import measure_lanes
from ggp.engines.loading import load
from tests.ggp.fakes import Dice, Matrix, Nim, Stuck


def tick_clock():
    ticks = itertools.count()
    return lambda: float(next(ticks))


def counted(game, seconds):
    return measure(game, seconds=seconds, calibration_seconds=1.0, cpu_clock=tick_clock())


def test_measure_counts_playouts_and_states():
    result = counted(Matrix([[[0, 0]]], moves=("a",)), 100)
    assert result.playouts == result.states > 10
    assert result.mean_length == 1.0
    assert result.states_per_cpu_second == pytest.approx(result.states / result.cpu_seconds, abs=0.01)
    assert result.playouts_per_cpu_second > 0
    assert result.stuck == result.without_goal == 0


def test_measure_counts_the_states_of_a_playout_that_time_cuts():
    result = counted(Nim(10_000), 50)
    assert result.playouts == 0
    assert 45 <= result.states <= 50
    assert result.states_per_cpu_second > 0


def test_measure_counts_what_the_rules_leave_out():
    assert counted(Stuck(2), 200).stuck > 0
    result = counted(Dice(), 100)
    assert result.without_goal == result.playouts > 0


def test_measure_survives_a_game_without_moves():
    assert counted(Stuck(1), 20).states == 0


def test_measurement_has_the_keys_of_the_json_output():
    data = counted(Nim(3), 20).to_dict()
    assert json.loads(json.dumps(data)) == data
    assert {
        "game",
        "engine",
        "setup_seconds",
        "playouts_per_cpu_second",
        "states_per_cpu_second",
        "calibration_seconds",
    } <= data.keys()


@pytest.fixture
def ctrl_c():
    """SIGINT interrupts, even where the tests run as a job in the background, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("threads", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_interrupted_benchmark_on_lanes_ends_at_once(threads, ctrl_c):
    game = load("tictactoe", "lanes")
    measure_lanes(lambda: game, seconds=0.01, words=1, calibration_seconds=1.0)  # compile
    interrupt = threading.Timer(0.5, signal.pthread_kill, [threading.main_thread().ident, signal.SIGINT])
    interrupt.start()
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        measure_lanes(lambda: game, seconds=60, threads=threads, words=1, calibration_seconds=1.0)
    assert time.monotonic() - begin < 10
