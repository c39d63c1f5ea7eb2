"""State tracking from the messages of managers, mistakes included."""

import random

import pytest

import ggp
from gdl.terms import Symbol
from ggp.beliefs.belief import make_tracker
from ggp.beliefs.tracking import StateTracker
from ggp.game import has_percepts
from ggp.protocol.messages import parse_term
from tests.ggp.fakes import Matrix, Nim

TICTACTOE = ggp.load("tictactoe", engine="reasoner")
X, O = TICTACTOE.roles  # noqa: E741 - the role's name
FAR = float("inf")


def moves(*texts):
    return tuple(map(parse_term, texts))


def new_tracker(role=X):
    return StateTracker(TICTACTOE, role)


def facts(position):
    return set(map(str, TICTACTOE.facts(position.state)))


def test_state_tracker_follows_joint_moves_and_notes_odd_messages():
    tracker = new_tracker(O)
    assert tracker.advance(None, None, FAR) == tracker.position
    assert (tracker.position.step, tracker.position.legal) == (0, moves("noop"))
    first = tracker.advance(moves("(mark 1 1)", "noop"), None, FAR)
    assert (first.step, first.note) == (1, "")
    assert first.joint_move == moves("(mark 1 1)", "noop")
    assert Symbol("noop") not in first.legal
    again = tracker.advance(moves("(mark 1 1)", "noop"), None, FAR)
    assert (again.step, again.state, again.note) == (first.step, first.state, "repeated")
    again = tracker.advance(None, None, FAR)
    assert (again.step, again.state, again.note) == (first.step, first.state, "PLAY without moves")


def test_state_tracker_accepts_a_correction_of_the_last_step():
    game = Matrix([[(50, 50), (0, 100)], [(100, 0), (20, 80)]])
    tracker = StateTracker(game, game.roles[0])
    tracker.advance(moves("a", "b"), None, FAR)
    position = tracker.advance(moves("b", "b"), None, FAR)
    assert (position.step, position.state) == (1, moves("b", "b"))
    assert "correction" in position.note


def test_state_tracker_keeps_states_after_a_lost_message_until_later_moves_contradict_them():
    tracker = new_tracker(O)
    tracker.advance(moves("(mark 1 1)", "noop"), None, FAR)
    position = tracker.advance(moves("(mark 3 3)", "noop"), parse_term("(mark 2 2)"), FAR)
    assert position.step == 3
    assert {"(cell 1 1 x)", "(cell 2 2 o)", "(cell 3 3 x)"} <= facts(position)  # what o answered, if in time
    assert "7 states are possible" in position.note
    # No square is free in all seven: what is legal in the likeliest has to do.
    assert position.legal == TICTACTOE.legal_moves(position.state, O)
    position = tracker.advance(moves("noop", "(mark 2 2)"), None, FAR)
    assert position.note == ""
    assert len({fact for fact in facts(position) if fact.endswith(" o)")} - {"(cell 2 2 o)"}) == 1


def test_state_tracker_offers_moves_legal_in_every_possible_state():
    # Three heaps of one: what x took is lost, so y must not take the heap that may be gone.
    rules = """(role x) (role y) (heap a) (heap b) (heap c) (heap d) (init (control x))
    (<= (init (full ?h)) (heap ?h))
    (<= (legal ?r (take ?h)) (true (control ?r)) (true (full ?h)))
    (legal x pass) (legal y pass)
    (<= (taken ?h) (does ?r (take ?h)))
    (<= (next (full ?h)) (true (full ?h)) (not (taken ?h)))
    (<= (next (control y)) (true (control x))) (<= (next (control x)) (true (control y)))
    (<= full_somewhere (true (full ?h))) (<= terminal (not full_somewhere)) (goal x 50) (goal y 50)"""
    game = ggp.load(rules, engine="reasoner")
    tracker = StateTracker(game, game.roles[1])
    position = tracker.advance(moves("pass", "(take a)"), None, FAR)
    assert position.step == 2
    assert "possible" in position.note
    position = tracker.advance(moves("pass", "pass"), None, FAR)
    assert list(map(str, position.legal)) == ["pass"]


def test_state_tracker_bridges_two_lost_steps():
    game = Nim(9, roles=("a", "b", "c"))
    tracker = StateTracker(game, game.roles[0])
    position = tracker.advance(moves("noop", "noop", "(take 1)"), parse_term("(take 3)"), FAR)
    assert position.step == 3
    assert position.state == (9 - 3 - 1 - 1, 0)
    assert "2 steps were lost, 5 states are possible" in position.note


def test_state_tracker_bridges_a_lost_step():
    position = new_tracker().advance(moves("noop", "(mark 2 2)"), parse_term("(mark 1 1)"), FAR)
    assert position.step == 2
    assert {"(cell 1 1 x)", "(cell 2 2 o)"} <= facts(position)
    assert "lost" in position.note


def test_state_tracker_repairs_an_illegal_move():
    position = new_tracker().advance(moves("(mark 9 9)", "noop"), parse_term("(mark 2 2)"), FAR)
    assert position.step == 1
    assert position.joint_move == moves("(mark 2 2)", "noop")
    assert "not legal" in position.note


@pytest.mark.parametrize("received", [["(mark 1 1)"], ["(mark 1 1)", "noop", "noop"], []])
def test_state_tracker_repairs_a_wrong_length(received):
    position = new_tracker(O).advance(moves(*received), Symbol("noop"), FAR)
    assert position.step == 1
    assert position.legal
    assert position.note


def test_make_tracker_chooses_by_percepts():
    assert not has_percepts(TICTACTOE)
    assert isinstance(make_tracker(TICTACTOE, X, random.Random(0)), StateTracker)
