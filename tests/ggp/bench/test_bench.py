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


def counted(game, seconds):
    """A measurement with a clock that advances by a second whenever it is read."""
    return measure(game, seconds=seconds, cpu_clock=map(float, itertools.count()).__next__)


def test_measure_counts_playouts_and_states():
    result = counted(Matrix([[[0, 0]]], moves=("a",)), 100)
    assert json.loads(json.dumps(result)) == result
    assert result["playouts"] == result["states"] > 10
    assert result["mean_length"] == 1.0
    assert result["states_per_cpu_second"] == pytest.approx(result["states"] / result["cpu_seconds"])
    assert result["playouts_per_cpu_second"] > 0
    assert result["stuck"] == result["without_goal"] == 0


def test_measure_counts_the_states_of_a_playout_that_time_cuts():
    result = counted(Nim(10_000), 50)
    assert result["playouts"] == 0
    assert 45 <= result["states"] <= 50
    assert result["states_per_cpu_second"] > 0


def test_measure_counts_what_the_rules_leave_out():
    assert counted(Stuck(2), 200)["stuck"] > 0
    assert counted(Stuck(1), 20)["states"] == 0
    result = counted(Dice(), 100)
    assert result["without_goal"] == result["playouts"] > 0


@pytest.fixture
def ctrl_c():
    """SIGINT interrupts, even where the tests run as a job in the background, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_interrupted_benchmark_on_lanes_ends_at_once(ctrl_c):
    game = load("tictactoe", "lanes")
    measure_lanes(game, seconds=0.01, words=8)  # compile
    interrupt = threading.Timer(0.5, signal.pthread_kill, [threading.main_thread().ident, signal.SIGINT])
    interrupt.start()
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        measure_lanes(game, seconds=60, words=8)
    assert time.monotonic() - begin < 10
