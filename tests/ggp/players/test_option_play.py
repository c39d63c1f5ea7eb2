"""Trial matches decide by which policy and C the tree of `mcts` plays."""

import json
import subprocess
import sys
import threading
import time
from dataclasses import replace

import pytest

from ggp.cli.main import app
from ggp.engines.loading import load
from ggp.knowledge.folder import kept_file
from ggp.knowledge.trial import LongTrial, OptionTrial
from ggp.knowledge.tuned import TunedOptions, Tuning
from ggp.match.player import MatchSetup
from ggp.players import kept_trials, option_play
from ggp.players.trial_matches import TreeContender, TrialMatches
from ggp.search.mcts.options import MctsOptions
from tests.ggp.players.first_move import after_first_move

SMALL = MctsOptions(threads=1, memory_mebibytes=16)


@pytest.fixture
def game(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setattr(option_play, "_prepared", option_play._prepared | set(kept_trials.POLICIES))
    return load("connectfour", "lanes")


def policy_of_match(spec, game, *, start_seconds=0.3):
    """The policy of the first move, and what the report says was tuned."""
    with after_first_move(spec, game, start_seconds) as player:
        return player.search.options.policy, player.last_report.tuned


DEFAULT, MAST = TunedOptions(), TunedOptions("mast")


def keep_trial(game, challenger=MAST, rival=DEFAULT, kind=OptionTrial, **counts):
    trial = replace(kind.between(game, challenger, str(rival)), **counts)
    trial.save(kept_file(game.program, trial.file_name))


@pytest.mark.parametrize("score", ["won", "lost"])
def test_trial_matches_in_the_start_clock_decide_and_are_kept(game, monkeypatch, score):
    played = []

    def play(self, trial, deadline):
        played.append((str(trial.challenger), trial.rival, self._move_seconds))
        setattr(trial, score, getattr(trial, score) + (2 if isinstance(trial, LongTrial) else 5))

    monkeypatch.setattr(TrialMatches, "play", play)
    monkeypatch.setattr(option_play, "_is_in_time", lambda *_: True)  # however busy the machine is
    found = [policy_of_match("mcts:threads=1,alphabeta=off", game) for _ in range(4)]
    # Five won do not decide yet, and are counted on in the next match; ten do, as do four long ones.
    uniform = ("uniform", "")
    short = [(mast := str(MAST), str(DEFAULT), 0.016)] * 2
    if score == "won":
        assert found == [uniform, uniform, ("mast", mast), ("mast", mast)]
        assert played == [*short, *[(mast, str(DEFAULT), 0.128)] * 2, ("policy=rave,c=40", mast, 0.016)]
    else:
        assert found == [uniform] * 4
        assert played == [*short, *[("policy=rave,c=40", str(DEFAULT), 0.016)] * 2]


def test_challengers_come_in_turn_and_c_with_the_best_policy(game):
    best, found = TunedOptions(), []
    while trials := kept_trials.open_trials(game):
        trial = trials[0]
        is_long = isinstance(trial, LongTrial)
        found.append((str(trial.challenger), trial.rival, is_long))
        is_won = trial.challenger in (MAST, TunedOptions("rave"), TunedOptions("rave", 80.0))
        is_won = is_won and not (is_long and trial.challenger == MAST)
        kept_trials.keep_trial(game, replace(trial, **{"won" if is_won else "lost": 9}), trial)
        best = trial.challenger if is_won and is_long else best
        assert kept_trials.tried_options(game) == best
    first, second = "policy=uniform,c=40", "policy=rave,c=40"
    assert found == [
        ("policy=mast,c=40", first, False),
        ("policy=mast,c=40", first, True),
        ("policy=rave,c=40", first, False),
        ("policy=rave,c=40", first, True),
        *((f"policy={policy},c=40", second, False) for policy in ("grave", "fast", "past")),
        ("policy=rave,c=20", second, False),
        ("policy=rave,c=80", second, False),
        ("policy=rave,c=80", second, True),
    ]
    assert str(best) == "policy=rave,c=80"


def test_a_policy_that_does_not_apply_is_passed_over(game, monkeypatch):
    monkeypatch.setattr(TrialMatches, "play", lambda *_: pytest.fail("its stand-in would play"))
    monkeypatch.setattr(option_play, "_is_in_time", lambda *_: True)
    monkeypatch.setattr(option_play, "can_learn", lambda *_: False)
    for policy in ("mast", "rave", "grave"):
        keep_trial(game, TunedOptions(policy), lost=9)
    setup = MatchSetup("m", game, game.roles[0], 60.0, 1.0, 1)
    assert option_play.try_options(setup, SMALL, time.monotonic() + 60.0) is None
    assert kept_trials.open_trials(game)[0].challenger.policy == "past"
    assert str(kept_trials.option_trials(game)[1][3]) == "does not apply"


def test_lack_of_time_does_not_exclude_a_policy(game, monkeypatch):
    monkeypatch.setattr(TrialMatches, "play", lambda *_: pytest.fail("its stand-in would play"))
    monkeypatch.setattr(option_play, "LEARNING_SHARE", -1.0)
    for policy in ("mast", "rave", "grave"):
        keep_trial(game, TunedOptions(policy), lost=9)
    setup = MatchSetup("m", game, game.roles[0], 60.0, 1.0, 1)
    assert option_play.try_options(setup, SMALL, time.monotonic() + 60.0) is None
    trial = kept_trials.open_trials(game)[0]
    assert (trial.challenger.policy, trial.is_begun) == ("fast", False)


def test_only_policies_whose_kernels_are_there_play(game, monkeypatch):
    played = []
    monkeypatch.setattr(TrialMatches, "play", lambda self, trial, deadline: played.append(trial.challenger))
    monkeypatch.setattr(option_play, "_prepared", {"rave"})
    setup = MatchSetup("m", game, game.roles[0], 60.0, 1.0, 1)
    assert option_play.try_options(setup, SMALL, time.monotonic() + 60.0) is None
    assert played == [TunedOptions("rave")]


def test_other_c_of_the_default_plays_last(game, monkeypatch):
    played = []
    monkeypatch.setattr(TrialMatches, "play", lambda self, trial, deadline: played.append(trial.challenger))
    for policy in kept_trials.POLICIES:
        keep_trial(game, TunedOptions(policy), lost=9)
    setup = MatchSetup("m", game, game.roles[0], 60.0, 1.0, 1)
    option_play.try_options(setup, SMALL, time.monotonic() + 60.0)
    assert played == [TunedOptions("uniform", 20.0)]


def test_fast_is_ready_once_it_has_learned_somewhere(game, monkeypatch):
    monkeypatch.setattr(option_play, "prepare_policy", lambda *_: None)
    monkeypatch.setattr(option_play, "_prepared", set())
    option_play.prepare_options(load("nim", "lanes"), ["mast", "fast"])
    assert option_play._prepared == {"mast"}
    option_play.prepare_options(game, ["fast"])
    assert option_play._prepared == {"mast", "fast"}


def test_a_trial_that_needs_a_longer_clock_does_not_keep_others_waiting(game, monkeypatch):
    played = []
    monkeypatch.setattr(TrialMatches, "play", lambda self, trial, deadline: played.append(trial))
    keep_trial(game, won=9, moves=9 * 100)  # 12.8 s with 128 ms a move
    setup = MatchSetup("m", game, game.roles[0], 60.0, 1.0, 1)
    for seconds in (12.0, 20.0):
        option_play.try_options(setup, SMALL, time.monotonic() + seconds)
    assert [(str(each.challenger), type(each)) for each in played] == [
        ("policy=rave,c=40", OptionTrial),
        ("policy=mast,c=40", LongTrial),
    ]


def test_trials_between_other_sides_do_not_count(game):
    keep_trial(game, rival=TunedOptions("grave"), won=9)
    trial = kept_trials.open_trials(game)[0]
    assert (trial.challenger, trial.rival, trial.won) == (MAST, "policy=uniform,c=40", 0)


def test_an_open_trial_is_not_resumed_against_another_best(game):
    keep_trial(game, won=9)  # to be confirmed, which needs a longer clock
    rave = TunedOptions("rave")
    for kind in (OptionTrial, LongTrial):
        keep_trial(game, rave, kind=kind, won=9)
    assert kept_trials.tried_options(game) == rave
    trials = kept_trials.open_trials(game)
    assert {trial.rival for trial in trials} == {str(rave)}
    assert trials[0].challenger == TunedOptions("grave")


def test_an_excluded_challenger_has_not_won(game):
    keep_trial(game, won=9, is_excluded=True)
    assert [type(trial) for trial in kept_trials.option_trials(game)[1][:2]] == [OptionTrial] * 2
    assert MAST not in [trial.challenger for trial in kept_trials.open_trials(game)]


@pytest.mark.parametrize(
    "damage", [{"challenger": {"policy": "best", "exploration": 1}}, {"challenger": 7}, {"won": -1}]
)
def test_damaged_trials_begin_again_with_a_warning(game, caplog, damage):
    keep_trial(game, won=3)
    path = kept_file(game.program, "trial_mast_40.json")
    path.write_text(json.dumps(json.loads(path.read_text()) | damage))
    assert kept_trials.open_trials(game)[0].won == 0
    assert "damaged" in caplog.text


def test_there_are_no_trial_matches_in_a_short_start_clock(game, monkeypatch):
    monkeypatch.setattr(TrialMatches, "play", lambda *_: pytest.fail("there is no time for this"))
    assert policy_of_match("mcts:threads=1", game) == ("uniform", "")


def test_what_won_is_used_where_the_choice_is_open(game):
    keep_trial(game, won=9)
    assert policy_of_match("mcts:threads=1", game) == ("uniform", "")  # not confirmed
    keep_trial(game, kind=LongTrial, won=4)
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
    monkeypatch.setattr(option_play, "_is_in_time", lambda *_: True)
    monkeypatch.setattr(kept_trials, "kept_file", lambda program, name: None)
    assert policy_of_match("mcts:threads=1,alphabeta=off", game)[0] == "mast"


def test_matches_that_another_player_has_counted_meanwhile_stay(game):
    before = OptionTrial.between(game, MAST)
    keep_trial(game, won=2, lost=1)
    merged = kept_trials.keep_trial(game, replace(before, won=4, drawn=1, moves=150), before)
    kept = kept_trials.kept_trial(game, before)
    assert (kept.won, kept.lost, kept.drawn, kept.moves) == (6, 1, 1, 150)
    assert merged == kept


def test_scores_are_added_one_after_the_other(game):
    before = OptionTrial.between(game, MAST)
    threads = [
        threading.Thread(target=kept_trials.keep_trial, args=(game, replace(before, won=1), before))
        for _ in range(16)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert kept_trials.kept_trial(game, before).won == 16


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
    assert not option_play.try_options(setup, SMALL, time.monotonic() + 60.0)


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
    keep_trial(game, kind=LongTrial, won=4)
    assert kept_trials.tried_options(game) == TunedOptions()
    assert not kept_trials.open_trials(game)
    setup = MatchSetup("m", game, game.roles[0], 60.0, 1.0, 1)
    assert not option_play.try_options(setup, SMALL, time.monotonic() + 60.0)


def test_no_match_is_begun_that_would_not_end_in_time(game):
    trial = LongTrial("connectfour", "digest", expected_moves=7.0)
    contender = TreeContender(game, SMALL, seed=1)
    now = 1000.0
    matches = TrialMatches(game, contender, SMALL, seed=1, move_seconds=0.5, clock=lambda: now)
    matches._play_match = lambda *_: pytest.fail("there is no time for it")
    matches.play(trial, now + 3.4)
    assert not trial.is_begun


def test_seats_alternate_also_from_one_start_clock_to_the_next(game):
    seats = []

    def play_match(own, state, deadline):
        seats.append((str(own), state))
        return (1, 30) if len(seats) % 3 else None

    trial = OptionTrial("connectfour", "digest")
    for seed in (1, 2):
        matches = TrialMatches(game, TreeContender(game, SMALL, seed=1), SMALL, seed=seed)
        matches._play_match = play_match
        matches.play(trial, time.monotonic() + 600.0)
    assert [role for role, _ in seats] == ["red", "black", "red", "red", "black", "red"]
    assert seats[0][1] == seats[1][1]
    assert (trial.won, trial.mean_moves) == (4, 30.0)


@pytest.mark.parametrize("name", ["tictactoe", "tron"])  # tron: both roles choose at once
def test_trial_matches_are_played_by_two_trees(name):
    game = load(name, "lanes")
    trial = OptionTrial(name, "digest", drawn=OptionTrial.most_matches - 2)
    contender = TreeContender(game, MctsOptions(policy="mast", threads=1, memory_mebibytes=16), seed=1)
    matches = TrialMatches(game, contender, SMALL, seed=1, move_seconds=0.002)
    matches.play(trial, time.monotonic() + 600)
    assert trial.won + trial.lost + trial.drawn == OptionTrial.most_matches


def test_info_says_how_the_trial_went(game, capsys):
    keep_trial(game, won=4, lost=1)
    app.main(["games", "info", "connectfour"], standalone_mode=False)
    expected = "trial matches of policy=mast,c=40 against policy=uniform,c=40: 4 won, 1 lost, 0 drawn"
    assert expected in capsys.readouterr().out
