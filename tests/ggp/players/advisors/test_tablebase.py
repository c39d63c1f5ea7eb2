"""Moves of a saved solution, in matches of its rules."""

import time

import click
import pytest

from gdl.syntax.parser import parse_term
from ggp.beliefs.observation import Observation
from ggp.cli.main import app
from ggp.engines.loading import load
from ggp.players.factory import make_player
from ggp.players.simple import RandomPlayer
from ggp.solver import save_solution
from tests.ggp.players.asking import choose, started
from tests.ggp.players.perfect import LONG, play, solved


def saved(tmp_path, name, options=""):
    """A player with the solution of a game."""
    save_solution(solved(name), tmp_path / "s")
    return make_player(f"tablebase:file={tmp_path / 's'}{options}")


def test_mixed_strategies_are_mixed_by_the_players_seed(tmp_path):
    player, game = saved(tmp_path, "rockpaperscissors"), load("rockpaperscissors")
    seen = set()
    for seed in range(30):
        seen.add(choose(started(player, game, seed=seed, clock=1)))
    assert len(seen) == 3


def test_other_games_are_left_to_the_tree(tmp_path, caplog):
    player = saved(tmp_path, "nim", ",simulations=50")
    goals = play(load("tictactoe", "lanes"), [player, RandomPlayer()])
    assert "solution of other rules (nim); mcts plays instead" in caplog.text
    assert len(goals) == 2
    assert player.simulation_count > 0


def test_nothing_is_searched_where_the_solution_is_known(tmp_path):
    nim, player = load("nim", "lanes"), saved(tmp_path, "nim", ",simulations=50")
    state = nim.initial_state()
    state = nim.next_state(state, tuple(nim.legal_moves(state, role)[0] for role in nim.roles))
    choose(started(player, nim, 1, clock=1), state)
    assert player.last_report.mode == "solution"
    assert player.last_report.goal == round(solved("nim").stage(state).best_moves[nim.roles[1]][0].goal)
    assert player.simulation_count == 0


def test_observations_of_other_games_reach_the_other_advisors(tmp_path):
    player, game = saved(tmp_path, "nim", ",simulations=2000,memory=16"), load("kuhn_poker", "lanes")
    started(player, game, clock=LONG)
    observation = Observation(parse_term("noop"), (parse_term("(card queen)"),))
    player.observe(observation, time.monotonic() + LONG)
    assert str(player.choose_by_observations(time.monotonic() + LONG)) == "check"
    assert player.last_report.mode == "equilibrium"


def test_match_is_played_from_a_tablebase_of_its_rules_only(tmp_path, capsys):
    save_solution(solved("nim"), tmp_path / "s")
    player = f"tablebase:file={tmp_path / 's'}"
    with pytest.raises(SystemExit) as ended:
        app.main(["match", "nim", player, "random", "--seed", "1"], standalone_mode=False)
    assert ended.value.code == 0
    assert "tablebase" in capsys.readouterr().out
    with pytest.raises(click.UsageError, match=r"solution of other rules \(nim\), not of tictactoe"):
        app.main(["match", "tictactoe", player], standalone_mode=False)


def test_a_served_tablebase_is_checked_before_the_player_listens(tmp_path):
    (tmp_path / "x").write_text("nothing")
    with pytest.raises(click.UsageError, match="not a saved solution"):
        app.main(
            ["player", "--port", "0", "--agent", f"tablebase:file={tmp_path / 'x'}"], standalone_mode=False
        )
