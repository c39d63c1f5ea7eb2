"""Machine code never touches other memory than that of its rows, and is there as long as it runs."""

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

import ggp
from ggp.circuit.tables import Phase
from ggp.jit.rows import words_of
from ggp.lanes.engine import Lanes
from ggp.native.background import WIDTHS
from ggp.native.code import LoadedCode, compile_part
from ggp.native.compile_process import Order
from ggp.native.parts import Part
from tests.ggp.native.test_native import layout_of, needs_kernels, random_lanes, run, settled


@needs_kernels
@pytest.mark.parametrize("words", WIDTHS)
def test_rows_that_numpy_has_copied_are_aligned_to_words_only(words):
    game = ggp.load("connectfour_4x4")
    lanes, rows = random_lanes(game, words)
    expected, value = settled(lanes), words_of(lanes.arrays.value)
    memory = np.zeros(value.size + 1, np.uint64)
    copy = memory[memory.ctypes.data // 8 % 2 ^ 1 :][: value.size].reshape(value.shape)
    assert copy.ctypes.data % 16 == 8
    copy[:] = value
    for phase in Phase:
        part = Part(phase)
        code = LoadedCode(compile_part(game.tables, layout_of(game), part, words), part)
        run(code, copy, copy)
    assert (copy[rows] == expected[rows]).all()


def test_there_is_room_for_the_addresses_of_every_width():
    addresses = ggp.load("tictactoe").lane_tables.schedule.native
    assert addresses.shape == (len(Part), len(WIDTHS) + 1)  # and a column without code
    for words in (1, 2, 4, 8, 16, 32):  # what `Lanes` takes
        assert 1 << WIDTHS.index(words) == words


@needs_kernels
def test_wide_rows_never_run_code_of_narrow_ones(monkeypatch):
    monkeypatch.setenv("GGP_NATIVE", "1")
    game = ggp.load("connectfour_4x4")
    root = game.unpack(game.initial_state())
    interpreted = Lanes(game.lane_tables, words=32, seed=1).playouts(root, 3000)
    game.native.begin(1)
    game.native.wait(1)
    assert Lanes(game.lane_tables, words=32, seed=1).playouts(root, 3000) == interpreted


END = """
import threading, time, ggp
from ggp.lanes.engine import Lanes
game = ggp.load("connectfour_4x4")
game.native.begin(8)
game.native.wait(8)
lanes, root = Lanes(game.lane_tables, words=8), game.unpack(game.initial_state())
lanes.playouts(root, 100)
threading.Thread(target=lanes.playouts, args=(root, 10**9), daemon=True).start()
time.sleep(0.1)
"""


@needs_kernels
def test_a_process_ends_while_a_thread_runs_machine_code():
    subprocess.run([sys.executable, "-c", END], check=True, env={**os.environ, "GGP_NATIVE": "1"})


def test_a_compiling_process_ends_with_its_input():
    game = ggp.load("tictactoe")
    script = """if True:
        import time
        from ggp.native import compile_process
        def compile_part(*_):
            print("begun", flush=True)
            time.sleep(60)
        compile_process.compile_part = compile_part
        compile_process._run()
        """
    command = [sys.executable, "-c", script]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        order = Order(game.tables, layout_of(game), (Part.LEGAL,), 1, 60.0)
        process.stdin.write(pickle.dumps(order))
        process.stdin.flush()
        assert process.stdout.readline() == b"begun\n"
        process.stdin.close()
        process.wait(20)


def test_an_inherited_limit_of_cpu_time_stays():
    pytest.importorskip("resource")
    script = """if True:
        import resource
        from ggp.native.compile_process import _limit_cpu_seconds
        resource.setrlimit(resource.RLIMIT_CPU, (50, 50))
        _limit_cpu_seconds(60.0)
        assert resource.getrlimit(resource.RLIMIT_CPU) == (50, 50)
        """
    subprocess.run([sys.executable, "-c", script], check=True)
