"""Alpha-beta as an advisor: its evaluation, its clocks, and games that it cannot search."""

import time

import pytest

from ggp.engines.loading import load
from ggp.game import RANDOM_ROLE
from ggp.players.advisors.alphabeta import AlphaBetaAdvisor
from ggp.players.factory import make_player
from ggp.players.simple import RandomPlayer
from ggp.search.alphabeta.evaluation import TRIED
from tests.ggp.players.asking import advisor_of, choose, started
from tests.ggp.players.perfect import LONG, play


@pytest.mark.parametrize("name", ["dicerace", "connectfour_3p", "morra", "maze"])
def test_alphabeta_player_plays_games_of_every_kind(name):
    game = load(name, "lanes")
    players = [
        RandomPlayer() if role == RANDOM_ROLE else make_player("alphabeta:depth=1,nodes=300")
        for role in game.roles
    ]
    assert len(play(game, players)) == len(game.roles)


def test_alphabeta_player_uses_learned_weights(tmp_path):
    (tmp_path / "w.txt").write_text("30 (cell 4 1 red)")
    spec = f"alphabeta:depth=1,evaluation={tmp_path / 'w.txt'}"
    assert str(choose(started(spec, load("connectfour", "lanes"), clock=LONG))) == "(drop 4)"


@pytest.mark.slow
def test_alphabeta_player_finds_out_its_evaluation(caplog):
    game = load("breakthrough_small", "lanes")
    moves = set()
    for _ in range(2):
        with caplog.at_level("INFO", logger="ggp.players"):
            player = started("alphabeta:nodes=500", game, clock=LONG)
        assert advisor_of(player, AlphaBetaAdvisor).evaluation in TRIED
        assert f"evaluation {advisor_of(player, AlphaBetaAdvisor).evaluation}" in caplog.text
        moves.add(choose(player))
        player.stop(None)
    assert len(moves) == 1


def test_alphabeta_player_moves_even_if_the_start_clock_left_no_time(caplog):
    game = load("connectfour", "lanes")
    player = make_player("alphabeta:margin=0")
    player.prepare(game)
    with caplog.at_level("INFO", logger="ggp.players"):
        started(player, game)
    assert advisor_of(player, AlphaBetaAdvisor).evaluation == "mobility"
    assert "no time to learn" in caplog.text
    choose(player, seconds=0.1)


@pytest.mark.parametrize("seat", [0, 1])
def test_alphabeta_player_ponders_where_another_role_is_to_choose(seat):
    """The first role after its own move, the second in the initial state, where it cannot but wait."""
    player = started("alphabeta:depth=1", load("tictactoe", "lanes"), seat, clock=LONG)
    move = choose(player)
    search = advisor_of(player, AlphaBetaAdvisor).search
    assert not search.is_proven
    player.ponder(lambda: True, time.monotonic() + LONG)
    player.ponder(lambda: False, time.monotonic() + LONG)  # ends by itself: the game is solved
    assert search.is_proven
    assert (str(move) == "noop") == (seat == 1)
    player.stop(None)
    player.ponder(lambda: False, time.monotonic() + LONG)


def test_a_margin_longer_than_the_clock_leaves_half_of_it():
    spec = "alphabeta:depth=2,evaluation=mobility,margin=1000"
    player = started(spec, load("tictactoe", "lanes"), clock=120)
    choose(player, seconds=120)
    assert player.last_report.deepest == 2


def test_alphabeta_reports_how_deep_it_searched():
    player = started("alphabeta:depth=4,evaluation=mobility", load("connectfour_4x4", "lanes"), clock=60)
    move = choose(player)
    report = player.last_report
    assert (report.mode, report.deepest, report.goal) == ("alphabeta", 4, None)
    assert report.moves[0].move == move
    assert report.nodes > 0
