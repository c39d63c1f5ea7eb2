"""The mcts player on compiled games: it searches on lanes, reproducibly where it counts, and in time."""

import pytest

import ggp
from ggp.match.player import PlayerFaultError
from ggp.match.referee import play_match
from ggp.match.terms import MatchTerms
from ggp.players.factory import make_player
from ggp.players.simple import RandomPlayer
from ggp.search.tree.reference.search import Search
from ggp.search.tree.search import LanesSearch
from tests.ggp.players.asking import choose, started, tree_of
from tests.ggp.search.tree.golden import compiled

SMALL = "words=1,memory=16"


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


def test_player_keeps_its_tree_through_forced_moves():
    game = compiled("tictactoe")
    player = started(f"mcts:simulations=500,{SMALL}", game)
    state = game.initial_state()
    first = choose(player)
    assert player.best_move == first
    (noop,) = game.legal_moves(state, game.roles[1])
    state = game.next_state(state, (first, noop))
    assert choose(player, state, (first, noop)) == noop
    joint_move = (noop, game.legal_moves(state, game.roles[1])[0])
    tree_of(player).move_to(game.next_state(state, joint_move), joint_move)
    assert sum(move.visits for move in tree_of(player).report().moves) > 0
    player.stop(None)


def test_player_without_time_still_moves():
    player = started(f"mcts:threads=2,{SMALL}", compiled("tictactoe"))
    choose(player, seconds=-1)
    player.stop(None)


def first_choice(spec, name, *, clock=0.0, seed=1):
    """The first move by a spec, and the report about it; the play clock is long."""
    player = started(spec, compiled(name), clock=clock, seed=seed)
    move = choose(player, seconds=600)
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
