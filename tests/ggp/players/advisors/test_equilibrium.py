"""Play by an equilibrium where the start clock suffices to find one, and by search where it does not."""

import dataclasses
import random
import time

import pytest

from gdl.syntax.parser import parse_term
from ggp.beliefs.observation import Observation
from ggp.engines.loading import load
from ggp.match.player import MatchSetup
from ggp.match.referee import play_match
from ggp.match.terms import MatchTerms
from ggp.players.advisors import equilibrium
from ggp.players.advisors.equilibrium import FollowedStrategy, find_equilibrium
from ggp.players.factory import make_player
from ggp.search.budget import Budget
from ggp.solver.cfr import CfrOptions, information_sets, solve_hidden
from tests.ggp.players.asking import started

COUNTED = "mcts:simulations=2000,memory=16"
NOOP, QUEEN = parse_term("noop"), parse_term("(card queen)")


@pytest.fixture(scope="module")
def kuhn():
    return load("kuhn_poker", "lanes")


def equilibrium_of(game):
    setup = MatchSetup("test", game, game.roles[0], 0.0, 1.0, seed=1)
    return find_equilibrium(setup, Budget(simulations=10**6), mebibytes=16)


def answer(player, *observed):
    """The move after these observations, and how it was found."""
    for observation in observed:
        player.observe(observation, time.monotonic() + 1)
    move = player.choose_by_observations(time.monotonic() + 1)
    return str(move), player.last_report.mode


@pytest.mark.parametrize("name", ["kuhn_poker", "liars_dice", "goofspiel_hidden"])
def test_every_information_set_is_found_by_what_was_observed(name):
    found = solve_hidden(load(name, "lanes"), None, CfrOptions(0.1))
    for place in information_sets(found.form, found.strategies):
        play = FollowedStrategy(found, place.role, random.Random(1))
        for own_move, percepts in place.observed:
            play.observe(Observation(own_move, percepts))
        move, report = play.draw()
        assert place.probabilities[move] > 0
        shares = {each.move: each.visits / 1000 for each in report.moves}
        assert shares == pytest.approx(place.probabilities, abs=0.0006)


def test_moves_are_drawn_with_their_probabilities(kuhn):
    found = solve_hidden(kuhn, None, CfrOptions(1e-6))
    calls = 0
    for seed in range(400):
        play = FollowedStrategy(found, kuhn.roles[0], random.Random(seed))
        play.observe(Observation(NOOP, (QUEEN,)))
        play.observe(Observation(parse_term("check"), (parse_term("(move first check)"),)))
        play.observe(Observation(NOOP, (parse_term("(move second bet)"),)))
        move, report = play.draw()
        calls += str(move) == "call"
    (share,) = [each.visits / 1000 for each in report.moves if str(each.move) == "call"]
    # A third plus the share of bluffs with the jack, which is at most a third (Kuhn 1950).
    assert 1 / 3 <= share <= 2 / 3
    assert calls / 400 == pytest.approx(share, abs=0.08)


def test_mcts_plays_by_an_equilibrium_in_counted_and_in_timed_matches(kuhn):
    seen = Observation(NOOP, (QUEEN,))
    assert answer(started(COUNTED, kuhn), seen) == ("check", "equilibrium")
    player = make_player("mcts:memory=16")
    player.prepare(kuhn)
    assert answer(started(player, kuhn, clock=60.0), seen) == ("check", "equilibrium")


@pytest.mark.parametrize("option", ["proof=off", "head_start=off", "search=reference"])
def test_mcts_searches_where_it_is_told_to_prove_nothing(kuhn, option):
    player = started(f"mcts:simulations=50,memory=16,{option}", kuhn)
    assert answer(player, Observation(NOOP, (QUEEN,)))[1] in ("trees", "reference")


def test_mcts_searches_where_the_tree_of_histories_is_too_large():
    player = started("mcts:simulations=50,memory=16", load("krieg_tictactoe", "lanes"))
    assert answer(player)[1] == "trees"


def test_mcts_searches_after_a_move_that_nobody_knows(kuhn):
    player = started(COUNTED, kuhn)
    lost = Observation(None, (QUEEN,))
    move, mode = answer(player, lost)
    assert (move in ("bet", "check"), mode) == (True, "trees")
    player.observe(Observation(parse_term(move), (parse_term(f"(move first {move})"),)), time.monotonic() + 1)
    assert str(player.choose_by_observations(time.monotonic() + 1)) == "noop"


def test_counted_matches_are_reproducible(kuhn):
    def moves():
        players = [make_player(COUNTED), make_player(COUNTED), make_player("random")]
        return [play_match(kuhn, players, MatchTerms(60, 60, seed=seed)).moves for seed in range(8)]

    assert moves() == moves()


def test_strategies_against_which_much_can_be_gained_are_not_played(kuhn, monkeypatch):
    found = solve_hidden(kuhn, None, CfrOptions(0.1))
    assert equilibrium_of(kuhn) is not None
    poor = dataclasses.replace(found, bounds=(46.0, 50.0))
    monkeypatch.setattr(equilibrium, "solve_hidden", lambda *args: poor)
    assert poor.exploitability > equilibrium.MAX_GAIN
    assert equilibrium_of(kuhn) is None


def test_ctrl_c_ends_the_search_for_an_equilibrium(kuhn, monkeypatch):
    found = dataclasses.replace(solve_hidden(kuhn, None, CfrOptions(0.1)), is_interrupted=True)
    monkeypatch.setattr(equilibrium, "solve_hidden", lambda *args: found)
    with pytest.raises(KeyboardInterrupt):
        equilibrium_of(kuhn)
