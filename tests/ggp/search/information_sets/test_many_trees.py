"""Many-tree search: the same trees as its twin, worth of information, sets kept from move to move, memory."""

import random

import numpy as np
import pytest

from gdl.syntax.parser import parse_term
from ggp.beliefs.belief import Belief
from ggp.beliefs.observation import Observation, observe_step
from ggp.beliefs.observation_keys import ObservationKeys
from ggp.engines.loading import load
from ggp.search.information_sets.many_trees import ManyTreeSearch, SetForest
from ggp.search.information_sets.many_trees_kernel import UNAIMED, UNAIMED_HITS
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


@pytest.mark.parametrize("selection", ["uct", "regrets"])
@pytest.mark.parametrize("name", mostly_slow(GAMES, 3))
def test_one_lane_builds_the_trees_of_the_plain_search(name, selection):
    game = load(name, engine="lanes")
    forest = forest_at_start(game, seed=5, lanes=1, selection=selection)
    assert forest.grow(300)
    naive = NaiveManyTrees(game, game.initial_state(), seed=5, selection=selection)
    for _ in range(300):
        naive.simulate()
    assert forest.set_count == len(naive.sets)
    is_ordered = selection == "regrets"
    observers = [ObservationKeys(game, role, is_ordered=is_ordered) for role in range(len(game.roles))]
    for (role, history), node in naive.sets.items():
        found = forest.moves(role, observers[role].of(history))
        assert tuple(found) == node.moves
        assert [edge.visits for edge in found.values()] == node.visits
        assert [edge.total for edge in found.values()] == node.totals
        assert [edge.regret for edge in found.values()] == pytest.approx(node.regrets, abs=1e-9)
        assert [edge.weight for edge in found.values()] == pytest.approx(node.weights, abs=1e-9)


@pytest.mark.parametrize("name", ["dark_hex_3x3", "battleship", "liars_dice"])
def test_all_lanes_count_every_playout_once_and_leave_nothing_in_flight(name):
    game = load(name, engine="lanes")
    forest = forest_at_start(game)
    assert forest.grow(5000)
    assert forest.simulation_count == 5000
    for role, name_of_role in enumerate(game.roles):
        if str(name_of_role) != "random":
            assert sum(edge.visits for edge in forest.edges(role, 0)) == 5000
    assert not forest._memory.trees.flight.any()


def test_search_goes_on_without_room_for_new_sets():
    game = load("dark_hex_3x3", engine="lanes")
    forest = forest_at_start(game, mebibytes=0.001)
    assert forest.grow(3000)
    assert forest.is_full
    assert sum(edge.visits for edge in forest.edges(0, 0)) == 3000


def test_stopped_search_forgets_what_is_in_flight():
    game = load("dark_hex_3x3", engine="lanes")
    forest = forest_at_start(game)
    assert not forest.grow(10**9, is_stopped=lambda: True)
    assert not forest._memory.trees.flight.any()
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
            search.run(belief.probabilities, belief.keys(), simulations=4000)
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
    own = ObservationKeys(game, 1, is_ordered=False).of(observed[1])
    assert keys.shape == (len(belief.states), 2)
    assert (keys[:, 1] == own).all()
    assert state in belief.states
    # The other role's marks are what distinguishes the states, so each set of them is an information set.
    assert len(set(keys[:, 0].tolist())) == len(belief.states)
    other = ObservationKeys(game, 0, is_ordered=False).of(observed[0])
    assert keys[belief.states.index(state), 0] == other


def test_a_second_search_of_the_match_finds_the_sets_of_the_first():
    game = load("dark_hex_3x3", engine="lanes")
    search = ManyTreeSearch(game, game.roles[0], seed=1)
    keys = np.zeros((1, 2), np.uint64)
    search.run({game.initial_state(): 1.0}, keys, simulations=500)
    search.run({game.initial_state(): 1.0}, keys, simulations=500)
    report = search.report()
    assert report.playouts == 500
    assert sum(move.visits for move in report.moves) == 1000


@pytest.mark.parametrize("selection", ["uct", "regrets"])
def test_model_of_a_role_follows_what_the_search_chose_for_it(selection):
    game = load("dark_hex_3x3", engine="lanes")
    search = ManyTreeSearch(game, game.roles[0], seed=1, selection=selection)
    search.run({game.initial_state(): 1.0}, np.zeros((1, 2), np.uint64), simulations=3000)
    legal = game.legal_moves(game.initial_state(), game.roles[0])
    is_legal = np.array([[move in legal for move in game.moves[0]]] * 2)
    known, unknown = search.move_model(0, np.array([0, 12345], np.uint64), is_legal)
    assert known.sum() == pytest.approx(1)
    assert not known[~is_legal[0]].any()
    assert unknown == pytest.approx(is_legal[0] / len(legal))
    report = {move.move: move.visits for move in search.report().moves}
    choices = search.average_strategy(0, 0) if selection == "regrets" else report
    order = sorted(choices, key=choices.__getitem__)
    chances = [known[game.moves[0].index(move)] for move in order]
    assert chances == pytest.approx(sorted(chances))
    assert chances[-1] > 1.5 / len(legal)


def kuhn_keys(game, card, *seen_and_made):
    """The key of the second role's set with this card, after steps of its move and its percepts."""
    steps = [Observation(parse_term("noop"), (parse_term(f"(card {card})"),))]
    steps += [Observation(parse_term("noop"), (parse_term(text),)) for text in seen_and_made]
    return ObservationKeys(game, 1).of(steps)


def test_regrets_find_the_mixed_strategies_of_kuhn_poker():
    game = load("kuhn_poker", engine="lanes")
    forests = [forest_at_start(game, seed=seed, lanes=16, selection="regrets") for seed in range(4)]
    for forest in forests:
        assert forest.grow(40_000)

    def share(card, seen, move):
        key = kuhn_keys(game, card, seen)
        found = []
        for forest in forests:
            weights = {str(each): edge.weight for each, edge in forest.moves(1, key).items()}
            found.append(weights[move] / sum(weights.values()))
        return float(np.mean(found))

    # In every equilibrium the second role bets a third of its jacks and calls with a third of its queens.
    assert share("jack", "(move first check)", "bet") == pytest.approx(1 / 3, abs=0.12)
    assert share("queen", "(move first bet)", "call") == pytest.approx(1 / 3, abs=0.12)
    assert share("king", "(move first bet)", "call") > 0.95
    assert share("jack", "(move first bet)", "call") < 0.05


def test_playouts_that_begin_in_possible_states_do_not_count_too_often():
    game = load("kuhn_poker", engine="lanes")
    forest = SetForest(game, seed=3, lanes=64, selection="regrets")
    second, noop = 1, parse_term("noop")
    states, keys = [], []
    for card in ("queen", "king"):
        state, history = game.initial_state(), [[], [], []]
        for joint in (
            (noop, noop, parse_term(f"(deal {card} jack)")),
            (parse_term("check"), noop, noop),
        ):
            for i, role in enumerate(game.roles):
                history[i].append(observe_step(game, state, joint, role))
            state = game.next_state(state, joint)
        states.append(state)
        keys.append([ObservationKeys(game, i).of(history[i]) for i in range(3)])
    searched = kuhn_keys(game, "jack", "(move first check)")
    assert {row[second] for row in keys} == {searched}
    roots = np.array([game.unpack(each) for each in (*states, game.initial_state())])
    root_keys = np.array([*keys, [0, 0, 0]], np.uint64)
    is_unaimed = np.array([False, False, True])
    forest.put_roots(roots, root_keys, is_unaimed)
    forest.aim(second, searched)
    assert forest.grow(30_000)
    unaimed, hits = forest._memory.counter[[UNAIMED, UNAIMED_HITS]].tolist()
    assert 3_000 < unaimed < 10_000  # a third of the lanes, in which playouts last longer
    assert 0.05 < hits / unaimed < 0.34  # one deal in three, and then a check
    edges = forest.edges(second, searched)
    assert sum(edge.visits for edge in edges) > 20_000
    assert sum(edge.weight for edge in edges) == pytest.approx(sum(edge.visits for edge in edges))
    rare = forest.edges(second, kuhn_keys(game, "king", "(move first check)"))
    importance = sum(edge.weight for edge in rare) / sum(edge.visits for edge in rare)
    # Most playouts begin behind the check with a jack; the others count more, by the ratio of frequencies.
    expected = ((30_000 - unaimed) / (hits / unaimed) + unaimed) / unaimed
    assert importance == pytest.approx(expected, rel=0.25)  # strategies, and with them hits, change
