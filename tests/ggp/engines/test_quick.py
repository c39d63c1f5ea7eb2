"""Quick games play on the circuit as built, and become the simplified one without changing the game."""

import random
import threading
import time

import pytest

from gdl.syntax.parser import parse
from ggp.circuit.cache import GameCache
from ggp.engines import compilation
from ggp.engines.compilation import CompilationLimits, build_circuit, compile_circuit, simplify_circuit
from ggp.engines.compiled import QuickGame
from ggp.engines.loading import find_rules, finished_game, load
from ggp.match.player import MatchSetup
from ggp.players.factory import make_player
from ggp.processes import isolation
from ggp.search.tree.search import LanesSearch
from ggp.solver import solve


def quick(name):
    game = load(name, quick=True, use_cache=False)
    assert isinstance(game, QuickGame)
    return game


@pytest.mark.parametrize("name", ["tictactoe", "othello_4x4", "kuhn_poker", "goofspiel"])
def test_both_circuits_play_the_same_game(name):
    game = quick(name)
    finished = game.finish()
    assert game.roles == finished.roles
    rng = random.Random(7)
    for _ in range(5):
        state, other = game.initial_state(), finished.initial_state()
        while True:
            assert game.translate(state) == other
            assert game.facts(state) == finished.facts(other)
            assert game.is_terminal(state) == finished.is_terminal(other)
            if game.is_terminal(state):
                break
            moves = [game.legal_moves(state, role) for role in game.roles]
            assert moves == [finished.legal_moves(other, role) for role in game.roles]
            chosen = [rng.choice(each) for each in moves]
            state, other = game.next_state(state, chosen), finished.next_state(other, chosen)


def test_states_of_a_quick_game_stay_as_they_are(monkeypatch):
    go_on = threading.Event()
    simplify = compilation.simplify
    monkeypatch.setattr(
        compilation, "simplify", lambda *given, **options: go_on.wait() and simplify(*given, **options)
    )
    game = quick("tictactoe")
    assert game.finish(0.01) is None
    state, legal = game.initial_state(), game.legal_moves(game.initial_state(), game.roles[0])
    go_on.set()
    finished = game.finish()
    assert type(finished) is not QuickGame
    assert finished is game.finish() is finished_game(game)
    assert game.initial_state() == state
    assert game.legal_moves(state, game.roles[0]) == legal


def test_a_quick_game_stays_if_memory_is_too_small_for_another(monkeypatch, caplog):
    def fail(*given, **options):
        raise MemoryError

    monkeypatch.setattr(compilation, "simplify", fail)
    game = quick("tictactoe")
    assert game.finish() is game
    assert game.translate(game.initial_state()) == game.initial_state()
    assert "not enough memory" in caplog.text


def test_tree_search_changes_between_moves(monkeypatch):
    game = quick("tictactoe")
    player = make_player("mcts:threads=1,proof=off")  # a proof would end the search
    assert player.takes_quick_games
    assert not make_player("mcts:simulations=100").takes_quick_games
    assert not make_player("alphabeta").takes_quick_games
    role = game.roles[0]
    player.start(MatchSetup("m", game, role, 0.1, 0.1, 1), time.monotonic() + 0.1)
    before = sum(each.simulation_count or 0 for each in player.advisors)
    state = game.initial_state()
    joint_move = (
        player.choose(state, time.monotonic() + 0.1, None),
        game.legal_moves(state, game.roles[1])[0],
    )
    finished = game.finish()
    player.prepare_change(finished)
    monkeypatch.setattr(LanesSearch, "__init__", None)  # a search that is built now would delay the move
    player.change_game(finished)
    state = game.translate(game.next_state(state, joint_move))
    joint_move = (finished.legal_moves(state, role)[0], finished.legal_moves(state, game.roles[1])[0])
    state = finished.next_state(state, joint_move)
    assert player.choose(state, time.monotonic() + 0.1, joint_move) in finished.legal_moves(state, role)
    player.stop(None)
    assert player.simulation_count > before


def test_a_solution_of_the_circuit_as_built_outlives_the_change():
    """Of the simplified circuit nothing is solved again: the next move comes from the solution at once."""
    game = quick("nim")
    player = make_player("mcts:threads=1")
    player.prepare(game)
    first, second = game.roles
    player.start(MatchSetup("m", game, first, 20, 20, 1), time.monotonic() + 20)
    state = game.initial_state()
    joint_move = (player.choose(state, time.monotonic() + 20, None), game.legal_moves(state, second)[0])
    assert player.last_report.mode == "solution"
    goal = player.last_report.goal
    state = game.next_state(state, joint_move)
    joint_move = (game.legal_moves(state, first)[0], game.legal_moves(state, second)[-1])
    state = game.next_state(state, joint_move)
    expected = solve(game).values(state)[0]
    finished = game.finish()
    player.change_game(finished)
    move = player.choose(game.translate(state), time.monotonic() + 20, joint_move)
    assert player.last_report.mode == "solution"
    assert player.last_report.goal == expected >= goal
    assert move in finished.legal_moves(game.translate(state), first)
    player.stop(None)


def program_of(name):
    return parse(find_rules(name).read_text())


@pytest.fixture
def cache(monkeypatch, tmp_path):
    monkeypatch.setenv("GGP_CACHE", str(tmp_path))
    return GameCache(tmp_path)


@pytest.fixture
def budgets(monkeypatch):
    """The seconds for each simplification, which does nothing."""
    found = []

    def note(circuit, *, seconds, **options):
        found.append(seconds)
        return circuit

    monkeypatch.setattr(compilation, "simplify", note)
    return found


def test_a_game_in_the_cache_is_finished_at_once(cache):
    load("nim", quick=True).finish()
    game = load("nim", quick=True)
    assert not isinstance(game, QuickGame)
    assert finished_game(game) is game
    assert not isinstance(load("nim", use_cache=False), QuickGame)


def test_circuit_is_the_same_in_one_step_or_two(cache):
    program = program_of("tictactoe")
    built = build_circuit(program)
    two_steps = simplify_circuit(program, built, cache=cache).circuit
    assert two_steps == compile_circuit(program).circuit
    assert cache.load(program, CompilationLimits().variant).circuit == two_steps
    assert built.report.stages == []


def test_budget_of_simplification_is_cpu_time_of_grounding(budgets, monkeypatch):
    """gringo's wall time does not count: a busy machine simplifies as long as an idle one."""

    def ground(program, *, progress, **options):
        grounded = real(program, progress=None)
        progress(1, 2.0)
        return grounded

    real = compilation.ground
    monkeypatch.setattr(compilation, "ground", ground)
    compile_circuit(program_of("tictactoe"))
    assert budgets[0] == pytest.approx(0.9 * (2.0 + 1.0), abs=0.2)


def test_large_circuits_get_more_time_in_the_background(budgets, monkeypatch):
    program = program_of("tictactoe")
    built = build_circuit(program)
    monkeypatch.setattr(compilation, "LARGE_LITERALS", 0)
    monkeypatch.setattr(compilation, "BACKGROUND_SECONDS_PER_LITERAL", 1.0)
    simplify_circuit(program, built)
    simplify_circuit(program, built, in_background=True)
    assert budgets[0] < 10 < budgets[1] == built.circuit.literal_count


def test_a_large_circuit_is_simplified_in_a_process_of_its_own(monkeypatch):
    program = program_of("tictactoe")
    built = build_circuit(program)
    monkeypatch.setattr(compilation, "MIN_LITERALS_OF_PROCESS", 0)
    monkeypatch.setattr(compilation, "simplify", None)  # only the child may call it
    game = compilation.compile_game(program, use_cache=False, quick=True)
    finished = game.finish()
    monkeypatch.undo()
    expected = simplify_circuit(program, built).circuit
    assert finished is not game
    assert len(finished.tables.first_input) == len(expected.gates) + 1
    assert finished.terms == expected.terms


def test_a_game_plays_on_as_built_if_the_process_fails(monkeypatch, caplog):
    monkeypatch.setattr(compilation, "MIN_LITERALS_OF_PROCESS", 0)
    monkeypatch.setattr(isolation, "isolated_command", lambda module: ["false"])
    game = compilation.compile_game(program_of("tictactoe"), use_cache=False, quick=True)
    assert game.finish() is game
    assert "playing on the circuit as built" in caplog.text
