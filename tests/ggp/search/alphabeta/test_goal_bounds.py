"""Goal bounds against all goals that can be reached, and against three-valued logic in plain Python."""

import random
from functools import cache
from itertools import product

import numpy as np
import pytest

from ggp.circuit.tables import Phase, circuit_of
from ggp.engines.loading import load
from ggp.lanes.engine import Lanes
from ggp.search.alphabeta.goal_bounds import goal_bounds
from ggp.search.alphabeta.latches import find_latches
from ggp.search.alphabeta.search import AlphaBeta, AlphaBetaError


def states_of_matches(game, count, seed=0):
    rng = random.Random(seed)
    for _ in range(count):
        state = game.initial_state()
        while not game.is_terminal(state):
            yield state
            state = game.next_state(state, tuple(rng.choice(game.legal_moves(state, r)) for r in game.roles))


def possible_goals(tables, lanes, held):
    """The goals of the first role that the circuit does not rule out in a state."""
    lanes.set_states(np.array([held]).T)
    lanes.settle(Phase.LEGAL, Phase.GOAL)
    seen = lanes.read(tables.goal_literal, 1)[:, 0]
    return {int(goal) for goal, is_possible in zip(tables.goal_value, seen, strict=True) if is_possible}


@pytest.mark.parametrize(
    ("name", "matches", "most_left"), [("tictactoe", 40, 7), ("connectfour_4x4", 60, 7), ("sudoku_4x4", 3, 5)]
)
def test_every_goal_that_can_be_reached_is_possible_and_some_others_are_not(name, matches, most_left):
    game = load(name, "lanes")
    tables = goal_bounds(game).tables
    lanes = Lanes(tables, words=1)

    @cache
    def reachable(state):
        if game.is_terminal(state):
            return frozenset({game.goal(state, game.roles[0])})
        joint_moves = product(*(game.legal_moves(state, role) for role in game.roles))
        return frozenset().union(*(reachable(game.next_state(state, joint)) for joint in joint_moves))

    ruled_out = exact = 0
    longest = max(sum(1 for _ in states_of_matches(game, 1, seed)) for seed in range(matches))
    for seed in range(matches):
        for ply, state in enumerate(states_of_matches(game, 1, seed)):
            if longest - ply > most_left:
                continue
            may_be = possible_goals(tables, lanes, game.unpack(state))
            assert reachable(state) <= may_be
            ruled_out += may_be < set(map(int, tables.goal_value))
            exact += reachable(state) == may_be
    assert ruled_out > 0
    assert exact > 0


@pytest.mark.parametrize("name", ["tictactoe", "connectfour_5x4", "nineboard", "hex_5x5"])
def test_circuit_agrees_with_three_valued_logic(name):
    game = load(name, "lanes")
    circuit = circuit_of(game.tables, game.terms, game.exclusive)
    tables = goal_bounds(game).tables
    lanes = Lanes(tables, words=1)
    latches = find_latches(game, range(len(game.terms.fluents)))

    def later(held):
        """Node → the truth values that it can still take."""
        values = {0: {True}}
        for f in range(len(held)):
            is_closed = f in latches.gone or any(held[g] for g in latches.blockers.get(f, ()))
            is_fixed = f in latches.stays if held[f] else is_closed
            values[1 + f] = {bool(held[f])} if is_fixed else {True, False}
        for move in range(circuit.move0, circuit.gate0):
            values[move] = {True, False}
        for gate, inputs in enumerate(circuit.gates):
            each = [{value ^ bool(x & 1) for value in values[x >> 1]} for x in inputs]
            is_false, is_true = any(v == {False} for v in each), all(v == {True} for v in each)
            values[circuit.gate0 + gate] = {is_true} if is_false or is_true else {True, False}
        return values

    for state in states_of_matches(game, 3, seed=5):
        held = game.unpack(state)
        values = later(held)
        expected = {
            goal.value
            for goal in circuit.goals
            if goal.role == 0 and (not goal.literal & 1) in values[goal.literal >> 1]
        }
        assert possible_goals(tables, lanes, held) == expected


@pytest.mark.parametrize("name", ["nim", "sheepandwolf", "breakthrough", "minichess", "hex_7x7"])
def test_games_whose_goals_no_latch_decides_or_are_too_large_have_none(name):
    assert goal_bounds(load(name, "lanes")) is None


TRAP = """
(role red) (role blue) (init (turn blue)) (init (count 0)) (succ 0 1) (succ 1 2) (succ 2 3) (succ 3 4)
(<= (legal blue fair) (true (turn blue)) (true (count 0)))
(<= (legal blue trap) (true (turn blue)) (true (count 0)))
(<= (legal blue a) (true (turn blue)) (not (true (count 0))))
(<= (legal blue b) (true (turn blue)) (not (true (count 0))))
(<= (legal red a) (true (turn red)))
(<= (legal red b) (true (turn red)))
(<= (legal red noop) (true (turn blue)))
(<= (legal blue noop) (true (turn red)))
(<= (next (turn red)) (true (turn blue)))
(<= (next (turn blue)) (true (turn red)))
(<= (next (count ?n)) (true (count ?m)) (succ ?m ?n))
(<= (next trapped) (does blue trap))
(<= (next trapped) (true trapped))
(<= terminal (true (count 4)))
(<= (goal red 0) (true trapped))
(<= (goal blue TRAPPED) (true trapped))
(<= (goal red 50) (not (true trapped)))
(<= (goal blue 50) (not (true trapped)))
"""
"""Blue's first move settles the goals, three moves before the end."""


def test_goals_without_a_constant_sum_have_no_bounds_and_are_still_refused():
    ends_at_once = "(<= (next over) (does blue fair)) (<= (next over) (true over)) (<= terminal (true over))"
    game = load(TRAP.replace("TRAPPED", "0") + ends_at_once, "lanes")
    assert goal_bounds(game) is None
    with pytest.raises(AlphaBetaError, match="same sum"):
        AlphaBeta(game, mebibytes=1).search(game.initial_state())


def test_latches_of_tic_tac_toe():
    game = load("tictactoe", "lanes")
    names = [str(fluent) for fluent in game.terms.fluents]
    latches = find_latches(game, range(len(names)))
    marks = {name: name[-2] in "xo" for name in names if name.startswith("(cell")}
    assert {names[f] for f in latches.stays} == {name for name, is_mark in marks.items() if is_mark}
    assert {names[f] for f in latches.gone} == {name for name, is_mark in marks.items() if not is_mark}
    blocked = {names[f]: [names[g] for g in by] for f, by in latches.blockers.items()}
    assert blocked["(cell 1 1 x)"] == ["(cell 1 1 o)"]
