"""Belief states agree with the percepts."""

import random

import pytest

import ggp
from gdl.terms import Symbol
from ggp.beliefs import particles
from ggp.beliefs.particles import ParticleTracker
from ggp.beliefs.tracker import make_tracker
from ggp.protocol.messages import parse_term
from tests.ggp.percept_games import COIN

GAME = ggp.load(COIN, engine="reasoner", name="coin")
PLAYER = Symbol("player")
NOOP = Symbol("noop")
FAR = 1e12


def facts(tracker):
    return {frozenset(map(str, GAME.facts(state))) for state in tracker.states}


def new_tracker():
    tracker = make_tracker(GAME, PLAYER, random.Random(3))
    assert isinstance(tracker, ParticleTracker)
    return tracker


def percepts(*texts):
    return tuple(map(parse_term, texts))


def test_particle_tracker_holds_every_possible_state():
    tracker = new_tracker()
    tracker.advance(None, None, FAR)
    position = tracker.advance((), NOOP, FAR)
    assert facts(tracker) == {frozenset({"play", f"(coin {cup})"}) for cup in "abc"}
    assert position.step == 1
    assert parse_term("(guess a)") in position.legal
    assert tracker.is_exact


def test_particle_tracker_drops_states_that_disagree():
    tracker = new_tracker()
    tracker.advance((), NOOP, FAR)
    tracker.advance(percepts("(looked a)"), parse_term("(peek a)"), FAR)
    assert facts(tracker) == {frozenset({"play", f"(coin {cup})"}) for cup in "bc"}
    tracker.advance(percepts("(looked b)", "found"), parse_term("(peek b)"), FAR)
    assert facts(tracker) == {frozenset({"play", "(coin b)"})}


def test_particle_tracker_notes_that_its_role_made_another_move():
    tracker = new_tracker()
    tracker.advance((), NOOP, FAR)
    position = tracker.advance(percepts("(looked c)", "found"), parse_term("(peek a)"), FAR)
    assert facts(tracker) == {frozenset({"play", "(coin c)"})}
    assert "own move" in position.note


def test_particle_tracker_survives_impossible_percepts():
    tracker = new_tracker()
    tracker.advance((), NOOP, FAR)
    position = tracker.advance(percepts("(the end)", "nonsense"), parse_term("(peek a)"), FAR)
    assert position.note
    assert position.legal


@pytest.mark.parametrize("limit", [1, 2])
def test_particle_tracker_samples_beyond_its_bound(limit, monkeypatch):
    monkeypatch.setattr(particles, "MAX_STATES", limit)
    monkeypatch.setattr(particles, "_MAX_EXPANSIONS", 0)
    tracker = new_tracker()
    tracker.advance((), NOOP, FAR)
    assert 1 <= len(tracker.states) <= limit
    assert not tracker.is_exact
    tracker.advance(percepts("(looked a)", "found"), parse_term("(peek a)"), FAR)
    assert facts(tracker) == {frozenset({"play", "(coin a)"})}
