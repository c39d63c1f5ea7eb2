"""`mcts` with a network: which one it takes, and what its reports say."""

import time

import pytest

from ggp.engines.loading import load
from ggp.knowledge.folder import kept_file
from ggp.knowledge.taught import FILE_NAME, TaughtNetwork
from ggp.knowledge.trial import FILE_NAME as TRIAL_FILE_NAME
from ggp.knowledge.trial import Trial
from ggp.match.player import MatchSetup, PlayerSpecError
from ggp.networks.network import Network
from ggp.players.advisors.alphabeta import AlphaBetaAdvisor
from ggp.players.advisors.trial import TrialAdvisor
from ggp.players.factory import make_player
from ggp.search.tree.options import MctsOptions
from ggp.solver.work_folder import rules_digest
from tests.ggp.players.asking import advisor_of


@pytest.fixture
def game(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    return load("connectfour", "lanes")


def taught(game, *, score=0.5):
    network = Network.random(game, seed=1)
    return TaughtNetwork(network, game.name, rules_digest(game.program), 1, 1.0, 0.5, score, 0.05)


def report_of_first_move(spec, game):
    player = make_player(spec)
    begin = time.monotonic()
    player.start(MatchSetup("m", game, game.roles[0], 0.1, 0.1, 1), begin + 0.1)
    try:
        move = player.choose(game.initial_state(), time.monotonic() + 0.2, None)
        assert move in game.legal_moves(game.initial_state(), game.roles[0])
        return move, player.last_report
    finally:
        player.stop(None)


def test_a_given_network_guides_the_search(game, tmp_path):
    place = tmp_path / "net.json"
    taught(game).save(place, game)
    move, report = report_of_first_move(f"mcts:net={place}", game)
    assert (report.mode, report.best_move) == ("network", move)
    assert report.playouts > 0
    assert sum(each.visits for each in report.moves) <= report.playouts
    assert report_of_first_move("mcts:net=off", game)[1].mode == "lanes"


def test_counted_searches_by_a_network_depend_on_the_seed_alone(game, tmp_path):
    place = tmp_path / "net.json"
    taught(game).save(place, game)
    first, second = (report_of_first_move(f"mcts:net={place},simulations=512", game) for _ in range(2))
    assert first == second
    assert 400 <= first[1].playouts <= 512


def test_only_a_network_that_won_is_used_unasked(game):
    place = kept_file(game.program, FILE_NAME)
    taught(game, score=0.54).save(place, game)
    assert report_of_first_move("mcts", game)[1].mode == "lanes"
    taught(game, score=0.56).save(place, game)
    assert report_of_first_move("mcts", game)[1].mode == "network"
    for spec in ("mcts:net=off", "mcts:tuned=off", "mcts:c=30", "mcts:simulations=20"):
        assert report_of_first_move(spec, game)[1].mode == "lanes", spec


def test_a_damaged_kept_network_is_a_warning(game, caplog):
    place = kept_file(game.program, FILE_NAME)
    place.parent.mkdir(mode=0o700, parents=True)
    place.write_text("{}")
    assert report_of_first_move("mcts", game)[1].mode == "lanes"
    assert "playing without a network" in caplog.text


def test_a_given_file_that_is_no_network_is_a_mistake(tmp_path):
    place = tmp_path / "net.json"
    for text in (None, "{}"):
        if text:
            place.write_text(text)
        with pytest.raises(PlayerSpecError, match=r"net\.json"):
            make_player(f"mcts:net={place}")


def test_alphabeta_evaluates_by_a_network(game, tmp_path):
    place = tmp_path / "net.json"
    taught(game).save(place, game)
    player = make_player(f"alphabeta:evaluation=network,net={place},depth=3")
    player.start(MatchSetup("m", game, game.roles[0], 60, 60, 1), time.monotonic() + 60)
    assert advisor_of(player, AlphaBetaAdvisor).evaluation == "network"
    assert player.choose(game.initial_state(), time.monotonic() + 60, None) is not None
    assert player.last_report.deepest == 3
    without = make_player("alphabeta:evaluation=network,net=off,depth=3")
    without.start(MatchSetup("m", game, game.roles[0], 60, 60, 1), time.monotonic() + 60)
    assert advisor_of(without, AlphaBetaAdvisor).evaluation == "mobility"
    with pytest.raises(PlayerSpecError, match=r"none\.json"):
        make_player("alphabeta:net=none.json")


def trial_of(game, network):
    return TrialAdvisor(MctsOptions(), is_certain=False, network=network)._trial_of(game)


def test_trial_matches_begin_again_with_another_network(game):
    trial = Trial.empty(game)
    trial.won = 6
    trial.save(kept_file(game.program, TRIAL_FILE_NAME))
    assert trial_of(game, "auto").is_won
    taught(game).save(kept_file(game.program, FILE_NAME), game)
    assert trial_of(game, "auto") == Trial.empty(game, generation=1)
    assert trial_of(game, "off").is_won
