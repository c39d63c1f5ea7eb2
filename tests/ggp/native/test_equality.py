"""The same playouts, trees, matches and steps with machine code as without, bit for bit, on any processor."""

import json
import os
import random
import subprocess
import sys
from contextlib import suppress

import numpy as np
import pytest

import ggp
from ggp.circuit.tables import CircuitTables
from ggp.engines.compiled import CompiledGame, interpreted
from ggp.env.circuit_parts import parts_of
from ggp.env.opponents import random_actions
from ggp.game import RANDOM_ROLE
from ggp.jit.compiling import IS_COMPILED
from ggp.lanes.choose import native_layout
from ggp.lanes.engine import Lanes
from ggp.lanes.layout import LaneTables, arrange
from ggp.native import background
from ggp.native.background import WIDTHS, NativeCode
from ggp.native.code import LoadedCode, compile_part
from ggp.native.parts import FUSED_PARTS, SINGLE_PARTS, Part
from ggp.native.schedule import ScheduleError
from ggp.players.factory import make_player
from ggp.search.alphabeta.search import AlphaBeta
from ggp.search.budget import Budget
from ggp.search.tree.kernels import counters as c
from ggp.search.tree.options import MctsOptions
from ggp.search.tree.search import LanesSearch
from tests.conftest import CORPUS_SHEETS, OWN_GAMES, ROOT, mostly_slow, needs_corpus
from tests.ggp.native.test_native import LARGE
from tests.ggp.search.tree import test_golden as golden
from tests.oracles import naive_lanes

pytestmark = pytest.mark.skipif(not IS_COMPILED, reason="kernels are plain Python")

MAX_INPUTS = 40_000
"""Of the gates of a sheet: larger ones take longer to compile than the default allows, or nearly."""
TESTED_WIDTHS = (8, 1, 2, 4, 16)


def laid_out(
    tables: CircuitTables, words: int, parts: tuple[Part, ...]
) -> tuple[LaneTables, list[LoadedCode]]:
    """Tables with machine code for those parts that can have some, and what must outlive them."""
    lane_tables, kept = arrange(tables), []
    for part in parts:
        with suppress(ScheduleError):
            kept.append(LoadedCode(compile_part(tables, native_layout(lane_tables), part, words), part))
            lane_tables.schedule.native[part, WIDTHS.index(words)] = kept[-1].address
    # A large phase may need more rows between functions than there are.
    assert len(kept) >= Part.COUNT - 1 or parts == FUSED_PARTS
    return lane_tables, kept


def assert_same_playouts(tables: CircuitTables, words: int, count: int, *, fused: bool) -> None:
    """fused: with machine code for whole ticks, which takes the place of that for single phases"""
    native, _kept = laid_out(tables, words, FUSED_PARTS if fused else SINGLE_PARTS)
    root, found = tables.initial.astype(bool), []
    for each in (arrange(tables), native):
        lanes = Lanes(each, words=words, seed=2)
        found.append((lanes.playouts(root, count, step_limit=200), lanes.arrays.random.tobytes()))
    assert found[0] == found[1]


def mutant(tables: CircuitTables, rng: random.Random) -> CircuitTables:
    """The circuit of other rules: some inputs of gates and some outputs negated or exchanged."""
    inputs, legal, following = tables.input.copy(), tables.legal.copy(), tables.next.copy()
    for array in (inputs, legal, following):
        for _ in range(max(1, len(array) // 20)):
            place = rng.randrange(len(array))
            array[place] ^= 1
    for g in rng.sample(range(len(tables.first_input) - 1), (len(tables.first_input) - 1) // 10):
        array = inputs[tables.first_input[g] : tables.first_input[g + 1]]
        array[rng.randrange(len(array))] = 2 * rng.randrange(1 + tables.fluent_count) + rng.randrange(2)
    return tables._replace(input=inputs, legal=legal, next=following)


@pytest.mark.parametrize("seed", mostly_slow(range(40), 4))
def test_random_circuits(seed):
    words = TESTED_WIDTHS[seed % len(TESTED_WIDTHS)]
    tables = naive_lanes.random_tables(seed, moves=(9, 4), gates=60 if seed % 2 else 900)
    assert_same_playouts(tables, words, 70 * words, fused=seed // 2 % 2 == 0)


@pytest.mark.parametrize("words", mostly_slow(TESTED_WIDTHS, 2))
@pytest.mark.parametrize("name", ["tictactoe", "breakthrough_small", "goofspiel", "dicerace"])
def test_mutants(name, words):
    game = ggp.load(name)
    for seed in range(3):
        assert_same_playouts(mutant(game.tables, random.Random(seed)), words, 70 * words, fused=seed != 1)


def numbered(sheets):
    """The sheets, those apart of which it takes a minute to learn that they are too large."""
    large = ("amazons", "chess", "gt_two_thirds_4p", "stanford_madness")
    sheets = [path for path in sheets if path.stem not in large]
    return [pytest.param(*each, id=each[1].stem) for each in enumerate(sheets)]


@pytest.mark.slow
@pytest.mark.parametrize(("number", "path"), numbered(OWN_GAMES))
def test_bundled_sheets(number, path):
    """By single phases; in `test_native` by whole ticks at W = 8, large ones there only."""
    check_sheet(path, TESTED_WIDTHS[1 + number % 4], fused=False, most=LARGE)


@needs_corpus
@pytest.mark.slow
@pytest.mark.parametrize(("number", "path"), numbered(CORPUS_SHEETS))
def test_sheets_of_the_corpus(number, path):
    """In one width and one kind of parts each: of a width only the type of a row depends."""
    check_sheet(path, TESTED_WIDTHS[number % 5], fused=number % 2 == 0)


def check_sheet(path, words, *, fused, most=MAX_INPUTS):
    game = ggp.load(path)
    if not isinstance(game, CompiledGame) or len(game.tables.input) > most:
        pytest.skip("played by the interpreter, or in another test")
    assert_same_playouts(game.tables, words, 64 * words + 20, fused=fused)


SCRIPT = """
import json, sys
import ggp
from ggp.lanes.engine import Lanes
results, complete = [], []
for name in ("tictactoe", "nim", "breakthrough_small"):
    game = ggp.load(name)
    root = game.unpack(game.initial_state())
    for words in map(int, sys.argv[1:]):
        game.native.begin(words)
        game.native.wait(words)
        settled = game.lane_tables.schedule.native[:4, words.bit_length() - 1]
        complete.append(bool(settled.all()))
        results.append(repr(Lanes(game.lane_tables, words=words, seed=4).playouts(root, 100)))
print(json.dumps([complete, results]))
"""


def playouts_of(*words: int, **environment: str) -> tuple[list[bool], list[str]]:
    """Whether all phases were machine code, and the results, in a process of its own."""
    command = [sys.executable, "-c", SCRIPT, *map(str, words)]
    environment = {**os.environ, "GGP_NATIVE": "1", **environment}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    complete, results = json.loads(done.stdout)
    return complete, results


@pytest.fixture(scope="module")
def interpreted_playouts():
    return playouts_of(1, 8, GGP_NATIVE="0")[1]


X86_64 = pytest.mark.skipif(os.uname().machine != "x86_64", reason="these processor names are for x86-64")


@X86_64
def test_kernels_and_machine_code_for_the_oldest_processor(interpreted_playouts):
    complete, results = playouts_of(1, 8, NUMBA_CPU_NAME="x86-64")
    assert all(complete)
    assert results == interpreted_playouts


@X86_64
@pytest.mark.parametrize("words", [1, 8])
@pytest.mark.parametrize(
    ("name", "features"), [("x86-64-v2", ""), ("x86-64-v3", "-avx512f"), ("x86-64-v4", "")]
)
def test_machine_code_for_other_processors(name, features, words, monkeypatch):
    """Called by the kernels of this processor."""
    if name == "x86-64-v4" and not background.processor()[1].count("+avx512vl"):
        pytest.skip("this processor has no AVX-512")
    own = background.processor()
    monkeypatch.setenv("NUMBA_CPU_NAME", name)
    monkeypatch.setenv("NUMBA_CPU_FEATURES", features)
    assert background.processor() != own
    for game in ("tictactoe", "nim", "breakthrough_small"):
        assert_same_playouts(ggp.load(game).tables, words, 100, fused=False)


def test_plain_python_has_no_machine_code_and_the_same_results():
    complete, results = playouts_of(1, NUMBA_DISABLE_JIT="1")
    assert not any(complete)
    complete, native = playouts_of(1)
    assert all(complete)
    assert results == native


@pytest.fixture
def native(tmp_path, monkeypatch):
    """Machine code from the first tick on: whatever begins it waits for it; lists what has begun."""
    monkeypatch.setenv("GGP_NATIVE", "1")
    monkeypatch.setattr(background, "CACHE_FOLDER", tmp_path)
    begin, begun = NativeCode.begin, []

    def begin_and_wait(code: NativeCode, words: int) -> None:
        begin(code, words)
        code.wait(words)
        is_phase = [part for part in code.parts if part < Part.COUNT]
        if code.limit.is_on and (code._addresses[is_phase, WIDTHS.index(words)] != 0).all():
            begun.append((code, words))

    monkeypatch.setattr(NativeCode, "begin", begin_and_wait)
    return begun


@pytest.mark.parametrize(
    "case", mostly_slow([(p, g) for p in ("uniform", "mast+rave", "past") for g in golden.GAMES], 8)
)
def test_golden_trees(native, case):
    policy, name = case
    golden.test_lanes_agree_with_the_reference_in_all_kinds_of_games(name, policy)
    assert native


@pytest.mark.parametrize("name", mostly_slow(["connectfour_4x4", "goofspiel", "pentago", "dicerace"], 2))
def test_trees_of_many_lanes(native, name):
    """Whole ticks by machine code, also where the tree finds no room for more nodes and edges."""
    game, found = ggp.load(name), []
    for each in (game, interpreted(game)):
        search = LanesSearch(each, each.roles[0], options=MctsOptions(lanes_per_leaf=2, memory_mebibytes=1))
        search.move_to(each.initial_state(), None)
        search.run(Budget(simulations=40_000))
        engine = search.engines[0]
        edges = slice(engine.edge_count)
        found.append([column[edges].tolist() for column in engine.tree[7:12]])
        has_code = each.lane_tables.schedule.native[FUSED_PARTS, WIDTHS.index(8)].all()
        assert (engine.arrays.counter[c.LEAF_ROW] != 0) == has_code
        assert engine.is_full or name in ("goofspiel", "dicerace")
    assert found[0] == found[1]


@pytest.mark.parametrize(
    "case",
    mostly_slow(
        [
            ("connectfour_4x4", ("mcts:simulations=600", "alphabeta:nodes=300")),
            ("hex_3x3", ("alphabeta:nodes=200", "mcts:simulations=300,threads=1")),
            ("breakthrough_small", ("mcts:simulations=600,policy=mast", "uct:simulations=50")),
            ("goofspiel", ("mcts:simulations=200", "mcts:simulations=100")),
            ("leduc_poker", ("mcts:simulations=200", "mcts:simulations=100")),
        ],
        5,
    ),
)
def test_counted_matches(native, case):
    name, agents = case
    game = ggp.load(name)
    records = []
    for extra in ("", ",native=off"):
        players = [make_player(a + ("" if a.startswith("uct") else extra)) for a in agents]
        players = [None if role == RANDOM_ROLE else players.pop(0) for role in game.roles]
        record = ggp.play_match(interpreted(game) if extra else game, players, ggp.MatchTerms(seed=3))
        records.append([step.joint_move for step in record.steps])
        if not extra:
            assert native
            native.clear()
    assert not [
        code for code, _ in native if code.name == game.name
    ]  # but that of a tiny game to compile kernels
    assert records[0] == records[1]


@pytest.mark.parametrize("name", ["tictactoe", "connectfour_4x4"])
def test_alphabeta_asks_the_same_side_circuits(native, name):
    game = ggp.load(name)
    twin, found = interpreted(game), []
    for each in (game, twin):
        search = AlphaBeta(each, mebibytes=16)
        search.search(each.initial_state(), depth=7)
        found.append((search.counter[:].tolist(), search.nodes))
    begun = {code for code, _ in native}
    assert found[0] == found[1]
    assert begun == {game.native}


@pytest.mark.parametrize("count", [40, 600])
@pytest.mark.parametrize("name", mostly_slow(["connectfour_4x4", "othello_4x4", "goofspiel", "dicerace"], 4))
def test_environments(native, name, count):
    game = ggp.load(name)
    states = []
    for each in (game, interpreted(game)):
        env = ggp.env.make(each, count, auto_reset=True, seed=1)
        rng, state = np.random.default_rng(0), env.init()
        for _ in range(40):
            state = env.step(state, random_actions(state, rng))
        states.append(state)
    assert {code for code, _ in native} == {part.native for part in parts_of(game)}
    assert states[0] == states[1]
