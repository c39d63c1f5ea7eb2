"""`mcts` with a network: which one it takes, and what its reports say."""

import pytest

from ggp.engines.loading import load
from ggp.knowledge.folder import kept_file
from ggp.knowledge.taught import FILE_NAME, TaughtNetwork
from ggp.knowledge.trial import FILE_NAME as TRIAL_FILE_NAME
from ggp.knowledge.trial import Trial
from ggp.match.player import PlayerSpecError
from ggp.networks.network import Network
from ggp.players.advisors.alphabeta import AlphaBetaAdvisor
from ggp.players.advisors.trial import TrialAdvisor
from ggp.players.factory import make_player
from ggp.search.tree.options import MctsOptions
from ggp.solver.saved_header import rules_digest
from tests.ggp.players.asking import advisor_of, choose, started


@pytest.fixture
def game(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    return load("connectfour", "lanes")


def taught(game, *, score=0.5):
    network = Network.random(game, seed=1)
    return TaughtNetwork(network, game.name, rules_digest(game.program), 1, 1.0, 0.5, score, 0.05)


def report_of_first_move(spec, game):
    player = started(spec, game, clock=0.1)
    move = choose(player, seconds=0.2)
    player.stop(None)
    return move, player.last_report


@pytest.fixture
def given(game, tmp_path):
    """The file of a network."""
    place = tmp_path / "net.json"
    taught(game).save(place, game)
    return place


def test_a_given_network_guides_the_search(game, given):
    move, report = report_of_first_move(f"mcts:net={given}", game)
    assert (report.mode, report.best_move) == ("network", move)
    assert report.playouts > 0
    assert sum(each.visits for each in report.moves) <= report.playouts
    assert report_of_first_move("mcts:net=off", game)[1].mode == "lanes"


def test_counted_searches_by_a_network_depend_on_the_seed_alone(game, given):
    first, second = (report_of_first_move(f"mcts:net={given},simulations=512", game) for _ in range(2))
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


def test_alphabeta_evaluates_by_a_network(game, given):
    player = started(f"alphabeta:evaluation=network,net={given},depth=3", game, clock=60)
    assert advisor_of(player, AlphaBetaAdvisor).evaluation == "network"
    choose(player)
    assert player.last_report.deepest == 3
    without = started("alphabeta:evaluation=network,net=off,depth=3", game, clock=60)
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
