"""Plain UCT as a player."""

import pytest

from ggp.engines.loading import load
from ggp.match.player import PlayerFaultError
from ggp.match.referee import play_match
from ggp.match.terms import MatchTerms
from ggp.players.factory import make_player
from ggp.search.forest.forest import Forest
from ggp.search.tree.options import MctsOptions
from tests.ggp.players.asking import choose, started


@pytest.fixture(scope="module")
def game():
    return load("tictactoe", "lanes")


def test_it_makes_the_move_of_a_forest_of_one_tree(game):
    player = started("uct:simulations=300,c=25", game, seed=3)
    move = choose(player)
    forest = Forest(game, seed=3, options=MctsOptions(exploration=25.0))
    forest.search(game.unpack(game.initial_state())[None], [300])
    assert move == game.moves[0][forest.root_moves(0).best()[0][0]]
    assert player.simulation_count == 300
    report = player.last_report
    assert (report.playouts, report.mode, report.best_move) == (300, "uct", move)
    assert sum(each.visits for each in report.moves) == 300


def test_every_move_is_searched_from_scratch(game):
    player = started("uct:simulations=100", game)
    for _ in range(2):
        choose(player)
        assert player.last_report.playouts == 100
    assert player.simulation_count == 200


@pytest.mark.parametrize("solver", ["on", "off"])
def test_moves_are_proven_where_that_is_asked_for(game, solver):
    player = started(f"uct:simulations=5000,solver={solver}", game, seed=3)
    state = game.initial_state()
    for _ in range(4):
        state = game.next_state(state, tuple(game.legal_moves(state, role)[0] for role in game.roles))
    choose(player, state)
    goals = {each.goal for each in player.last_report.moves}
    assert (goals == {None}) is (solver == "off")
    assert (player.last_report.playouts < 5000) is (solver == "on")


def test_a_clock_ends_the_search(game):
    player = started("uct:simulations=1000000000", game)
    choose(player, seconds=0.3)
    assert 0 < player.simulation_count < 1_000_000_000


def test_a_forced_move_needs_no_search(game):
    player = started("uct", game, 1)
    assert str(choose(player)) == "noop"
    assert player.last_report is None


def test_it_says_that_it_needs_a_circuit():
    with pytest.raises(PlayerFaultError, match="uct plays on lanes"):
        started("uct", load("tictactoe", "reasoner"))


@pytest.mark.parametrize("name", ["kuhn_poker", "goofspiel", "hanoi"])
def test_it_plays_games_of_every_kind(name):
    game = load(name)
    players = [make_player("uct:simulations=20") for _ in game.roles]
    record = play_match(game, players, MatchTerms(10, 10, seed=1))
    assert record.is_completed
    assert not any(record.fault_count(seat) for seat in range(len(game.roles)))
