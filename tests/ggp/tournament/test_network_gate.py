"""The gate of a taught network: matches by the clock, with it and without."""

import pytest

from ggp.engines.loading import load
from ggp.knowledge.taught import TaughtNetwork
from ggp.networks.network import Network
from ggp.solver.work_folder import rules_digest
from ggp.tournament import tuning
from ggp.tournament.network_gate import gate_scores, judged


@pytest.fixture
def game():
    return load("connectfour", "lanes")


@pytest.fixture
def taught(game, tmp_path):
    found = TaughtNetwork(Network.random(game, seed=1), game.name, rules_digest(game.program), 1, 1.0)
    found.save(tmp_path / "net.json", game)
    return found


def test_the_network_plays_in_every_seat_and_is_scored(game, taught, tmp_path, monkeypatch):
    seats = []

    def goals(game, makers, terms):
        networks = [makers[r]().options[0].network != "off" for r in range(2)]
        seats.append((networks, terms.seed, terms.play_clock_seconds))
        return [100, 0] if networks[0] else [50, 50]

    monkeypatch.setattr(tuning, "_goals", goals)
    scores = list(gate_scores(game, tmp_path / "net.json", 3, seed=1))
    assert scores == [0.75] * 3
    assert [networks for networks, _, _ in seats] == [[True, False], [False, True]] * 3
    assert len({seed for _, seed, _ in seats}) == 3
    assert {clock for _, _, clock in seats} == {0.2}
    assert not judged(taught, scores).is_stronger
    assert judged(taught, [0.75] * 40).is_stronger


@pytest.mark.slow
def test_matches_are_played_with_the_network_and_without(game, taught, tmp_path):
    (score,) = gate_scores(game, tmp_path / "net.json", 1, start_seconds=0.1, move_seconds=0.02)
    assert 0 <= score <= 1
