"""`mcts` searches the possible states where it does not see everything."""

import itertools
import time

import numpy as np
import pytest

from gdl.syntax.parser import parse_term
from ggp.beliefs.observation import Observation, observe_step
from ggp.engines.loading import load
from ggp.match.referee import play_match
from ggp.match.terms import MatchTerms
from ggp.players.advisors.sets import SetsAdvisor
from ggp.players.factory import make_player
from ggp.search.budget import Budget
from ggp.search.sets.many_trees import FILL, ManyTreeSearch
from ggp.search.tree.options import MctsOptions
from tests.ggp.players.asking import advisor_of, started

TERMS = MatchTerms(seed=3, start_clock_seconds=60, play_clock_seconds=60)


def answer(options):
    """The first move in battleship after both ships are hidden, its report, and the player."""
    game = load("battleship", "lanes")
    player = started(f"mcts:simulations=400,memory=16,proof=off{options}", game)
    player.observe(Observation(parse_term("(hide 1 1 lying)"), ()), time.monotonic() + 1)
    legal = player.belief.position.legal
    move = player.choose_by_observations(time.monotonic() + 1)
    assert move in legal
    return move, player.last_report, player


def test_possible_states_are_searched_by_what_was_observed():
    move, report, player = answer("")
    assert report.mode == "trees"
    assert report.playouts == 400
    assert move == report.moves[0].move
    player.stop(None)
    assert player.simulation_count == 400


def test_one_state_is_searched_in_plain_python():
    _, report, player = answer(",search=reference")
    assert report.mode == "reference"
    assert report.playouts == 400
    assert not player.ponders_on_observations


def test_the_player_of_one_state_makes_legal_moves():
    game = load("krieg_tictactoe", "lanes")
    one = make_player("tests/oracles/one_state_player.py:OneState:simulations=50")
    players = [one, make_player("mcts:simulations=50,memory=16,proof=off")]
    record = play_match(game, players, TERMS)
    assert record.is_completed
    assert not record.fault_count(0) + record.fault_count(1)


@pytest.mark.parametrize("name", ["battleship", "phantom_tictactoe"])
def test_counted_matches_repeat(name):
    game, spec = load(name, "lanes"), "mcts:simulations=200,memory=16,proof=off"
    first, second = (play_match(game, [make_player(spec) for _ in game.roles], TERMS) for _ in range(2))
    assert first.is_completed
    assert not any(first.fault_count(seat) for seat in range(len(game.roles)))
    assert first.moves == second.moves


def sets_of(player):
    return advisor_of(player, SetsAdvisor).search._forests[0].set_count


def test_start_clock_searches_what_roles_observe_and_its_sets_are_kept():
    spec = "mcts:memory=16,proof=off,threads=1,margin=0"
    player = started(spec, load("dark_hex_3x3", "lanes"), clock=0.5)
    ahead = advisor_of(player, SetsAdvisor).simulation_count
    assert ahead > 0
    player.choose_by_observations(time.monotonic() + 0.2)
    report = player.last_report
    assert report.mode == "trees"
    assert sum(move.visits for move in report.moves) == ahead + report.playouts
    player.stop(None)


def test_player_searches_what_may_follow_its_move_while_others_think():
    game = load("dark_hex_3x3", "lanes")
    player = started("mcts:simulations=300,memory=16,proof=off,threads=1", game)
    assert player.ponders_on_observations
    state = game.initial_state()
    move = player.choose_by_observations(time.monotonic() + 60)
    advisor = advisor_of(player, SetsAdvisor)
    counted, sets = advisor.simulation_count, sets_of(player)
    player.ponder(lambda: advisor.simulation_count > counted + 2000, time.monotonic() + 60)
    assert advisor.simulation_count > counted + 2000
    assert sets_of(player) > sets
    # The next set of its own, whatever the other role does, has been searched by then.
    joint = (move, game.legal_moves(state, game.roles[1])[0])
    observation = observe_step(game, state, joint, game.roles[0])
    player.observe(observation, time.monotonic() + 60)
    belief = player.belief
    own_key = int(belief.keys()[0, 0])
    assert sum(edge.visits for edge in advisor.search._forests[0].moves(0, own_key).values()) > 1000
    player.stop(None)


def pondered(options):
    """Playouts while others think, right after the start of a match."""
    player = started(f"mcts:memory=16,proof=off,threads=1{options}", load("dark_hex_3x3", "lanes"))
    before = advisor_of(player, SetsAdvisor).simulation_count
    asked = itertools.count()
    player.ponder(lambda: next(asked) > 20, time.monotonic() + 60)
    found = advisor_of(player, SetsAdvisor).simulation_count - before
    player.stop(None)
    return found


def test_nothing_is_searched_before_the_first_move_without_a_head_start():
    assert pondered("") > 0
    assert pondered(",head_start=off") == 0


def test_searching_ahead_leaves_room_for_the_moves():
    game = load("dark_hex_4x4", "lanes")
    search = ManyTreeSearch(game, game.roles[0], seed=1, options=MctsOptions(memory_mebibytes=1))
    search.look_at({game.initial_state(): 1.0}, np.zeros((1, 2), np.uint64))
    search.run_ahead(Budget(time.monotonic() + 60))
    (forest,) = search._forests
    assert 0.3 < forest.fill < FILL
    visits = sum(edge.visits for edge in forest.moves(0, 0).values())
    search.run(Budget(simulations=100))
    assert sum(edge.visits for edge in forest.moves(0, 0).values()) == visits + 100
    before = search.simulation_count
    assert search.run_ahead(Budget(time.monotonic() + 60)) == 0  # no room
    assert search.simulation_count == before


def test_solving_plays_by_observations_where_something_is_hidden():
    game = load("monty_hall", "lanes")
    solving = make_player("solving:simulations=3000,memory=16,proof=off")
    players = [solving if role == game.roles[0] else None for role in game.roles]
    record = play_match(game, players, TERMS)
    assert record.is_completed
    assert not record.fault_count(0)
    assert str(record.moves[-1][0]) == "switch"
