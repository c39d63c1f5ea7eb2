"""Search over information sets: it values information, mixes, and comes closer to an equilibrium."""

import pytest

from gdl.syntax.parser import parse_term
from ggp.beliefs.observation import Observation
from ggp.engines.loading import load
from ggp.search.information_sets import InformationSetSearch
from ggp.solver.cfr import information_sets, make_state_graph, respond, sequence_form
from ggp.solver.cfr.minimization import uniform_strategy


def searched(name, simulations):
    game = load(name, "lanes")
    search = InformationSetSearch(game, seed=1)
    search.run(simulations)
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
    for simulations in (0, 300, 5700):
        search.run(simulations)
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
    game, search = searched("wire_cutting", 1000)
    shares = search.average_strategy(game.roles[0], [Observation(parse_term("noop"), ())])
    assert shares[parse_term("ask")] > 0.8


def test_the_door_is_always_switched():
    game, search = searched("monty_hall", 4000)
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
