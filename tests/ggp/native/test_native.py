"""Machine code settles what the interpreter settles, in every width and for every kind of processor."""

import ctypes
import pickle

import numpy as np
import pytest

import ggp
from ggp.circuit.tables import Phase
from ggp.engines.compiled import CompiledGame
from ggp.jit.compiling import IS_COMPILED
from ggp.jit.rows import words_of
from ggp.lanes.choose import native_layout
from ggp.lanes.engine import Lanes
from ggp.lanes.layout import arrange
from ggp.native.background import WIDTHS, NativeCode
from ggp.native.code import LoadedCode, compile_part, processor, rows_of
from ggp.native.schedule import Layout, Part, ScheduleError, interpret, outputs_of_phase, schedule_phase

GAMES = (
    "tictactoe",
    "connectfour_4x4",
    "breakthrough_small",
    "hex_5x5",
    "dark_hex_3x3",
    "goofspiel",
    "lightsout",
)
needs_kernels = pytest.mark.skipif(not IS_COMPILED, reason="kernels are plain Python")


def layout_of(game: CompiledGame) -> Layout:
    return native_layout(game.lane_tables)


def random_lanes(game: CompiledGame, words: int) -> tuple[Lanes, list[int]]:
    """Lanes with random fluents and moves, and the rows of all outputs."""
    lanes, tables = Lanes(arrange(game.tables), words=words), game.tables
    rng = np.random.default_rng(words)
    shape = tables.gate0 - 1, words
    words_of(lanes.arrays.value)[1 : tables.gate0] = rng.integers(0, 2**64, shape, dtype=np.uint64)
    ends = [0, *tables.phase_end.tolist()]
    outputs = set().union(*(outputs_of_phase(tables, ends[p], ends[p + 1]) for p in Phase))
    return lanes, sorted(game.lane_tables.node_of[sorted(outputs)].tolist())


def is_complete(words: int) -> bool:
    """Whether this processor has what all parts need; else moves are counted by the interpreter."""
    return rows_of(words, processor()[1]).inputs == 3


def run(code: LoadedCode, value: np.ndarray, scratch: np.ndarray) -> None:
    ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(code.address)(
        value.ctypes.data, scratch.ctypes.data
    )


def settled(lanes: Lanes) -> np.ndarray:
    value = words_of(lanes.arrays.value)
    before = value.copy()
    lanes.settle()
    after = value.copy()
    value[:] = before
    return after


@pytest.mark.parametrize("inputs", [2, 3])
@pytest.mark.parametrize("name", GAMES)
def test_a_schedule_computes_what_the_gates_do(name, inputs):
    game = ggp.load(name)
    lanes, rows = random_lanes(game, 2)
    expected, value = settled(lanes), words_of(lanes.arrays.value)
    for phase in Phase:
        interpret(
            schedule_phase(game.tables, layout_of(game), phase, inputs=inputs, function_operations=40), value
        )
    assert (value[rows] == expected[rows]).all()


@needs_kernels
@pytest.mark.parametrize("words", WIDTHS)
@pytest.mark.parametrize("name", GAMES)
def test_machine_code_settles_as_the_interpreter_does(name, words):
    game = ggp.load(name)
    lanes, rows = random_lanes(game, words)
    expected, value = settled(lanes), words_of(lanes.arrays.value)
    for phase in Phase:
        part = Part(phase)
        code = LoadedCode(compile_part(game.tables, layout_of(game), part, words), part)
        run(code, value, value)
    assert (value[rows] == expected[rows]).all()


def test_values_between_functions_need_rows():
    game = ggp.load("tictactoe")
    layout = layout_of(game)._replace(end_spare=game.lane_tables.first_shared)
    with pytest.raises(ScheduleError, match="more than 0 rows"):
        schedule_phase(game.tables, layout, Phase.LEGAL, function_operations=5)


@pytest.fixture
def cached(tmp_path, monkeypatch):
    monkeypatch.setenv("GGP_NATIVE", "1")
    monkeypatch.setattr("ggp.native.background.CACHE_FOLDER", tmp_path)
    return tmp_path / "native"


@needs_kernels
def test_playouts_change_to_machine_code_and_stay_the_same(cached):
    game = ggp.load("connectfour_4x4")
    root = game.unpack(game.initial_state())
    interpreted = Lanes(game.lane_tables, words=2, seed=1).playouts(root, 5000)
    game.native.begin(2)
    assert game.native.wait(2) == is_complete(2)
    assert (game.lane_tables.schedule.native[list(Phase), 1] != 0).all()
    assert Lanes(game.lane_tables, words=2, seed=1).playouts(root, 5000) == interpreted
    again = ggp.load("connectfour_4x4")
    again.native.begin(2)
    assert again.native.wait(2) == is_complete(2)
    assert Lanes(again.lane_tables, words=2, seed=1).playouts(root, 5000) == interpreted
    assert len(list(cached.glob("*.native"))) == len(Part)


@needs_kernels
def test_a_damaged_file_is_compiled_again(cached, caplog):
    game = ggp.load("tictactoe")
    game.native.begin(8)
    assert game.native.wait(8) == is_complete(8)
    victim = sorted(cached.glob("*.native"))[0]
    victim.write_bytes(b"damaged" * 20)
    again = ggp.load("tictactoe")
    again.native.begin(8)
    assert again.native.wait(8) == is_complete(8)
    assert "wrong checksum" in caplog.text


@needs_kernels
def test_nothing_is_compiled_without_budget_or_if_switched_off(cached, monkeypatch):
    game = ggp.load("tictactoe")
    monkeypatch.setenv("GGP_NATIVE", "0")
    game.native.begin(8)
    assert not game.native.wait(8)
    assert not cached.exists()


def test_addresses_stay_in_their_process():
    tables = ggp.load("tictactoe").lane_tables
    tables.schedule.native[0, 0] = 1
    assert (pickle.loads(pickle.dumps(tables)).schedule.native == 0).all()
    tables.schedule.native[0, 0] = 0


def test_code_is_dropped_with_its_table():
    from ggp.native import background

    game = ggp.load("tictactoe")
    addresses = np.zeros((len(Part), len(WIDTHS)), np.int64)
    code = NativeCode(game.tables, layout_of(game), addresses)
    before = len(background._loaded)
    code._put(compile_part(game.tables, layout_of(game), Part.NEXT, 1), Part.NEXT, 1)
    assert len(background._loaded) == before + 1
    del code, addresses
    assert len(background._loaded) == before
