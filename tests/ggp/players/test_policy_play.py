"""The policy of `mcts`: trial matches in the start clock decide, and are kept."""

import subprocess
import sys
import time
from dataclasses import replace

import pytest

from ggp.cli.main import app
from ggp.engines.loading import load
from ggp.knowledge.folder import kept_file
from ggp.knowledge.trial import PolicyTrial
from ggp.knowledge.tuned import TunedOptions, Tuning
from ggp.match.player import MatchSetup
from ggp.players import kept_knowledge, policy_play
from ggp.players.factory import make_player
from ggp.players.trial_matches import TreeContender, TrialMatches
from ggp.search.mcts.options import MctsOptions

SMALL = MctsOptions(threads=1, memory_mebibytes=16)


@pytest.fixture
def game(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    return load("connectfour", "lanes")


def policy_of_match(spec, game, *, start_seconds=0.3):
    """The policy of the first move, and what the report says was tuned."""
    player = make_player(spec)
    begin = time.monotonic()
    player.start(MatchSetup("m", game, game.roles[0], start_seconds, 0.1, 1), begin + start_seconds)
    try:
        move = player.choose(game.initial_state(), time.monotonic() + 0.1, None)
        assert move in game.legal_moves(game.initial_state(), game.roles[0])
        return player.search.options.policy, player.last_report.tuned
    finally:
        player.stop(None)


def keep_trial(game, **counts):
    PolicyTrial(game.name, PolicyTrial.empty(game).rules, **counts).save(
        kept_file(game.program, PolicyTrial.file_name)
    )


@pytest.mark.parametrize("score", ["won", "lost"])
def test_trial_matches_in_the_start_clock_decide_and_are_kept(game, monkeypatch, score):
    played = []

    def play(self, trial, deadline):
        played.append(deadline)
        setattr(trial, score, getattr(trial, score) + 5)

    monkeypatch.setattr(TrialMatches, "play", play)
    monkeypatch.setattr(policy_play, "LEAST_SECONDS", -1000.0)  # however busy the machine is
    found = [policy_of_match("mcts:threads=1,alphabeta=off", game) for _ in range(3)]
    # Five won do not decide yet, and are counted on in the next match; ten do, in time for that match.
    is_won = score == "won"
    mast, uniform = ("mast", "policy=mast,c=40"), ("uniform", "")
    assert found == ([uniform, mast, mast] if is_won else [uniform] * 3)
    assert len(played) == 2


def test_there_are_no_trial_matches_in_a_short_start_clock(game, monkeypatch):
    monkeypatch.setattr(TrialMatches, "play", lambda *_: pytest.fail("there is no time for this"))
    assert policy_of_match("mcts:threads=1", game) == ("uniform", "")


def test_what_won_is_used_where_the_choice_is_open(game):
    keep_trial(game, won=9)
    assert policy_of_match("mcts:threads=1", game)[0] == "mast"
    for spec in ("mcts:c=30", "mcts:tuned=off", "mcts:simulations=20"):
        assert policy_of_match(spec, game) == ("uniform", ""), spec
    tuning = Tuning.empty(game, 900, 5)
    tuning.best = TunedOptions("uniform", 30.0)
    tuning.save(kept_file(game.program, "tuned.json"))
    assert policy_of_match("mcts:threads=1", game) == ("uniform", "policy=uniform,c=30")
    tuning.best = TunedOptions()
    tuning.save(kept_file(game.program, "tuned.json"))
    assert policy_of_match("mcts:threads=1", game) == ("uniform", "")


def test_what_cannot_be_kept_counts_in_the_match(game, monkeypatch):
    monkeypatch.setattr(TrialMatches, "play", lambda self, trial, deadline: setattr(trial, "won", 9))
    monkeypatch.setattr(policy_play, "LEAST_SECONDS", -1000.0)
    monkeypatch.setattr(kept_knowledge, "kept_file", lambda program, name: None)
    assert policy_of_match("mcts:threads=1,alphabeta=off", game)[0] == "mast"


def test_matches_that_another_player_has_counted_meanwhile_stay(game):
    before = PolicyTrial.empty(game)
    keep_trial(game, won=2, lost=1)
    kept_knowledge.keep_trial(game, replace(before, won=4, drawn=1), before)
    kept = kept_knowledge.kept_trial(game, PolicyTrial)
    assert (kept.won, kept.lost, kept.drawn) == (6, 1, 1)


STUCK = """
(role x) (role y)
(init (step 0))
(succ 0 1) (succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5) (succ 5 6) (succ 6 7) (succ 7 8) (succ 8 9) (succ 9 10)
(input x a) (input x b) (input y a) (input y b)
(<= (legal ?r ?m) (input ?r ?m) (true (step ?n)) (succ ?n ?next))
(<= (next (step ?next)) (true (step ?n)) (succ ?n ?next))
(<= terminal (true (step never)))
(goal x 50) (goal y 50)
"""


def test_rules_at_fault_end_the_trial_matches_and_not_the_match(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    game = load(STUCK, "lanes", name="stuck")
    setup = MatchSetup("m", game, game.roles[0], 60.0, 1.0, 1)
    assert not policy_play.try_policy(setup, SMALL, time.monotonic() + 60.0)


def test_interpreted_games_are_played_without_numba():
    code = (
        "import ggp, sys, time\n"
        "game = ggp.load('tictactoe', engine='reasoner')\n"
        "player = ggp.make_player('mcts:search=reference')\n"
        "player.start(ggp.MatchSetup('m', game, game.roles[0], 0.2, 0.1, 1), time.monotonic() + 0.2)\n"
        "player.choose(game.initial_state(), time.monotonic() + 0.1, None)\n"
        "sys.exit('numba' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("name", ["dicerace", "kuhn_poker", "connectfour_3p", "eightpuzzle"])
def test_other_games_are_played_as_they_were(tmp_path, monkeypatch, name):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    game = load(name, "lanes")
    keep_trial(game, won=9)
    assert kept_knowledge.tried_options(game) is None
    setup = MatchSetup("m", game, game.roles[0], 60.0, 1.0, 1)
    assert not policy_play.try_policy(setup, SMALL, time.monotonic() + 60.0)


@pytest.mark.parametrize("name", ["tictactoe", "tron"])  # tron: both roles choose at once
def test_trial_matches_are_played_by_two_trees(name):
    game = load(name, "lanes")
    trial = PolicyTrial(name, "digest", drawn=PolicyTrial.most_matches - 2)
    contender = TreeContender(game, MctsOptions(policy="mast", threads=1, memory_mebibytes=16), seed=1)
    matches = TrialMatches(game, contender, SMALL, seed=1, move_seconds=0.002)
    matches.play(trial, time.monotonic() + 600)
    assert trial.won + trial.lost + trial.drawn == PolicyTrial.most_matches


def test_info_says_how_the_trial_went(game, capsys):
    keep_trial(game, won=4, lost=1)
    app.main(["info", "connectfour", "--seconds", "0.1"], standalone_mode=False)
    expected = "trial matches of policy=mast against uniform playouts: 4 won, 1 lost, 0 drawn"
    assert expected in capsys.readouterr().out
