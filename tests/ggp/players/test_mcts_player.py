"""The mcts player on compiled games: it searches on lanes, reproducibly where it counts, and in time."""

import time

import pytest

import ggp
from ggp.match.player import MatchSetup, PlayerFaultError, PlayerSpecError
from ggp.match.referee import play_match
from ggp.match.terms import MatchTerms
from ggp.players.factory import make_player
from ggp.players.simple import RandomPlayer
from ggp.search.tree.reference.search import Search
from ggp.search.tree.search import LanesSearch
from tests.ggp.players.asking import tree_of
from tests.ggp.search.tree.golden import compiled

SMALL = "words=1,memory=16"


def started(spec, game, role=0, seed=1, clock=0.0):
    player = make_player(spec)
    player.start(MatchSetup("test", game, game.roles[role], clock, 1.0, seed), time.monotonic() + clock)
    return player


def test_player_searches_on_lanes_where_the_game_is_compiled():
    game = compiled("tictactoe")
    assert isinstance(tree_of(started(f"mcts:simulations=10,{SMALL}", game)), LanesSearch)
    assert isinstance(tree_of(started("mcts:simulations=10,search=reference", game)), Search)
    assert isinstance(
        tree_of(started("mcts:simulations=10", ggp.load("tictactoe", engine="reasoner"))), Search
    )


def test_player_that_must_search_on_lanes_says_where_it_cannot():
    with pytest.raises(PlayerFaultError, match="not compiled"):
        started("mcts:search=lanes,simulations=10", ggp.load("tictactoe", engine="reasoner"))


def test_player_reads_the_options_of_the_search():
    player = make_player("mcts:policy=rave+mast,tau=5,threads=3,solver=off,ramp=16,memory=64")
    _, options = player.options
    assert (options.policy, options.temperature, options.threads) == ("rave+mast", 5.0, 3)
    assert (options.is_solving, options.ramp, options.memory_mebibytes) == (False, 16, 64)


@pytest.mark.parametrize("spec", ["mcts:policy=best", "mcts:search=deep", "mcts:solver=1", "mcts:words=5"])
def test_player_explains_wrong_options(spec):
    with pytest.raises(PlayerSpecError, match=spec.split(":")[0]):
        make_player(spec)


def test_counted_matches_are_reproducible():
    def moves(seed):
        players = [make_player(f"mcts:simulations=300,policy=mast,{SMALL}") for _ in range(2)]
        record = play_match(compiled("connectfour_4x4"), players, MatchTerms(60, 60, seed=seed))
        return record.moves

    assert moves(1) == moves(1)


def test_player_beats_random():
    won = 0
    for seed in range(6):
        players = [RandomPlayer(), make_player(f"mcts:simulations=400,{SMALL}")]
        record = play_match(compiled("breakthrough_4x4"), players, MatchTerms(60, 60, seed=seed))
        won += record.goals == [0, 100]
    assert won >= 5


def test_player_hears_its_best_move_and_keeps_its_tree_through_forced_moves():
    game = compiled("tictactoe")
    player = started(f"mcts:simulations=500,{SMALL}", game)
    state = game.initial_state()
    first = player.choose(state, time.monotonic() + 60, None)
    assert player.best_move == first
    noop = game.legal_moves(state, game.roles[1])[0]
    state = game.next_state(state, (first, noop))
    assert player.choose(state, time.monotonic() + 60, (first, noop)) == noop
    reply = game.legal_moves(state, game.roles[1])[0]
    joint_move = (noop, reply)
    tree_of(player).move_to(game.next_state(state, joint_move), joint_move)
    assert sum(move.visits for move in tree_of(player).report().moves) > 0
    player.stop(None)


def test_player_without_time_still_moves():
    game = compiled("tictactoe")
    player = started(f"mcts:threads=2,{SMALL}", game)
    assert player.choose(game.initial_state(), time.monotonic() - 1, None) in game.legal_moves(
        game.initial_state(), game.roles[0]
    )
    player.stop(None)


def first_choice(spec, name, *, clock=0.0, role=0, seed=1):
    """The first move by a spec, and the report about it; the play clock is long."""
    game = compiled(name)
    player = started(spec, game, role, seed, clock)
    move = player.choose(game.initial_state(), time.monotonic() + 600, None)
    player.stop(None)
    return move, player.last_report


def test_small_game_is_solved_in_the_start_clock():
    _, report = first_choice(f"mcts:threads=1,{SMALL}", "tictactoe", clock=600.0)
    assert (report.mode, report.goal, report.playouts) == ("solution", 50, 0)


@pytest.mark.parametrize("threads", [1, 2])
def test_position_is_proven_in_the_play_clock(threads):
    move, report = first_choice(f"mcts:threads={threads},solver=off,{SMALL}", "hex_3x3")
    assert (report.mode, report.goal) == ("proof", 100)
    assert report.best_move == move


def test_proofs_can_be_switched_off():
    _, report = first_choice(f"mcts:simulations=300,proof=off,{SMALL}", "hex_3x3")
    assert report.mode == "lanes"


def test_counted_search_proves_by_counted_positions():
    few = first_choice(f"mcts:simulations=100,{SMALL}", "tictactoe")[1]
    many = first_choice(f"mcts:simulations=100000,{SMALL}", "tictactoe")[1]
    assert (few.mode, few.goal) == ("lanes", None)
    assert (many.mode, many.goal, many.playouts) == ("proof", 50, 0)


def test_players_confess_and_mix():
    assert str(first_choice(f"mcts:threads=1,{SMALL}", "prisoners_dilemma", clock=600.0)[0]) == "confess"
    for spec, mode in (("simulations=200,proof=off", "mixed"), ("threads=1", "solution")):
        clock = 0.0 if mode == "mixed" else 600.0
        choices = [
            first_choice(f"mcts:{spec},{SMALL}", "rockpaperscissors", clock=clock, seed=seed)
            for seed in range(12)
        ]
        assert {report.mode for _, report in choices} == {mode}
        assert len({move for move, _ in choices}) == 3
    pure = {first_choice(f"mcts:simulations=200,mixed=off,proof=off,{SMALL}", "rockpaperscissors")[0]}
    assert len(pure) == 1
