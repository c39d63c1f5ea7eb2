"""Belief states agree with the percepts."""

import itertools
import math
import random

import pytest

import ggp
from gdl.terms import Symbol
from ggp.beliefs import belief as belief_module
from ggp.beliefs import lanes_expansion
from ggp.beliefs.belief import Belief, _sampled, make_tracker
from ggp.beliefs.expansion import Expansion
from ggp.beliefs.lanes_expansion import LanesExpansion
from ggp.beliefs.observation import observe_step
from ggp.beliefs.observation_keys import ObservationKeys
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


def test_belief_holds_every_possible_state_and_drops_those_that_disagree():
    tracker = new_tracker()
    tracker.advance(None, None, FAR)
    position = tracker.advance((), NOOP, FAR)
    assert facts(tracker) == {frozenset({"play", f"(coin {cup})"}) for cup in "abc"}
    assert position.step == 1
    assert parse_term("(guess a)") in position.legal
    assert tracker.is_exact
    tracker.advance(percepts("(looked a)"), parse_term("(peek a)"), FAR)
    assert facts(tracker) == {frozenset({"play", f"(coin {cup})"}) for cup in "bc"}
    tracker.advance(percepts("(looked b)", "found"), parse_term("(peek b)"), FAR)
    assert facts(tracker) == {frozenset({"play", "(coin b)"})}


def test_belief_notes_another_move_of_its_role_and_impossible_percepts():
    tracker = new_tracker()
    tracker.advance((), NOOP, FAR)
    position = tracker.advance(percepts("(looked c)", "found"), parse_term("(peek a)"), FAR)
    assert facts(tracker) == {frozenset({"play", "(coin c)"})}
    assert "own move" in position.note
    position = tracker.advance(percepts("(the end)", "nonsense"), parse_term("(peek a)"), FAR)
    assert position.note
    assert position.legal


@pytest.mark.parametrize("limit", [1, 2])
def test_belief_samples_beyond_its_bound(limit, monkeypatch):
    monkeypatch.setattr(Expansion, "most_states", limit)
    monkeypatch.setattr(Expansion, "sample_size", limit)
    tracker = new_tracker()
    tracker.advance((), NOOP, FAR)
    assert 1 <= len(tracker.states) <= limit
    assert not tracker.is_exact
    tracker.advance(percepts("(looked a)", "found"), parse_term("(peek a)"), FAR)
    assert facts(tracker) == {frozenset({"play", "(coin a)"})}


def match_steps(game, seed):
    """A random match: each state that is not terminal, the joint move made there and the state after it."""
    rng, state = random.Random(seed), game.initial_state()
    while not game.is_terminal(state):
        joint = tuple(rng.choice(game.legal_moves(state, role)) for role in game.roles)
        following = game.next_state(state, joint)
        yield state, joint, following
        state = following


def followed(game, seed, make, max_states=3000):
    """Beliefs of all roles along a random match, each next to that of the naive definition."""
    pairs = {role: (make(game, role), first_belief(game)) for role in game.roles if role != ggp.RANDOM_ROLE}
    for state, joint, following in match_steps(game, seed):
        if game.is_terminal(following):
            return
        for role, (belief, naive) in list(pairs.items()):
            own, seen = joint[game.roles.index(role)], game.percepts(state, joint, role)
            belief.advance(seen, own, FAR)
            naive = step(game, role, naive, own, seen)
            pairs[role] = belief, naive
            yield game, belief, naive
            if len(naive) > max_states:
                del pairs[role]


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


def test_sampled_belief_is_close_to_the_exact_one(monkeypatch):
    monkeypatch.setattr(LanesExpansion, "most_states", 5)
    monkeypatch.setattr(LanesExpansion, "sample_size", 2000)
    distances = []
    for _, belief, naive in followed(ggp.load("krieg_tictactoe"), 3, new_belief):
        if not belief.is_exact:  # total variation distance
            found = belief.probabilities
            distances.append(sum(abs(found.get(state, 0.0) - float(p)) for state, p in naive.items()) / 2)
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
    monkeypatch.setattr(lanes_expansion, "_MAX_CELLS", 300)
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


class NaiveHistories:
    """Every history with its probability if the others move uniformly, one joint move at a time."""

    def __init__(self, game, role):
        self.game, self.role = game, role
        self.observers = [ObservationKeys(game, i) for i in range(len(game.roles))]
        self.held = {(game.initial_state(), ((),) * len(game.roles)): 1.0}

    def advance(self, own_move, percepts):
        following = {}
        for (state, seen), weight in self.held.items():
            choices = [
                (own_move,) if each == self.role else self.game.legal_moves(state, each)
                for each in self.game.roles
            ]
            chance = 1 / math.prod(map(len, choices))
            for joint in itertools.product(*choices):
                successor = self.game.next_state(state, joint)
                observed = [observe_step(self.game, state, joint, role) for role in self.game.roles]
                own = observed[self.game.roles.index(self.role)]
                if self.game.is_terminal(successor) or (percepts is not None and own.percepts != percepts):
                    continue
                histories = tuple((*a, b) for a, b in zip(seen, observed, strict=True))
                place = successor, histories
                following[place] = following.get(place, 0.0) + weight * chance
        return following

    def probabilities(self):
        total, found = sum(self.held.values()), {}
        for (state, _), weight in self.held.items():
            found[state] = found.get(state, 0.0) + weight / total
        return found


@pytest.mark.parametrize(
    "name", ["kuhn_poker", "leduc_poker", "liars_dice", "goofspiel_hidden", "battleship"]
)
def test_belief_with_keys_has_the_probabilities_of_all_histories(name):
    game = ggp.load(name, engine="lanes")
    role = game.roles[1]
    belief, naive = new_belief(game, role), NaiveHistories(game, role)
    belief.keep_keys()
    for state, joint, following in itertools.islice(match_steps(game, 4), 4):
        if game.is_terminal(following) or len(naive.held) > 200:
            break
        own = observe_step(game, state, joint, role)
        check_foreseen(belief, naive, own.own_move)
        naive.held = naive.advance(own.own_move, own.percepts)
        belief.advance(own.percepts, own.own_move, FAR)
        assert belief.probabilities == pytest.approx(naive.probabilities())


def check_foreseen(belief, naive, own_move):
    """What may follow, and what everybody will have observed then, before anything is observed."""
    weights, keys = belief.foreseen(own_move, FAR)
    expected, known = {}, set()
    for (state, histories), weight in naive.advance(own_move, None).items():
        expected[state] = expected.get(state, 0.0) + weight
        known.add((state, *(each.of(seen) for each, seen in zip(naive.observers, histories, strict=True))))
    total, whole = sum(weights.values()), sum(expected.values())
    assert {state: each / total for state, each in weights.items()} == pytest.approx(
        {state: each / whole for state, each in expected.items()}
    )
    found = {(state, *row) for state, row in zip(weights, keys.tolist(), strict=True)}
    assert found <= known
    assert {state for state, *_ in found} == {state for state, *_ in known}


def test_a_step_is_not_foreseen_with_too_many_joint_moves_or_once_others_have_chosen(monkeypatch):
    game = ggp.load("goofspiel_hidden", engine="lanes")
    belief = new_belief(game, game.roles[0])
    belief.keep_keys()
    moves = [game.legal_moves(game.initial_state(), role) for role in game.roles]
    assert belief.foreseen(moves[0][0], FAR, lambda: True) is None
    assert belief.foreseen(moves[0][0], -1.0) is None
    for limit, count in ((len(moves[1]), len(moves[1])), (len(moves[1]) - 1, None)):
        monkeypatch.setattr(belief_module, "_MAX_FORESEEN", limit)
        found = belief.foreseen(moves[0][0], FAR)
        assert (found and len(found[0])) == count


@pytest.mark.parametrize("name", ["leduc_poker", "liars_dice"])
def test_keys_are_kept_where_another_move_than_the_answer_was_made(name):
    game = ggp.load(name, engine="lanes")
    role, other = game.roles[0], game.roles[1]
    belief, seen = new_belief(game, role), []
    belief.keep_keys()
    for state, joint, _ in itertools.islice(match_steps(game, 5), 3):
        own = observe_step(game, state, joint, role)
        seen.append(observe_step(game, state, joint, other))
        legal = game.legal_moves(state, role)
        answered = next((move for move in legal if move != own.own_move), own.own_move)
        belief.advance(own.percepts, answered, FAR)
    key = ObservationKeys(game, 1).of(seen)
    assert key in belief.keys()[:, 1].tolist()


@pytest.mark.parametrize("name", ["krieg_tictactoe", "dark_hex_3x3"])
def test_states_agree_with_the_percepts_even_without_any_time(name, monkeypatch):
    monkeypatch.setattr(lanes_expansion, "PATIENCE_SECONDS", 60.0)
    monkeypatch.setattr(belief_module, "PATIENCE_SECONDS", 60.0)
    partial = 0
    for seed in range(4):
        game = ggp.load(name, engine="lanes")
        role = game.roles[0]
        expansion = LanesExpansion(game, role, words=1)  # 64 joint moves at once
        belief, naive = Belief(game, role, random.Random(1), expansion), first_belief(game)
        for state, joint, following in match_steps(game, seed):
            if game.is_terminal(following) or len(naive) >= 2000:
                break
            seen = game.percepts(state, joint, role)
            naive = step(game, role, naive, joint[0], seen)
            position = belief.advance(seen, joint[0], -1.0)
            assert position.note in ("", "histories sampled again from the start")
            assert set(belief.states) <= set(naive)
            assert set(position.legal) == set(game.legal_moves(following, role))
            partial += not belief.is_exact
    assert partial
