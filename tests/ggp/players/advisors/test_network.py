"""`mcts` with a network: which one it takes, and what its reports say."""

import pytest

from ggp.engines.loading import load
from ggp.knowledge.folder import kept_file
from ggp.knowledge.taught import FILE_NAME, TaughtNetwork
from ggp.match.player import PlayerSpecError
from ggp.networks.network import Network
from ggp.players.factory import make_player
from ggp.solver.saved_header import rules_digest
from tests.ggp.players.asking import choose, started


@pytest.fixture
def game(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    return load("connectfour", "lanes")


def taught(game, *, score=0.5):
    network = Network.random(game, seed=1)
    return TaughtNetwork(network, game.name, rules_digest(game.program), 1, 1.0, score, 0.05)


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
