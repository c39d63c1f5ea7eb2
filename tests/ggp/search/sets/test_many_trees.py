"""Many-tree search: the same trees as its twin, worth of information, sets kept from move to move, memory."""

import random

import numpy as np
import pytest

from gdl.syntax.parser import parse_term
from ggp.beliefs.belief import Belief
from ggp.beliefs.observation import observe_step
from ggp.beliefs.observation_keys import ObservationKeys
from ggp.engines.loading import load
from ggp.jit.rows import words_of
from ggp.lanes.choose import seeded_random
from ggp.search.budget import Budget
from ggp.search.sets import many_trees
from ggp.search.sets.many_trees import ManyTreeSearch, SetForest
from tests.conftest import mostly_slow
from tests.oracles.naive_many_trees import NaiveManyTrees

GAMES = [
    "kuhn_poker",
    "dark_hex_3x3",
    "krieg_tictactoe",
    "goofspiel_hidden",
    "liars_dice",
    "battleship",
    "monty_hall",
    "signalling",
]


def forest_at_start(game, seed=0, **options):
    forest = SetForest(game, seed=seed, **options)
    start = game.unpack(game.initial_state())[None]
    forest.put_roots(start, np.zeros((1, len(game.roles)), np.uint64))
    return forest


@pytest.mark.parametrize("name", mostly_slow(GAMES, 3))
def test_one_lane_builds_the_trees_of_the_plain_search(name, monkeypatch):
    game = load(name, engine="lanes")
    # Lane 0 of rows of eight words, whose kernel others need too, draws as the twin: as that of one word.
    monkeypatch.setattr(many_trees, "WIDTHS", (8,))
    forest = forest_at_start(game, seed=5, lanes=1)
    words_of(forest._memory.arrays.random)[:, :1] = words_of(seeded_random(1, seed=5))
    assert forest.grow(300)
    naive = NaiveManyTrees(game, game.initial_state(), seed=5)
    for _ in range(300):
        naive.simulate()
    assert forest.set_count == len(naive.sets)
    observers = [ObservationKeys(game, role) for role in range(len(game.roles))]
    for (role, history), node in naive.sets.items():
        found = forest.moves(role, observers[role].of(history))
        assert tuple(found) == node.moves
        assert [edge.visits for edge in found.values()] == node.visits
        assert [edge.total for edge in found.values()] == node.totals


@pytest.mark.parametrize("name", ["dark_hex_3x3", "battleship", "liars_dice"])
def test_all_lanes_count_every_playout_once_and_leave_nothing_in_flight(name):
    game = load(name, engine="lanes")
    forest = forest_at_start(game)
    assert forest.grow(5000)
    assert forest.simulation_count == 5000
    for role, name_of_role in enumerate(game.roles):
        if str(name_of_role) != "random":
            assert sum(edge.visits for edge in forest.moves(role, 0).values()) == 5000
    assert (forest._memory.trees.started == forest._memory.trees.visits).all()


def test_search_goes_on_without_room_for_new_sets():
    forest = forest_at_start(load("dark_hex_3x3", engine="lanes"), mebibytes=0.001)
    assert forest.grow(3000)
    assert forest.is_full
    assert sum(edge.visits for edge in forest.moves(0, 0).values()) == 3000


def test_stopped_search_forgets_what_is_in_flight():
    game = load("dark_hex_3x3", engine="lanes")
    forest = forest_at_start(game)
    assert not forest.grow(10**9, is_stopped=lambda: True)
    assert (forest._memory.trees.started == forest._memory.trees.visits).all()
    before = forest.simulation_count
    assert forest.grow(100)
    assert forest.simulation_count == before + 100


def advanced(game, belief, role, joint, state, deadline=float("inf")):
    """The state after `joint`, which `belief` learns of as its role does."""
    seen = game.percepts(state, joint, role)
    belief.advance(seen, joint[game.roles.index(role)], deadline)
    return game.next_state(state, joint)


def test_monty_halls_candidate_switches():
    game = load("monty_hall", engine="lanes")
    candidate, rng = game.roles[0], random.Random(3)
    belief = Belief(game, candidate, random.Random(0))
    belief.keep_keys()
    search = ManyTreeSearch(game, candidate, seed=2)
    state = game.initial_state()
    while not game.is_terminal(state):
        legal = [game.legal_moves(state, role) for role in game.roles]
        joint = [rng.choice(moves) for moves in legal]
        if len(legal[0]) > 1:
            search.look_at(belief.probabilities, belief.keys())
            search.run(Budget(simulations=4000))
            joint[0] = search.report().best_move
        last = joint[0]
        state = advanced(game, belief, candidate, tuple(joint), state)
    assert last == parse_term("switch")


def test_keys_of_a_belief_are_those_of_the_histories_of_all_roles():
    game = load("dark_hex_3x3", engine="lanes")
    belief = Belief(game, game.roles[1], random.Random(0))
    belief.keep_keys()
    rng, state = random.Random(1), game.initial_state()
    observed = [[] for _ in game.roles]
    for _ in range(4):
        joint = tuple(rng.choice(game.legal_moves(state, role)) for role in game.roles)
        for i, role in enumerate(game.roles):
            observed[i].append(observe_step(game, state, joint, role))
        state = advanced(game, belief, game.roles[1], joint, state)
    keys = belief.keys()
    own = ObservationKeys(game, 1).of(observed[1])
    assert keys.shape == (len(belief.states), 2)
    assert (keys[:, 1] == own).all()
    assert state in belief.states
    # The other role's marks are what distinguishes the states, so each set of them is an information set.
    assert len(set(keys[:, 0].tolist())) == len(belief.states)
    other = ObservationKeys(game, 0).of(observed[0])
    assert keys[belief.states.index(state), 0] == other


def test_a_second_search_of_the_match_finds_the_sets_of_the_first():
    game = load("dark_hex_3x3", engine="lanes")
    search = ManyTreeSearch(game, game.roles[0], seed=1)
    keys = np.zeros((1, 2), np.uint64)
    for _ in range(2):
        search.look_at({game.initial_state(): 1.0}, keys)
        search.run(Budget(simulations=500))
    report = search.report()
    assert report.playouts == 500
    assert sum(move.visits for move in report.moves) == 1000
