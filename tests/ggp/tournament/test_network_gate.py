"""Whether a network helps a game, by matches; who plays with the options of the shipped table."""

import time

import pytest

from ggp.cli.main import app
from ggp.engines.loading import load, read_program
from ggp.knowledge import tuned
from ggp.knowledge.taught import TaughtNetwork
from ggp.knowledge.tuned import TunedOptions
from ggp.match.player import MatchSetup
from ggp.networks.network import Network
from ggp.players.factory import make_player
from ggp.solver.saved_header import rules_digest
from ggp.tournament import network_gate
from ggp.tournament.network_gate import gate_scores, judged
from tests.ggp.players.asking import tree_of


def played_with(spec, game):
    player = make_player(spec)
    player.start(MatchSetup("m", game, game.roles[0], 0.0, 0.2, 1), time.monotonic())
    try:
        player.choose(game.initial_state(), time.monotonic() + 0.2, None)
        return tree_of(player).options, player.last_report
    finally:
        player.stop(None)


def test_mcts_plays_with_what_won_unless_told_otherwise(monkeypatch, capsys):
    game = load("tictactoe", "reasoner")
    digest = rules_digest(game.program)
    monkeypatch.setattr(tuned, "SHIPPED", {digest: TunedOptions("mast", 20.0)})
    options, report = played_with("mcts:proof=off", game)
    assert (options.policy, options.exploration, report.tuned) == ("mast", 20.0, "policy=mast,c=20")
    for spec in ("mcts:tuned=off", "mcts:policy=uniform", "mcts:c=40", "mcts:simulations=20"):
        options, report = played_with(spec, game)
        assert (options.policy, options.exploration, report.tuned) == ("uniform", 40.0, "")
    app.main(["games", "info", "tictactoe"], standalone_mode=False)
    assert "mcts is tuned to policy=mast,c=20" in capsys.readouterr().out
    assert played_with("mcts", load("nim", "reasoner"))[1].tuned == ""


def test_the_shipped_table_has_the_rules_of_bundled_games():
    names = ("knightthrough", "minichess", "othello", "othello_6x6", "skirmish")
    assert [rules_digest(read_program(name)[0]) for name in names] == list(tuned.SHIPPED)


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

    monkeypatch.setattr(network_gate, "_goals", goals)
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
