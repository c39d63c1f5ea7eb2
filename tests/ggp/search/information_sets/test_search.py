"""Search over information sets: it values information, mixes, and comes closer to an equilibrium."""

import numpy as np
import pytest

from gdl.syntax.parser import parse_term
from ggp.beliefs.observation import Observation
from ggp.engines.loading import load
from ggp.search.information_sets.plain import PlainInformationSetSearch
from ggp.search.information_sets.search import InformationSetSearch
from ggp.solver.cfr import information_sets, make_state_graph, respond, sequence_form
from ggp.solver.cfr.minimization import uniform_strategy


def searched(name, simulations):
    game = load(name, "lanes")
    search = InformationSetSearch(game, seed=1)
    search.run(simulations=simulations)
    return game, search


def strategies_of(form, search):
    """The search's average strategies as the solver writes them; even where it has not been."""
    strategies = tuple(uniform_strategy(plex) for plex in form.plexes)
    agents = form.graph.agents
    numbers = [0] * len(agents)
    for place in information_sets(form, strategies):
        agent = agents.index(place.role)
        first = form.plexes[agent].first[numbers[agent]]
        numbers[agent] += 1
        shares = search.average_strategy(place.role, [Observation(*step) for step in place.observed])
        if shares:
            assert shares.keys() == place.probabilities.keys()
            strategies[agent][first : first + len(shares)] = [shares[m] for m in place.probabilities]
    return strategies


def exploitability(form, search):
    strategies = strategies_of(form, search)
    gains = [respond(form, 1 - agent, strategies[agent])[1] for agent in (0, 1)]
    return (sum(gains) - form.graph.total) / 2


def test_kuhn_poker_comes_closer_to_an_equilibrium_with_simulations():
    game, search = searched("kuhn_poker", 0)
    form = sequence_form(make_state_graph(game))
    found = []
    for simulations in (0, 1000, 7000):
        search.run(simulations=simulations)
        found.append(exploitability(form, search))
    assert found[0] == pytest.approx(11.458, abs=0.001)  # of the uniform strategies
    assert found[0] / 2 > found[1] > 1.5 * found[2]


def test_the_same_seed_gives_the_same_strategies():
    shares = []
    for _ in range(2):
        game, search = searched("kuhn_poker", 200)
        seen = Observation(parse_term("noop"), (parse_term("(card jack)"),))
        shares.append(search.average_strategy(game.roles[0], [seen]))
    assert shares[0] == shares[1] != {}


def test_the_oracle_is_asked_before_a_wire_is_cut():
    game, search = searched("wire_cutting", 4000)
    shares = search.average_strategy(game.roles[0], [Observation(parse_term("noop"), ())])
    assert shares[parse_term("ask")] > 0.8


def test_the_door_is_always_switched():
    game, search = searched("monty_hall", 10000)
    form = sequence_form(make_state_graph(game))
    switch = parse_term("switch")
    places = list(information_sets(form, strategies_of(form, search)))
    decisions = [place for place in places if switch in place.probabilities]
    assert len(decisions) == 6
    assert all(place.probabilities[switch] > 0.8 for place in decisions)


def test_observations_without_simulations_have_no_strategy():
    game, search = searched("kuhn_poker", 10)
    strange = Observation(parse_term("noop"), (parse_term("(card ace)"),))
    assert search.average_strategy(game.roles[0], [strange, strange]) == {}


@pytest.mark.parametrize(
    ("name", "simulations"), [("kuhn_poker", 300), ("wire_cutting", 200), ("goofspiel_hidden", 150)]
)
def test_the_plain_search_builds_the_same_statistics(name, simulations):
    game, search = searched(name, simulations)
    plain = PlainInformationSetSearch(game, seed=1)
    plain.run(simulations=simulations)
    assert search.set_count == plain.set_count > 3
    for index, role in enumerate(game.roles):
        for history, place in plain.sets(role).items():
            found = search.statistics(role, history)
            moves = [game.moves[index].index(move) for move in place.moves]
            for kind in ("regret", "weight", "total", "tries"):
                np.testing.assert_allclose(found[kind][moves], getattr(place, kind), rtol=1e-7, atol=1e-7)
                assert not np.delete(found[kind], moves).any()


@pytest.mark.slow
def test_statistics_stay_within_their_memory():
    game = load("krieg_tictactoe", "lanes")
    search = InformationSetSearch(game, seed=1, mebibytes=0.02)
    search.run(simulations=2000)
    assert search.is_full
    assert search.set_count == 2 * int(0.01 * 2**20 / (33 * len(game.moves[0]) + 16))


def test_a_search_without_an_end_is_refused():
    with pytest.raises(ValueError, match="needs an end"):
        InformationSetSearch(load("kuhn_poker", "lanes")).run()


def test_a_search_ends_within_a_batch():
    search = InformationSetSearch(load("battleship", "lanes"), seed=1)
    asked = []
    search.run(is_stopped=lambda: asked.append(1) or len(asked) > 5)
    assert (search.simulation_count, search.set_count) == (0, 0)


def test_sets_deep_in_a_match_are_not_kept(monkeypatch):
    monkeypatch.setattr("ggp.search.information_sets.search.DEEPEST", 2)
    _, search = searched("kuhn_poker", 500)
    assert search.set_count == 3  # the first player's: the second one chooses in the third step
