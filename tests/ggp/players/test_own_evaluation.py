"""Evaluations of one's own: a Python function, or a file with weights of facts."""

import sys

import pytest

from ggp.engines.loading import load
from ggp.features.linear_form import LinearFormError, parse_linear_form
from ggp.match.player import PlayerFaultError, PlayerSpecError
from ggp.players.factory import file_option, make_player, seat_player
from ggp.players.own import own_evaluation
from ggp.search.alphabeta.estimate import Estimate
from ggp.search.alphabeta.reference.position import position_of, static_score
from ggp.tournament.agent_code import code_digest
from tests.ggp.players.asking import choose, started
from tests.ggp.players.perfect import LONG

CODE = """
def material(game, state):
    held = [str(fact).strip("()").split() for fact in game.facts(state)]
    count = {"white": 0, "black": 0}
    for name, *rest in held:
        if name == "cell":
            count[rest[-1]] += 1
    return 50 + count["white"] - count["black"]

def words(game, state): return "many"
def nothing(game, state): return None
def infinite(game, state): return float("inf")
def raising(game, state): return 1 / 0
def one(state): return 50
def endless(game, state):
    while True: pass
number = 3
"""
MATERIAL = "; pawns\n1 (cell ?x ?y white)\n-1 * (cell ?x ?y black)\n"
GAME = "breakthrough_4x4"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "chess.py").write_text(CODE)
    (tmp_path / "material.txt").write_text(MATERIAL)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield tmp_path
    sys.modules.pop("chess", None)


@pytest.mark.parametrize("spec", ["chess:material", "chess.py:material", "material.txt"])
def test_material_chooses_the_capture(folder, spec):
    """After a step of each side white can take a piece, and counts it."""
    game = load(GAME, "lanes")
    state = game.initial_state()
    for _ in range(2):
        state = game.next_state(state, [game.legal_moves(state, role)[0] for role in game.roles])
    takes = {
        move
        for move in game.legal_moves(state, game.roles[0])
        if black(game, game.next_state(state, [move, game.legal_moves(state, game.roles[1])[0]])) < 8
    }
    assert takes
    player = started(f"alphabeta:depth=1,evaluation={spec}", game, clock=LONG)
    assert choose(player, state) in takes


def black(game, state):
    return sum(str(fact).endswith(" black)") and "cell" in str(fact) for fact in game.facts(state))


def test_function_and_file_score_alike(folder):
    game = load(GAME, "lanes")
    form = Estimate(goal_weight=0, mobility_weight=0, weights=parse_linear_form(MATERIAL).scores(game))
    function = Estimate(goal_weight=0, mobility_weight=0, function=own_evaluation("chess:material"))
    state = game.initial_state()
    for _ in range(6):
        position = position_of(game, state)
        assert static_score(game, position, form) == static_score(game, position, function)
        state = game.next_state(state, [game.legal_moves(state, role)[-1] for role in game.roles])


@pytest.mark.parametrize(
    ("evaluation", "message"),
    [
        ("queens", "evaluation must be auto, or some of mobility, .* or your own"),
        ("nowhere:material", "there is no module nowhere"),
        ("nowhere.py:material", "there is no file"),
        ("chess:rooks", "chess has no function rooks"),
        ("chess:number", "chess:number is not a function"),
        ("chess:one", "must take two arguments, the game and a state"),
        ("chess:", "expected module:Class"),
        ("nowhere.txt", "there is no file nowhere.txt"),
        (".", "there is no file ."),
        ("chess.py", "chess.py:2: expected a number and a fact"),
    ],
)
def test_mistakes_are_one_sentence(folder, evaluation, message):
    with pytest.raises(PlayerSpecError, match=message):
        make_player(f"alphabeta:evaluation={evaluation}")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no line has a number and a fact"),
        ("50", "no line has a number and a fact"),
        ("nan (cell ?x)", "1: expected a number and a fact"),
        ("9 (cell ?x", "1: '.cell .x' is not a fact"),
        ("; nothing\n1e9 a", "2: expected a number and a fact"),
        ("99999999 a", "1: weights are from -10000 to 10000"),
        ("1 a b", "1: 'a b' is not a fact"),
    ],
)
def test_mistakes_in_a_file_name_the_line(text, message):
    with pytest.raises(LinearFormError, match=message):
        parse_linear_form(text)


def test_a_pattern_of_another_game_is_a_fault(folder):
    (folder / "other.txt").write_text("9 (heap ?x ?y)\n")
    with pytest.raises(PlayerFaultError, match=r"CR other\.txt:1: no fact of breakthrough_4x4 matches"):
        started("alphabeta:evaluation=other.txt,depth=1", load(GAME, "lanes"), clock=LONG)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        ("words", "chess:words returned 'many' instead of a number of goals"),
        ("nothing", "chess:nothing returned None"),
        ("infinite", "chess:infinite returned inf"),
        ("raising", "ZeroDivisionError: division by zero .chess.py:"),
        ("endless", "TO"),
    ],
)
def test_failing_functions_are_faults_of_their_player(folder, function, message):
    """In commands the player runs in a process of its own, which is ended if it does not answer."""
    game = load(GAME, "lanes")
    seat = seat_player(f"alphabeta:evaluation=chess:{function},depth=1")
    try:
        seat.prepare(game)
        started(seat, game, clock=2.0)
        with pytest.raises(PlayerFaultError, match=message):
            choose(seat, seconds=1.0)
    finally:
        seat.stop(None)


def test_strangers_name_no_functions_and_no_files():
    assert file_option("alphabeta:evaluation=chess:material") == "evaluation"
    assert file_option("alphabeta:evaluation=material.txt") == "evaluation"
    assert file_option("alphabeta:evaluation=distance+mobility") is None


def test_results_depend_on_the_file_of_the_function(folder):
    digests = set()
    for text in (CODE, f"{CODE}\n# another version\n"):
        (folder / "chess.py").write_text(text)
        digests.add(code_digest("alphabeta:evaluation=chess.py:material"))
    assert len(digests) == 2
    assert code_digest("alphabeta:evaluation=material.txt") != ""


def test_games_without_alphabeta_say_that_the_evaluation_is_not_used(folder, caplog):
    player = started(
        "alphabeta:evaluation=chess:material,depth=1", load("connectfour_3p", "lanes"), clock=LONG
    )
    choose(player)
    assert "alpha-beta does not apply, so the evaluation is not used" in caplog.text
