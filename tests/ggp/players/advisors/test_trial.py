"""Alpha-beta within `mcts`: when it chooses the moves, and the trial matches that decide."""

import json
import time
from contextlib import nullcontext
from dataclasses import replace

import pytest

from gdl.terms import Symbol
from ggp.cli.main import app
from ggp.engines.loading import load
from ggp.jit import second_process
from ggp.knowledge import tuned
from ggp.knowledge.folder import KnowledgeFileError, kept_file
from ggp.knowledge.trial import FILE_NAME, MAX_MATCHES, Trial
from ggp.knowledge.tuned import TunedOptions
from ggp.players.advisors import trial as trial_advisor
from ggp.players.advisors.alphabeta import AlphaBetaAdvisor
from ggp.players.advisors.trial import TrialMatches
from ggp.players.factory import make_player
from ggp.search.alphabeta.search import AlphaBeta
from ggp.search.tree.options import MctsOptions
from ggp.solver.saved_header import rules_digest
from tests.conftest import mostly_slow
from tests.ggp.players.asking import after_first_move, choose, started


@pytest.fixture
def game(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    return load("connectfour", "lanes")


def mode_of_first_move(spec, game, *, start_seconds=0.3):
    """What chose the first move: `SearchReport.mode`."""
    with after_first_move(spec, game, start_seconds) as player:
        return player.last_report.mode


def keep_trial(game, **counts):
    replace(Trial.empty(game), **counts).save(kept_file(game.program, FILE_NAME))


@pytest.mark.parametrize(
    ("spec", "start_clock", "won", "is_prepared"),
    [
        ("mcts", 1.0, 0, False),
        ("mcts", trial_advisor.MIN_SECONDS, 0, True),
        ("mcts", 1.0, 6, True),
        ("mcts:alphabeta=on", 1.0, 0, True),
        ("mcts:alphabeta=off", 60.0, 6, False),
    ],
)
def test_kernels_of_evaluations_are_prepared_where_alphabeta_may_choose(
    game, monkeypatch, spec, start_clock, won, is_prepared
):
    prepared = []
    monkeypatch.setattr(trial_advisor, "prepare_evaluations", lambda: prepared.append("here"))
    monkeypatch.setattr(
        second_process, "compiled_beside", lambda module, *rest: nullcontext(prepared.extend(rest))
    )
    keep_trial(game, won=won)
    player = make_player(spec)
    player.start_clock_seconds = start_clock
    player.prepare(game)
    assert prepared == ["evaluations", "here"] * is_prepared


def test_alphabeta_chooses_where_that_is_asked_for(game):
    assert mode_of_first_move("mcts:alphabeta=on", game) == "alphabeta"
    assert mode_of_first_move("mcts", game) == "lanes"


def test_alphabeta_ponders_behind_the_own_move_where_it_chooses(game, monkeypatch):
    pondered = []
    monkeypatch.setattr(
        AlphaBetaAdvisor, "ponder", lambda self, budget: pondered.append(self._role_search._state)
    )
    player = started("mcts:alphabeta=on", game, clock=0.3)
    joint_move = (choose(player, seconds=0.1), Symbol("noop"))
    player.ponder(lambda: False, time.monotonic() + 60)
    after = game.next_state(game.initial_state(), joint_move)
    assert choose(player, after, joint_move) == joint_move[1]
    player.ponder(lambda: False, time.monotonic() + 60)
    assert pondered == [after, after]
    player.stop(None)


@pytest.mark.slow
def test_alphabeta_chooses_where_it_was_tuned_or_has_won_its_trial(game, monkeypatch):
    keep_trial(game, won=6)
    assert mode_of_first_move("mcts", game) == "alphabeta"
    for options in ("alphabeta=off", "c=30", "tuned=off", "proof=off", "simulations=20"):
        assert mode_of_first_move(f"mcts:{options}", game) == "lanes", options
    keep_trial(game, won=6, lost=2)
    assert mode_of_first_move("mcts", game) == "lanes"
    monkeypatch.setattr(tuned, "SHIPPED", {rules_digest(game.program): TunedOptions(has_alphabeta=True)})
    assert mode_of_first_move("mcts", game) == "alphabeta"


def test_games_that_alphabeta_cannot_search_are_left_to_the_tree(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    game = load("tron", "lanes")  # roles choose at once
    keep_trial(game, won=6)
    assert mode_of_first_move("mcts:alphabeta=on", game) in ("lanes", "mixed")


@pytest.mark.parametrize(("score", "mode"), [("won", "alphabeta"), ("lost", "lanes")])
def test_a_trial_in_the_start_clock_decides_and_is_kept(game, monkeypatch, score, mode):
    played = []

    def play(self, trial, deadline):
        played.append(deadline)
        setattr(trial, score, getattr(trial, score) + 3)

    monkeypatch.setattr(TrialMatches, "play", play)
    monkeypatch.setattr(trial_advisor, "MIN_SECONDS", -1000.0)  # however busy the machine is
    modes = [mode_of_first_move("mcts", game) for _ in range(3)]
    # Three lost decide; three won do not yet, and are counted on in the next match.
    assert modes == ([mode] * 3 if score == "lost" else ["lanes", mode, mode])
    assert len(played) == (1 if score == "lost" else 2)


def test_there_is_no_trial_in_a_short_start_clock(game, monkeypatch):
    monkeypatch.setattr(TrialMatches, "play", lambda *_: pytest.fail("there is no time for this"))
    assert mode_of_first_move("mcts", game) == "lanes"


class FirstMove:
    """A tree that always finds the first legal move."""

    def __init__(self, game, role, **options):
        self.game, self.role = game, role

    def move_to(self, state, joint_move):
        self.state = state

    def best_move(self):
        return self.game.legal_moves(self.state, self.role)[0]

    def run(self, *_):
        """Needs no time to search, to load or to close."""

    warm_up = close = run


def test_trial_matches_are_played_until_the_trial_is_over(monkeypatch):
    monkeypatch.setattr(trial_advisor, "LanesSearch", FirstMove)
    monkeypatch.setattr(trial_advisor, "random_opening", lambda game, rng: game.initial_state())
    game = load("tictactoe", "lanes")
    trial = Trial("tictactoe", "digest")
    matches = TrialMatches(game, AlphaBeta(game, mebibytes=1), MctsOptions(), seed=1)
    matches.play(trial, time.monotonic() + 600)
    assert (trial.won, trial.lost, trial.is_won) == (6, 0, True)


def test_trial_matches_are_played_by_the_tree():
    game = load("tictactoe", "lanes")
    trial = Trial("tictactoe", "digest", drawn=MAX_MATCHES - 3)
    options = MctsOptions(threads=1)
    matches = TrialMatches(game, AlphaBeta(game, mebibytes=1), options, seed=1, move_seconds=0.003)
    matches.play(trial, time.monotonic() + 600)
    assert trial.won + trial.lost + trial.drawn == MAX_MATCHES


def test_a_trial_match_that_the_deadline_cuts_short_is_not_counted():
    game = load("tictactoe", "lanes")
    trial, now = Trial("tictactoe", "digest"), iter(range(100))
    alphabeta = AlphaBeta(game, mebibytes=1)
    matches = TrialMatches(game, alphabeta, MctsOptions(threads=1), seed=1, clock=lambda: next(now))
    matches.play(trial, 3.0)
    assert (trial.won, trial.lost, trial.drawn) == (0, 0, 0)


def test_matches_that_other_players_have_added_meanwhile_are_kept(game):
    before = Trial.empty(game)
    keep_trial(game, won=2, lost=1, drawn=MAX_MATCHES, moves=90)
    merged = trial_advisor._keep_trial(game, replace(before, won=4, drawn=1, moves=150), before)
    assert Trial.load(kept_file(game.program, FILE_NAME)) == merged
    assert (merged.won, merged.lost, merged.drawn, merged.moves) == (6, 1, MAX_MATCHES, 240)


@pytest.mark.parametrize(
    ("won", "lost", "drawn", "is_over", "is_won"),
    [
        (5, 0, 0, False, False),
        (6, 0, 0, True, True),
        (7, 1, 0, False, False),
        (8, 1, 0, True, True),
        (0, 2, 9, False, False),
        (1, 3, 0, True, False),
        (0, 0, MAX_MATCHES, True, False),
    ],
)
def test_the_sequential_test_decides(won, lost, drawn, is_over, is_won):
    trial = Trial("game", "digest", won, lost, drawn)
    assert (trial.is_over, trial.is_won) == (is_over, is_won)


@pytest.mark.parametrize(
    "change",
    mostly_slow(
        [{"won": -1}, {"won": "6"}, {"rules": None}, {"rules": "other"}, {"format": "x"}, {"moves": -1}],
        3,
    ),
)
def test_damaged_trials_begin_again(change, game, caplog):
    keep_trial(game, won=6)
    place = kept_file(game.program, FILE_NAME)
    content = json.loads(place.read_text())
    assert Trial.load(place) == Trial(content["game"], content["rules"], won=6)
    place.write_text(json.dumps(content | change))
    with pytest.raises(KnowledgeFileError):
        Trial.load(place, game.program)
    assert mode_of_first_move("mcts", game) == "lanes"
    assert "trial matches begin again" in caplog.text


def test_info_says_how_the_trial_went(game, capsys):
    keep_trial(game, won=4, lost=1)
    app.main(["games", "info", "connectfour"], standalone_mode=False)
    said = "trial matches of alpha-beta against policy=uniform,c=40: 4 won, 1 lost, 0 drawn"
    assert said in capsys.readouterr().out
