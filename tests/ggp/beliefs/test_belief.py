"""Belief states agree with the percepts."""

import random

import pytest

import ggp
from gdl.terms import Symbol
from ggp.beliefs import lanes_expansion
from ggp.beliefs.belief import Belief, _sampled
from ggp.beliefs.expansion import PlainExpansion
from ggp.beliefs.lanes_expansion import LanesExpansion
from ggp.beliefs.tracker import make_tracker
from ggp.protocol.messages import parse_term
from tests.ggp.percept_games import COIN
from tests.oracles.naive_beliefs import first_belief, step

GAME = ggp.load(COIN, engine="reasoner", name="coin")
PLAYER = Symbol("player")
NOOP = Symbol("noop")
FAR = 1e12


def facts(tracker):
    return {frozenset(map(str, GAME.facts(state))) for state in tracker.states}


def new_tracker():
    tracker = make_tracker(GAME, PLAYER, random.Random(3))
    assert isinstance(tracker, Belief)
    return tracker


def percepts(*texts):
    return tuple(map(parse_term, texts))


def test_belief_holds_every_possible_state():
    tracker = new_tracker()
    tracker.advance(None, None, FAR)
    position = tracker.advance((), NOOP, FAR)
    assert facts(tracker) == {frozenset({"play", f"(coin {cup})"}) for cup in "abc"}
    assert position.step == 1
    assert parse_term("(guess a)") in position.legal
    assert tracker.is_exact


def test_belief_drops_states_that_disagree():
    tracker = new_tracker()
    tracker.advance((), NOOP, FAR)
    tracker.advance(percepts("(looked a)"), parse_term("(peek a)"), FAR)
    assert facts(tracker) == {frozenset({"play", f"(coin {cup})"}) for cup in "bc"}
    tracker.advance(percepts("(looked b)", "found"), parse_term("(peek b)"), FAR)
    assert facts(tracker) == {frozenset({"play", "(coin b)"})}


def test_belief_notes_that_its_role_made_another_move():
    tracker = new_tracker()
    tracker.advance((), NOOP, FAR)
    position = tracker.advance(percepts("(looked c)", "found"), parse_term("(peek a)"), FAR)
    assert facts(tracker) == {frozenset({"play", "(coin c)"})}
    assert "own move" in position.note


def test_belief_survives_impossible_percepts():
    tracker = new_tracker()
    tracker.advance((), NOOP, FAR)
    position = tracker.advance(percepts("(the end)", "nonsense"), parse_term("(peek a)"), FAR)
    assert position.note
    assert position.legal


@pytest.mark.parametrize("limit", [1, 2])
def test_belief_samples_beyond_its_bound(limit, monkeypatch):
    monkeypatch.setattr(PlainExpansion, "most_states", limit)
    monkeypatch.setattr(PlainExpansion, "sample_size", limit)
    tracker = new_tracker()
    tracker.advance((), NOOP, FAR)
    assert 1 <= len(tracker.states) <= limit
    assert not tracker.is_exact
    tracker.advance(percepts("(looked a)", "found"), parse_term("(peek a)"), FAR)
    assert facts(tracker) == {frozenset({"play", "(coin a)"})}


# --- exact beliefs, on lanes and by the definition


def followed(game, seed, make, max_states=3000):
    """Beliefs of all roles along a random match, each next to that of the naive definition."""
    rng, state = random.Random(seed), game.initial_state()
    pairs = {role: (make(game, role), first_belief(game)) for role in game.roles if role != ggp.RANDOM_ROLE}
    while True:
        joint_move = [rng.choice(game.legal_moves(state, role)) for role in game.roles]
        following = game.next_state(state, joint_move)
        if game.is_terminal(following):
            return
        for role, (belief, naive) in list(pairs.items()):
            own, seen = joint_move[game.roles.index(role)], game.percepts(state, joint_move, role)
            belief.advance(seen, own, FAR)
            naive = step(game, role, naive, own, seen)
            pairs[role] = belief, naive
            yield game, belief, naive
            if len(naive) > max_states:
                del pairs[role]
        state = following


def new_belief(game, role):
    return Belief(game, role, random.Random(1))


@pytest.mark.parametrize(
    "name", ["kuhn_poker", "leduc_poker", "battleship", "krieg_tictactoe", "goofspiel_hidden", "blind_maze"]
)
def test_belief_on_lanes_is_exact(name):
    largest = 0
    for game, belief, naive in followed(ggp.load(name), 3, new_belief):
        assert belief.is_exact
        assert belief.probabilities == pytest.approx({state: float(p) for state, p in naive.items()})
        assert belief.effective_size == pytest.approx(float(1 / sum(p * p for p in naive.values())))
        shared = set.intersection(*(set(game.facts(state)) for state in naive))
        assert set(belief.certain_facts()) == shared
        largest = max(largest, len(naive))
    assert largest > 1


@pytest.mark.parametrize("name", ["kuhn_poker", "krieg_tictactoe"])
def test_plain_belief_is_exact_too(name):
    game = ggp.load(name, engine="reasoner")
    for _, belief, naive in followed(game, 3, new_belief, max_states=20):
        if belief.is_exact:
            assert belief.probabilities == pytest.approx({state: float(p) for state, p in naive.items()})


def distance(belief, naive):
    """Total variation distance."""
    found = belief.probabilities
    return sum(abs(found.get(state, 0.0) - float(p)) for state, p in naive.items()) / 2


def test_sampled_belief_is_close_to_the_exact_one(monkeypatch):
    monkeypatch.setattr(LanesExpansion, "most_states", 5)
    monkeypatch.setattr(LanesExpansion, "sample_size", 2000)
    distances = [
        distance(belief, naive)
        for _, belief, naive in followed(ggp.load("krieg_tictactoe"), 3, new_belief)
        if not belief.is_exact
    ]
    assert distances
    assert max(distances) < 0.1


def test_belief_that_is_too_large_advances_a_sample(monkeypatch):
    monkeypatch.setattr(LanesExpansion, "limit", 40)
    game = ggp.load("krieg_tictactoe")
    sizes = set()
    for _, belief, naive in followed(game, 3, new_belief):
        assert set(belief.states) <= set(naive)
        sizes.add(len(belief.states) < len(naive))
        assert belief.certain_facts() is None or belief.is_exact
    assert True in sizes


def test_belief_of_a_wide_game_holds_fewer_states(monkeypatch):
    monkeypatch.setattr(lanes_expansion, "_MOST_CELLS", 300)
    largest = 0
    for _, belief, naive in followed(ggp.load("krieg_tictactoe"), 3, new_belief):
        assert set(belief.states) <= set(naive)
        assert len(belief.states) <= 7  # of 38 fluents and moves each
        largest = max(largest, len(naive))
    assert largest > 7


def test_sample_is_drawn_as_often_as_expected():
    weights = {"a": 1.0, "b": 2.5, "c": 0.5, "d": 0.0}
    for seed in range(50):
        drawn = _sampled(weights, 8, random.Random(seed))
        assert sum(drawn.values()) == 8
        for state, weight in weights.items():
            assert abs(drawn.get(state, 0) - 2 * weight) <= 1
        assert "d" not in drawn
