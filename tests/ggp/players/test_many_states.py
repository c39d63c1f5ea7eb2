"""`mcts` searches the possible states where it does not see everything."""

import itertools
import time

import numpy as np
import pytest

from gdl.syntax.parser import parse_term
from ggp.beliefs.observation import Observation, observe_step
from ggp.engines.loading import load
from ggp.match.player import MatchSetup
from ggp.match.referee import play_match
from ggp.match.terms import MatchTerms
from ggp.players.factory import make_player
from ggp.search.information_sets.many_trees import FILL, ManyTreeSearch
from ggp.search.information_sets.many_trees_kernel import EDGES
from ggp.search.mcts.options import MctsOptions


def answer(options):
    """The first move in battleship after both ships are hidden, its report, and the player."""
    game = load("battleship", "lanes")
    player = make_player(f"mcts:simulations=400,memory=16,proof=off{options}")
    player.start(MatchSetup("test", game, game.roles[0], 0.0, 1.0, seed=1), time.monotonic())
    player.observe(Observation(parse_term("(hide 1 1 lying)"), ()), time.monotonic() + 1)
    legal = player.belief.position.legal
    move = player.choose_by_observations(time.monotonic() + 1)
    assert move in legal
    return move, player.last_report, player


@pytest.mark.parametrize(("options", "mode"), [("", "trees"), (",belief=many", "determinized")])
def test_possible_states_are_searched_unless_told_otherwise(options, mode):
    move, report, player = answer(options)
    assert report.mode == mode
    assert report.playouts == 400
    assert move == report.moves[0].move
    player.stop(None)
    assert player.simulation_count == 400


def test_one_state_is_searched_if_that_is_asked_for():
    _, report, _ = answer(",belief=one")
    assert report.mode == "lanes"
    assert report.playouts == 400


@pytest.mark.parametrize("name", ["battleship", "phantom_tictactoe"])
def test_counted_matches_repeat(name):
    game = load(name, "lanes")
    terms = MatchTerms(seed=3, start_clock_seconds=60, play_clock_seconds=60)
    first, second = (
        play_match(game, [make_player("mcts:simulations=200,memory=16,proof=off") for _ in game.roles], terms)
        for _ in range(2)
    )
    assert first.is_completed
    assert not any(first.fault_count(seat) for seat in range(len(game.roles)))
    assert first.moves == second.moves


def test_sets_are_played_where_they_were_searched():
    game = load("wire_cutting", "lanes")
    player = make_player("mcts:simulations=2000,memory=16,proof=off,belief=sets")
    player.start(MatchSetup("test", game, game.roles[0], 60.0, 60.0, seed=1), time.monotonic() + 60)
    player.observe(Observation(parse_term("noop"), ()), time.monotonic() + 60)
    assert player.choose_by_observations(time.monotonic() + 60) == parse_term("ask")
    assert player.last_report.mode == "sets"
    player.stop(None)
    assert player.simulation_count == 4000


def test_many_states_are_searched_where_sets_are_hardly_known():
    _, report, player = answer(",belief=sets")  # without a start clock
    assert report.mode == "determinized"
    assert report.playouts == 400
    player.stop(None)


def sets_of(player):
    return player._possible._search._forests[0].set_count


def test_start_clock_searches_what_roles_observe_and_its_sets_are_kept():
    game = load("dark_hex_3x3", "lanes")
    player = make_player("mcts:memory=16,proof=off,threads=1,margin=0")
    begun = time.monotonic()
    player.start(MatchSetup("test", game, game.roles[0], 0.5, 0.5, seed=1), begun + 0.5)
    ahead = player._possible.simulation_count
    assert ahead > 0
    player.choose_by_observations(time.monotonic() + 0.2)
    report = player.last_report
    assert report.mode == "trees"
    assert sum(move.visits for move in report.moves) == ahead + report.playouts
    player.stop(None)


def test_player_searches_what_may_follow_its_move_while_others_think():
    game = load("dark_hex_3x3", "lanes")
    player = make_player("mcts:simulations=300,memory=16,proof=off,threads=1")
    assert player.ponders_on_observations
    player.start(MatchSetup("test", game, game.roles[0], 0.0, 1.0, seed=1), time.monotonic())
    state = game.initial_state()
    move = player.choose_by_observations(time.monotonic() + 60)
    counted, sets = player._possible.simulation_count, sets_of(player)
    player.ponder(lambda: player._possible.simulation_count > counted + 2000, time.monotonic() + 60)
    assert player._possible.simulation_count > counted + 2000
    assert sets_of(player) > sets
    # The next set of its own, whatever the other role does, has been searched by then.
    joint = (move, game.legal_moves(state, game.roles[1])[0])
    observation = observe_step(game, state, joint, game.roles[0])
    player.observe(observation, time.monotonic() + 60)
    belief = player.belief
    own_key = int(belief.keys()[0, 0])
    assert sum(edge.visits for edge in player._possible._search._forests[0].edges(0, own_key)) > 1000
    player.stop(None)


@pytest.mark.parametrize(
    ("options", "ponders"),
    [("", True), ("belief=one", False), ("belief=many", False), ("belief=sets", False)],
)
def test_only_searches_by_observations_ponder_where_something_is_hidden(options, ponders):
    assert make_player(f"mcts:{options}").ponders_on_observations == ponders
    assert make_player(f"solving:{options}").ponders_on_observations == ponders


def test_regrets_draw_a_move_by_the_average_strategy():
    game, drawn = load("kuhn_poker", "lanes"), set()
    for seed in range(12):
        player = make_player("mcts:simulations=3000,memory=16,proof=off,selection=regrets")
        player.start(MatchSetup("test", game, game.roles[1], 0.0, 1.0, seed=seed), time.monotonic())
        for seen in ("(card jack)", "(move first check)"):
            observation = Observation(parse_term("noop"), (parse_term(seen),))
            player.observe(observation, time.monotonic() + 60)
        drawn.add(str(player.choose_by_observations(time.monotonic() + 60)))
        assert player.last_report.mode == "trees"
        player.stop(None)
    assert drawn == {"bet", "check"}  # a third of the jacks bet


def pondered(options):
    """Playouts while others think, right after the start of a match."""
    game = load("dark_hex_3x3", "lanes")
    player = make_player(f"mcts:memory=16,proof=off,threads=1{options}")
    player.start(MatchSetup("test", game, game.roles[0], 0.0, 1.0, seed=1), time.monotonic())
    before = player._possible.simulation_count
    asked = itertools.count()
    player.ponder(lambda: next(asked) > 20, time.monotonic() + 60)
    found = player._possible.simulation_count - before
    player.stop(None)
    return found


def test_nothing_is_searched_before_the_first_move_without_a_head_start():
    assert pondered("") > 0
    assert pondered(",head_start=off") == 0


def test_regrets_that_were_found_ahead_do_not_outweigh_the_search_of_a_move():
    game = load("battleship", "lanes")
    player = make_player("mcts:simulations=2000,memory=16,proof=off,threads=1,selection=regrets")
    player.start(MatchSetup("test", game, game.roles[0], 0.0, 1.0, seed=1), time.monotonic())
    state = game.initial_state()
    for _ in range(3):
        move = player.choose_by_observations(time.monotonic() + 60)
        until = player._possible.simulation_count + 3000
        player.ponder(lambda until=until: player._possible.simulation_count > until, time.monotonic() + 60)
        joint = (move, game.legal_moves(state, game.roles[1])[0])
        player.observe(observe_step(game, state, joint, game.roles[0]), time.monotonic() + 60)
        state = game.next_state(state, joint)
    forest = player._possible._search._forests[0]
    weight = forest._memory.trees.weight[: forest._memory.counter[EDGES]].sum()
    # About one for each set that a playout came through, if all playouts count the same.
    assert 0 < weight < 50 * forest.simulation_count
    player.stop(None)


def test_searching_ahead_leaves_room_for_the_moves():
    game = load("dark_hex_4x4", "lanes")
    search = ManyTreeSearch(game, game.roles[0], seed=1, options=MctsOptions(memory_mebibytes=1))
    roots = ({game.initial_state(): 1.0}, np.zeros((1, 2), np.uint64))
    search.run_ahead(*roots, time.monotonic() + 60)
    (forest,) = search._forests
    assert 0.3 < forest.fill < FILL
    visits = sum(edge.visits for edge in forest.edges(0, 0))
    search.run(*roots, simulations=100)
    assert sum(edge.visits for edge in forest.edges(0, 0)) == visits + 100
    before = search.simulation_count
    search.run_ahead(*roots, time.monotonic() + 60)  # no room: returns at once
    assert search.simulation_count == before


def test_solving_plays_by_observations_where_something_is_hidden():
    game = load("monty_hall", "lanes")
    solving = make_player("solving:simulations=3000,memory=16,proof=off")
    players = [solving if role == game.roles[0] else None for role in game.roles]
    record = play_match(game, players, MatchTerms(seed=3, start_clock_seconds=60, play_clock_seconds=60))
    assert record.is_completed
    assert not record.fault_count(0)
    assert str(record.moves[-1][0]) == "switch"
