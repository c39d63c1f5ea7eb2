"""Tuning: which options it finds, how it resumes, and who plays with them."""

import json
import math
import sys
import time

import pytest

from benchmarks import shipped_options
from ggp.cli.main import app
from ggp.engines.loading import load, read_program
from ggp.knowledge import tuned
from ggp.knowledge.folder import KnowledgeFileError, kept_file, read_knowledge
from ggp.knowledge.taught import TaughtNetwork
from ggp.knowledge.tuned import Comparison, TunedOptions, Tuning
from ggp.match.player import MatchSetup
from ggp.networks.network import Network
from ggp.players.factory import make_player
from ggp.solver.saved_header import rules_digest
from ggp.tournament import tuning as tuning_module
from ggp.tournament.tuning import TuningProgress, gate_scores, judged, tune
from tests.ggp.players.asking import tree_of

RATES = {"uniform": 300.0, "mast": 100.0, "rave": 200.0}


def equal_rates(game, policy):
    return RATES.get(policy)


def tuned_game(name, simulations=900, rating=equal_rates, **options):
    game = load(name, "lanes")
    tuning = Tuning.empty(game, simulations, 5)
    tune(game, tuning, rating=rating, **options)
    return tuning


@pytest.fixture
def interrupt(monkeypatch):
    """Ctrl-C after a number of repetitions: its only entry, which counts down."""
    play, left = tuning_module._play_repetition, [10**6]

    def interrupted(*arguments):
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        return play(*arguments)

    monkeypatch.setattr(tuning_module, "_play_repetition", interrupted)
    return left


@pytest.fixture
def strengths(monkeypatch):
    """Matches are won by the stronger options, without being played."""
    played = []

    def goals(game, makers, terms):
        players = {r: make() for r, make in makers.items()}
        played.append((players, terms))
        strength = {r: strength_of(player) for r, player in players.items()}
        top = max(strength.values())
        best = [r for r in strength if strength[r] == top]
        return [100 // len(best) if r in best else 0 for r in range(len(game.roles))]

    def strength_of(player):
        own, search = player.options
        policy, exploration = search.policy, search.exploration
        return (own.alphabeta == "on") * 100 + (policy == "mast") * 10 + (exploration == 80)

    monkeypatch.setattr(tuning_module, "_goals", goals)
    return played


def test_the_best_candidate_wins_and_the_others_stop_early(strengths):
    seen = []
    tuning = tuned_game("tictactoe", most=200, report=seen.append)
    assert tuning.best == TunedOptions("mast", 80.0, has_alphabeta=True)
    assert tuning.is_finished
    assert [(str(each.challenger), each.is_better) for each in tuning.comparisons] == [
        ("policy=mast,c=40", True),
        ("policy=rave,c=40", False),
        ("policy=mast,c=20", False),
        ("policy=mast,c=80", True),
        ("policy=mast,c=80,alphabeta=on", True),
    ]
    assert all(len(each.scores) < 200 for each in tuning.comparisons)
    assert seen[0] == TuningProgress(1, 5, TunedOptions("mast"), 0, 200)
    # Equal time: a third of the speed, a third of the simulations; the challenger in both seats, one seed.
    (first, terms), (second, other_terms) = strengths[:2]
    assert [first[r].options[0].simulations for r in range(2)] == [300, 900]
    assert [second[r].options[0].simulations for r in range(2)] == [900, 300]
    assert first[0].options[1].policy == "mast"
    assert terms.seed == other_terms.seed
    # Alpha-beta is compared by the clock, against a tree that proves as it does in a match.
    last, terms = strengths[-1]
    tables = [player.options[0] for player in last.values()]
    assert [(own.simulations, own.is_proving) for own in tables] == [(None, True)] * 2
    assert (terms.start_clock_seconds, terms.play_clock_seconds) == (4.0, 0.1)


def test_interrupted_tuning_resumes_with_the_same_result(strengths, interrupt, tmp_path):
    whole = tuned_game("tictactoe", most=200)
    game, interrupt[0] = load("tictactoe", "lanes"), 11
    part = Tuning.empty(game, 900, 5)
    with pytest.raises(KeyboardInterrupt):
        tune(game, part, most=200, rating=equal_rates)
    assert sum(len(each.scores) for each in part.comparisons) == 11
    assert not part.is_finished
    part.save(tmp_path / "t.json")
    part = Tuning.load(tmp_path / "t.json")
    interrupt[0] = 10**6
    tune(game, part, most=200, rating=equal_rates)
    assert part == whole
    assert 10**6 - interrupt[0] == sum(len(each.scores) for each in whole.comparisons) - 11


def test_undecided_comparisons_end_and_change_nothing(monkeypatch):
    monkeypatch.setattr(tuning_module, "_goals", lambda game, makers, terms: [50, 50])
    tuning = tuned_game("tictactoe", most=8)
    assert tuning.best == TunedOptions()
    assert {each.verdict for each in tuning.comparisons} <= {"undecided", "at most 0 Elo better"}


def test_one_role_compares_its_goals(strengths):
    tuned_game("lightsout", most=30)
    assert len(strengths[0][0]) == 1  # each plays alone


@pytest.mark.slow
def test_matches_are_played_by_the_searches_that_are_compared():
    """One real comparison, at few simulations."""
    rates = {"uniform": 1.0, "mast": 1.0}
    tuning, again = (
        tuned_game("tictactoe", simulations=5, most=1, rating=lambda game, policy: rates.get(policy))
        for _ in range(2)
    )
    assert tuning == again
    assert all(0 < score < 1 for score in tuning.comparisons[0].scores[:1])


def played_with(spec, game):
    player = make_player(spec)
    player.start(MatchSetup("m", game, game.roles[0], 0.0, 0.2, 1), time.monotonic())
    try:
        player.choose(game.initial_state(), time.monotonic() + 0.2, None)
        return tree_of(player).options, player.last_report
    finally:
        player.stop(None)


def test_mcts_plays_with_what_was_found_unless_told_otherwise(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    game = load("tictactoe", "reasoner")
    tuning = Tuning.empty(game, 900, 5)
    tuning.best = TunedOptions("mast", 20.0)
    tuning.save(kept_file(game.program, "tuned.json"))
    options, report = played_with("mcts:proof=off", game)
    assert (options.policy, options.exploration, report.tuned) == ("mast", 20.0, "policy=mast,c=20")
    for spec in ("mcts:tuned=off", "mcts:policy=uniform", "mcts:c=40", "mcts:simulations=20"):
        options, report = played_with(spec, game)
        assert (options.policy, options.exploration, report.tuned) == ("uniform", 40.0, "")
    app.main(["games", "info", "tictactoe"], standalone_mode=False)
    assert "mcts is tuned to policy=mast,c=20" in capsys.readouterr().out
    assert played_with("mcts", load("nim", "reasoner"))[1].tuned == ""


def test_the_shipped_table_names_bundled_games_and_their_rules():
    entries = read_knowledge(tuned.SHIPPED, tuned.SHIPPED_FORMAT)["games"]
    digests = {rules_digest(read_program(entry["game"])[0]) for entry in entries.values()}
    assert digests == entries.keys() == tuned.shipped_table().keys()


def test_mcts_plays_with_shipped_options_unless_it_has_tuned_the_game_itself(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    table = tmp_path / "shipped.json"
    table.write_text(json.dumps({"format": tuned.SHIPPED_FORMAT, "games": {}}))
    monkeypatch.setattr(shipped_options, "SHIPPED", table)
    game = load("tictactoe", "reasoner")
    tuning, place = Tuning.empty(game, 900, 5), kept_file(game.program, "tuned.json")
    for best, is_finished, is_shipped in (
        ("mast", False, False),
        ("mast", True, True),
        ("uniform", True, False),
    ):
        tuning.best, tuning.is_finished = TunedOptions(best), is_finished
        tuning.save(place)
        monkeypatch.setattr(sys, "argv", ["shipped_options", "tictactoe"])
        shipped_options.main()
        tuned.shipped_table.cache_clear()
        found = tuned.shipped_table(table)
        assert found == ({tuning.rules: TunedOptions("mast")} if is_shipped else {})
    monkeypatch.setattr(tuned, "shipped_table", lambda: {tuning.rules: TunedOptions("mast")})
    assert played_with("mcts:proof=off", game)[0].policy == "uniform"
    place.unlink()
    assert played_with("mcts:proof=off", game)[1].tuned == "policy=mast,c=40"
    assert played_with("mcts:simulations=20", game)[0].policy == "uniform"


@pytest.mark.parametrize(
    "change",
    [
        {"best": {"policy": "mast,memory=9999999", "exploration": 20}},
        {"best": {"policy": "mast", "exploration": -1}},
        {"best": {"policy": "mast", "exploration": math.nan}},
        {"rates": {"mast": 5.0}},
        {"rates": {"uniform": 0.0}},
        {"comparisons": [{}]},
        {"comparisons": {}},
        {"simulations": "many"},
        {"format": "ggp-book 1"},
    ],
)
def test_damaged_files_are_refused(change, tmp_path, monkeypatch, caplog):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    game = load("tictactoe", "reasoner")
    place = kept_file(game.program, "tuned.json")
    tuning = Tuning.empty(game, 900, 5)
    tuning.comparisons.append(Comparison(TunedOptions("mast"), TunedOptions(), [0.5]))
    tuning.save(place)
    assert Tuning.load(place) == tuning
    place.write_text(json.dumps(json.loads(place.read_text()) | change))
    with pytest.raises(KnowledgeFileError):
        Tuning.load(place)
    assert played_with("mcts", game)[0].policy == "uniform"
    assert "playing with default options" in caplog.text


def test_the_command_keeps_what_was_found_before_ctrl_c(strengths, interrupt, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setattr(tuning_module.tune, "__kwdefaults__", tune.__kwdefaults__ | {"rating": equal_rates})
    interrupt[0] = 12
    with pytest.raises(SystemExit) as ended:
        app.main(["prepare", "options", "tictactoe"], standalone_mode=False)
    assert ended.value.code == 130
    assert "(so far)" in capsys.readouterr().out
    interrupt[0] = 10**6
    app.main(["prepare", "options", "tictactoe"], standalone_mode=False)
    assert "tictactoe: mcts plays with policy=mast,c=80,alphabeta=on\nkept in " in capsys.readouterr().out


@pytest.fixture
def taught(tmp_path):
    game = load("connectfour", "lanes")
    found = TaughtNetwork(Network.random(game, seed=1), game.name, rules_digest(game.program), 1, 1.0)
    found.save(tmp_path / "net.json", game)
    return found


def test_the_network_plays_in_every_seat_and_is_scored(taught, tmp_path, monkeypatch):
    seats = []

    def goals(game, makers, terms):
        networks = [makers[r]().options[0].network != "off" for r in range(2)]
        seats.append((networks, terms.seed, terms.play_clock_seconds))
        return [100, 0] if networks[0] else [50, 50]

    monkeypatch.setattr(tuning_module, "_goals", goals)
    scores = list(gate_scores(load("connectfour", "lanes"), tmp_path / "net.json", 3, seed=1))
    assert scores == [0.75] * 3
    assert [networks for networks, _, _ in seats] == [[True, False], [False, True]] * 3
    assert len({seed for _, seed, _ in seats}) == 3
    assert {clock for _, _, clock in seats} == {0.2}
    assert not judged(taught, scores).is_stronger
    assert judged(taught, [0.75] * 40).is_stronger


@pytest.mark.slow
def test_matches_are_played_with_the_network_and_without(taught, tmp_path):
    (score,) = gate_scores(
        load("connectfour", "lanes"), tmp_path / "net.json", 1, start_seconds=0.1, move_seconds=0.02
    )
    assert 0 <= score <= 1
