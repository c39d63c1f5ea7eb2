"""`mcts` searches the possible states where it does not see everything."""

import time

import pytest

from gdl.syntax.parser import parse_term
from ggp.beliefs.observation import Observation
from ggp.engines.loading import load
from ggp.match.player import MatchSetup
from ggp.match.referee import play_match
from ggp.match.terms import MatchTerms
from ggp.players.factory import make_player


def answer(options):
    """The first move in battleship after both ships are hidden, its report, and the player."""
    game = load("battleship", "lanes")
    player = make_player(f"mcts:simulations=400,memory=16,proof=off{options}")
    player.start(MatchSetup("test", game, game.roles[0], 0.0, 1.0, seed=1), time.monotonic())
    player.observe(Observation(parse_term("(hide 1 1 lying)"), ()), time.monotonic() + 1)
    legal = player.belief.position.legal
    move = player.choose_by_observations(time.monotonic() + 1)
    assert move in legal
    return move, player.last_report, player


@pytest.mark.parametrize(("options", "mode"), [("", "trees"), (",belief=many", "determinized")])
def test_possible_states_are_searched_unless_told_otherwise(options, mode):
    move, report, player = answer(options)
    assert report.mode == mode
    assert report.playouts == 400
    assert move == report.moves[0].move
    player.stop(None)
    assert player.simulation_count == 400


def test_one_state_is_searched_if_that_is_asked_for():
    _, report, _ = answer(",belief=one")
    assert report.mode == "lanes"
    assert report.playouts == 400


@pytest.mark.parametrize("name", ["battleship", "phantom_tictactoe"])
def test_counted_matches_repeat(name):
    game = load(name, "lanes")
    terms = MatchTerms(seed=3, start_clock_seconds=60, play_clock_seconds=60)
    first, second = (
        play_match(game, [make_player("mcts:simulations=200,memory=16,proof=off") for _ in game.roles], terms)
        for _ in range(2)
    )
    assert first.is_completed
    assert not any(first.fault_count(seat) for seat in range(len(game.roles)))
    assert first.moves == second.moves


def test_sets_are_played_where_they_were_searched():
    game = load("wire_cutting", "lanes")
    player = make_player("mcts:simulations=2000,memory=16,proof=off,belief=sets")
    player.start(MatchSetup("test", game, game.roles[0], 60.0, 60.0, seed=1), time.monotonic() + 60)
    player.observe(Observation(parse_term("noop"), ()), time.monotonic() + 60)
    assert player.choose_by_observations(time.monotonic() + 60) == parse_term("ask")
    assert player.last_report.mode == "sets"
    player.stop(None)
    assert player.simulation_count == 4000


def test_many_states_are_searched_where_sets_are_hardly_known():
    _, report, player = answer(",belief=sets")  # without a start clock
    assert report.mode == "determinized"
    assert report.playouts == 400
    player.stop(None)
