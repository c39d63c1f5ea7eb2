"""Machine code settles what the interpreter settles, in every width and for every kind of processor."""

import ctypes
import itertools
import pickle
from contextlib import suppress

import numpy as np
import pytest

import ggp
from ggp.circuit.tables import Phase
from ggp.engines.compiled import CompiledGame
from ggp.jit.compiling import IS_COMPILED
from ggp.jit.rows import words_of
from ggp.lanes.choose import native_layout
from ggp.lanes.engine import Lanes
from ggp.lanes.layout import LaneTables, arrange
from ggp.native.background import WIDTHS, NativeCode
from ggp.native.choice import choice_operations
from ggp.native.code import LoadedCode, compile_part, processor, rows_of
from ggp.native.fusion import schedule_fused, schedule_in_place
from ggp.native.parts import FUSED_PARTS, NO_TURNS, SINGLE_PARTS, Layout, Part
from ggp.native.schedule import SCRATCH, ScheduleError, interpret, outputs_of_phase, schedule_phase
from tests.conftest import OWN_GAMES
from tests.ggp.native.test_choice import PASSING, RESTING, STEPS
from tests.oracles.naive_lanes import random_tables

GAMES = (
    "tictactoe",
    "connectfour_4x4",
    "breakthrough_small",
    "hex_5x5",
    "dark_hex_3x3",
    "goofspiel",
    "lightsout",
)
LARGE = 5_000
"""Inputs of gates of a sheet that takes seconds to compile."""
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
    for code in (game.native, game.native_playouts):
        code.begin(2)
        assert code.wait(2) == is_complete(2)
        assert Lanes(game.lane_tables, words=2, seed=1).playouts(root, 5000) == interpreted
    assert (game.lane_tables.schedule.native[list(Phase), 1] != 0).all()
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
@pytest.mark.parametrize("off", ["0", "off"])
def test_nothing_is_compiled_if_switched_off(cached, monkeypatch, off):
    game = ggp.load("tictactoe")
    monkeypatch.setenv("GGP_NATIVE", off)
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


def with_code(game: CompiledGame, parts: tuple[Part, ...], words: int) -> tuple[LaneTables, list[LoadedCode]]:
    """Tables with the machine code of those parts that can be compiled; the code must be kept."""
    tables, kept = arrange(game.tables), []
    for part in parts:
        with suppress(ScheduleError):
            kept.append(LoadedCode(compile_part(game.tables, layout_of(game), part, words), part))
            tables.schedule.native[part, WIDTHS.index(words)] = kept[-1].address
    return tables, kept


@pytest.mark.parametrize("name", [*GAMES, "dicerace", "minichess"])
def test_fused_schedules_make_a_tick(name):
    game = ggp.load(name)
    tables, layout, roles = game.lane_tables, layout_of(game), len(game.roles)
    lanes = Lanes(tables, words=1, seed=4)
    lanes.begin(game.unpack(game.initial_state()))
    lanes.play(5)
    scratch = words_of(lanes.arrays.scratch)
    value, choice = words_of(lanes.arrays.value).copy(), choice_operations(layout)
    interpret(schedule_fused(game.tables, layout, Part.BEFORE_DRAW), value, scratch)
    lanes.settle(Phase.LEGAL, Phase.GOAL)
    ends = np.array([tables.terminal, *tables.goal_literal]) >> 1
    assert (value[ends] == words_of(lanes.arrays.value)[ends]).all()

    # Number 0 draws the first legal move of every role.
    is_legal = lanes.words_at(game.legal_literals)
    drawn = choice.rows.drawn - SCRATCH
    scratch[drawn : drawn + roles * layout.planes] = 0
    able = ~np.uint64(0)
    for first, end in itertools.pairwise(game.tables.first_move.tolist()):
        before = np.zeros(1, np.uint64)
        for move in range(first, end):
            words_of(lanes.arrays.value)[tables.move0 + move] = is_legal[move] & ~before
            before |= is_legal[move]
        able &= before
    scratch[choice.rows.lanes - SCRATCH] = able
    scratch[layout.scratch_rows] = ~able
    interpret(schedule_fused(game.tables, layout, Part.AFTER_DRAW), value, scratch)
    lanes.settle(Phase.NEXT, Phase.NEXT)
    root = scratch[layout.scratch_rows + 1 :]
    fluents = slice(1, 1 + tables.fluent_count)
    assert (value[fluents] == (lanes.words_at(tables.next) & able | root & ~able)).all()


@needs_kernels
@pytest.mark.parametrize("words", [2, 8, 16])
@pytest.mark.parametrize("parts", [SINGLE_PARTS, FUSED_PARTS], ids=["single", "fused"])
@pytest.mark.parametrize("name", ["connectfour_4x4", "goofspiel", "lightsout"])
def test_playouts_with_machine_code_are_the_same(name, parts, words):
    game = ggp.load(name)
    root = game.unpack(game.initial_state())
    interpreted = Lanes(arrange(game.tables), words=words, seed=2).playouts(root, 3000, step_limit=7)
    tables, _kept = with_code(game, parts, words)
    assert Lanes(tables, words=words, seed=2).playouts(root, 3000, step_limit=7) == interpreted


@pytest.mark.parametrize("seed", range(4))
def test_next_values_take_the_place_of_values_that_others_read(seed):
    tables = random_tables(seed, fluents=20, moves=(), gates=60)
    tables = tables._replace(phase_end=np.array([0, 0, 60, 60], np.int32))
    rows, none = tables.node_count, np.zeros(0, np.int32)
    layout = Layout(NO_TURNS, np.arange(rows, dtype=np.int32), rows, rows + 20, none, none, none, 0, 0)
    value = np.random.default_rng(seed).integers(0, 2**64, (rows + 20, 1), np.uint64)
    value[0] = ~np.uint64(0)
    in_place = value.copy()
    interpret(schedule_phase(tables, layout, Phase.NEXT), value)
    interpret(schedule_in_place(tables, layout), in_place)
    negated = (tables.next & 1).astype(bool)[:, None]
    assert (in_place[1:21] == np.where(negated, ~value[tables.next >> 1], value[tables.next >> 1])).all()


STUCK = """
(role a) (role b) (init (control a)) (init (n 0)) (succ 0 1) (succ 1 2) (succ 2 3)
(<= (legal a (take ?n)) (true (control a)) (true (n ?n)) (succ ?n ?m))
(<= (legal a stop) (true (control a)))
(<= (legal a wait) (not (true (control a))))
(<= (legal b (take ?n)) (not (true (control a))) (true (n ?n)) (distinct ?n 1))
(<= (legal b wait) (true (control a)))
(<= (next (control a)) (not (true (control a))))
(<= (next (n ?m)) (true (n ?n)) (succ ?n ?m))
(<= terminal (true (n 3)))
(goal a 50) (goal b 50)
"""
STUCK_WITH_TWO_CONTROLS = STUCK.replace("(not (true (control a)))", "(true (control b))") + (
    "(<= (next (control b)) (true (control a)))"
)


@needs_kernels
@pytest.mark.parametrize("parts", [SINGLE_PARTS, FUSED_PARTS], ids=["single", "fused"])
@pytest.mark.parametrize("rules", [STUCK, STUCK_WITH_TWO_CONTROLS], ids=["one", "two"])
def test_stuck_roles_are_counted_with_machine_code(rules, parts):
    game = ggp.load(rules)
    root = game.unpack(game.initial_state())
    interpreted = Lanes(arrange(game.tables), words=8, seed=2).playouts(root, 3000)
    assert interpreted.stuck_roles[1] > 0
    assert len(game.lane_tables.turns.literal) == 2
    tables, _kept = with_code(game, parts, 8)
    assert Lanes(tables, words=8, seed=2).playouts(root, 3000) == interpreted


@needs_kernels
@pytest.mark.parametrize("parts", [SINGLE_PARTS, FUSED_PARTS], ids=["single", "fused"])
def test_states_in_which_both_roles_have_their_turn(parts):
    game = ggp.load("breakthrough_small")
    root = game.unpack(game.initial_state())
    root[(game.lane_tables.turns.literal >> 1) - 1] = True
    interpreted = Lanes(arrange(game.tables), words=8, seed=2).playouts(root, 3000)
    tables, _kept = with_code(game, parts, 8)
    assert Lanes(tables, words=8, seed=2).playouts(root, 3000) == interpreted


@needs_kernels
@pytest.mark.parametrize("is_turn", [False, True], ids=["none", "both"])
def test_states_in_which_no_role_or_both_have_a_control_of_their_own(is_turn):
    game = ggp.load(STUCK_WITH_TWO_CONTROLS)
    tables, _kept = with_code(game, FUSED_PARTS, 8)
    assert tables.turns.is_exact
    root = game.unpack(game.initial_state())
    root[(tables.turns.literal >> 1) - 1] = is_turn
    interpreted = Lanes(arrange(game.tables), words=8, seed=2).playouts(root, 3000)
    assert Lanes(tables, words=8, seed=2).playouts(root, 3000) == interpreted


@needs_kernels
@pytest.mark.parametrize("parts", [SINGLE_PARTS, FUSED_PARTS], ids=["single", "fused"])
@pytest.mark.parametrize("rules", [STEPS, PASSING, RESTING], ids=["steps", "passing", "resting"])
def test_a_clock_of_several_literals(rules, parts):
    game = ggp.load(rules)
    root = game.unpack(game.initial_state())
    interpreted = Lanes(arrange(game.tables), words=2, seed=2).playouts(root, 1000)
    tables, _kept = with_code(game, parts, 2)
    assert Lanes(tables, words=2, seed=2).playouts(root, 1000) == interpreted
    assert len(tables.turns.literal) == {STEPS: 4, PASSING: 3, RESTING: 3}[rules]


@needs_kernels
@pytest.mark.slow
@pytest.mark.parametrize(
    "path", [path for path in OWN_GAMES if path.stem != "amazons"], ids=lambda path: path.stem
)
def test_playouts_of_all_sheets_are_the_same(path):
    """By whole ticks, of large sheets by single phases too: those of others are in `test_equality`.

    Those of amazons take too long to compile.
    """
    game = ggp.load(path)
    root = game.unpack(game.initial_state())
    interpreted = Lanes(arrange(game.tables), words=8, seed=2).playouts(root, 600, step_limit=300)
    for parts in (FUSED_PARTS, SINGLE_PARTS)[: 1 + (len(game.tables.input) > LARGE)]:
        tables, _kept = with_code(game, parts, 8)
        assert Lanes(tables, words=8, seed=2).playouts(root, 600, step_limit=300) == interpreted
