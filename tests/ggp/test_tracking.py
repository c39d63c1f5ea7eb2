"""Following a match from what managers send, mistakes included."""

import random

import ggp
from gdl.terms import Symbol
from ggp.protocol import parse_term
from ggp.tracking import StateTracker, has_percepts, make_tracker

TICTACTOE = ggp.load("tictactoe", engine="reasoner")
X, O = TICTACTOE.roles  # noqa: E741 - the role's name
FAR = float("inf")


def moves(*texts):
    return tuple(map(parse_term, texts))


def new_tracker(role=X):
    return StateTracker(TICTACTOE, role)


def test_state_tracker_begins_with_the_initial_state():
    tracker = new_tracker()
    assert tracker.advance(None, None, FAR) == tracker.position
    assert tracker.position.step == 0
    assert tracker.position.legal == TICTACTOE.legal_moves(TICTACTOE.initial_state(), X)


def test_state_tracker_follows_joint_moves():
    tracker = new_tracker(O)
    position = tracker.advance(moves("(mark 1 1)", "noop"), None, FAR)
    assert (position.step, position.note) == (1, "")
    assert position.joint_move == moves("(mark 1 1)", "noop")
    assert Symbol("noop") not in position.legal


def test_state_tracker_notes_a_repeated_message():
    tracker = new_tracker()
    first = tracker.advance(moves("(mark 1 1)", "noop"), None, FAR)
    again = tracker.advance(moves("(mark 1 1)", "noop"), None, FAR)
    assert (again.step, again.state, again.note) == (first.step, first.state, "repeated")


def test_state_tracker_takes_a_correction_of_the_last_step():
    tracker = new_tracker()
    tracker.advance(moves("(mark 1 1)", "noop"), None, FAR)
    position = tracker.advance(moves("(mark 3 3)", "noop"), None, FAR)
    assert position.step == 1
    assert "(cell 3 3 x)" in map(str, TICTACTOE.facts(position.state))
    assert "corrects" in position.note


def test_state_tracker_bridges_a_lost_step():
    tracker = new_tracker()
    position = tracker.advance(moves("noop", "(mark 2 2)"), parse_term("(mark 1 1)"), FAR)
    facts = set(map(str, TICTACTOE.facts(position.state)))
    assert position.step == 2
    assert {"(cell 1 1 x)", "(cell 2 2 o)"} <= facts
    assert "lost" in position.note


def test_state_tracker_repairs_an_illegal_move():
    tracker = new_tracker()
    position = tracker.advance(moves("(mark 9 9)", "noop"), parse_term("(mark 2 2)"), FAR)
    assert position.step == 1
    assert position.joint_move == moves("(mark 2 2)", "noop")
    assert "not legal" in position.note


def test_state_tracker_repairs_a_wrong_length():
    for told in (moves("(mark 1 1)"), moves("(mark 1 1)", "noop", "noop"), ()):
        position = new_tracker(O).advance(told, Symbol("noop"), FAR)
        assert position.step == 1
        assert position.legal
        assert position.note


def test_state_tracker_stays_where_no_moves_are_told():
    tracker = new_tracker()
    tracker.advance(moves("(mark 1 1)", "noop"), None, FAR)
    position = tracker.advance(None, None, FAR)
    assert (position.step, position.note) == (1, "no moves told")


def test_make_tracker_looks_for_percepts():
    assert not has_percepts(TICTACTOE)
    assert isinstance(make_tracker(TICTACTOE, X, random.Random(0)), StateTracker)
