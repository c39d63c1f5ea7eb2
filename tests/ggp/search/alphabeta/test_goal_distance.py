"""Goal distance: the formula against its twin, and what it says of positions that are easy to judge."""

import numpy as np
import pytest

from ggp.engines.loading import load
from ggp.features.recognition import recognize_features
from ggp.search.alphabeta.goal_distance import goal_formula
from ggp.search.alphabeta.reference.position import degrees, distance_goal
from ggp.search.alphabeta.search import AlphaBeta, Estimate
from tests.ggp.search.alphabeta.positions import after, mover_of, random_states

GAMES = ["tictactoe", "connectfour_4x4", "hex_3x3", "breakthrough_small", "nim", "eightpuzzle"]


def formula_of(name):
    game = load(name, "lanes")
    return game, goal_formula(game, recognize_features(game))


def state_with(game, *facts):
    held = np.array([str(fluent) in facts for fluent in game.terms.fluents])
    assert held.sum() == len(facts)
    return held


@pytest.mark.parametrize("name", GAMES)
def test_kernel_agrees_with_its_plain_twin(name):
    game, formula = formula_of(name)
    estimate = Estimate(goal_weight=0, mobility_weight=0, formula=formula)
    search = AlphaBeta(game, estimate, mebibytes=1)
    compared = 0
    for state in random_states(game, 12):
        search.forget()
        search.search(state, depth=1)
        first, count = int(search.frames.first[0]), int(search.frames.children[0])
        children = slice(first, first + count)
        memory = search._memory
        scores = dict(zip(memory.move[children].tolist(), memory.score[children].tolist(), strict=True))
        mover = mover_of(game, state)
        for move in game.legal_moves(state, game.roles[mover]):
            following = after(game, state, move)
            number = int(game.tables.first_move[mover]) + game.moves[mover].index(move) if count > 1 else -1
            if not game.is_terminal(following):
                worth = distance_goal(formula, game.unpack(following))
                assert scores[number] / 100 == pytest.approx(min(max(worth, 0.01), 99.99), abs=0.011)
                compared += 1
    assert compared > 0


@pytest.mark.parametrize("name", GAMES)
def test_degree_is_one_exactly_where_the_goal_is_reached(name):
    game, formula = formula_of(name)
    for state in random_states(game, 40, seed=1, ends=True):
        part = degrees(formula, game.unpack(state))
        for place, role in enumerate(game.roles):
            assert all(0 <= degree <= 1 for degree in part)
            # Goals of states that go on are whatever the rules say there.
            if game.is_terminal(state):
                assert (part[formula.wanted[place]] == 1) == (game.goal(state, role) == 100)


def test_pieces_count_by_their_way_to_the_goal():
    game, formula = formula_of("breakthrough_small")
    far, near, blocked = (
        distance_goal(formula, state_with(game, "(control black)", mine, "(cell 5 4 black)"))
        for mine in ("(cell 1 2 white)", "(cell 1 3 white)", "(cell 1 4 white)")
    )
    assert far < near < blocked
    own = degrees(formula, state_with(game, "(cell 1 2 white)", "(cell 5 4 black)"))[formula.wanted[0]]
    # Three steps to any of four cells of the last row, or one black piece to take.
    assert own == pytest.approx(1 - (1 - 0.3**3) ** 4 * (1 - 0.3))


def test_lines_that_cannot_be_completed_count_nothing():
    game, formula = formula_of("tictactoe")
    lines = ("xox", "oox", "ox-")
    marks = {(x, y): mark for y, line in enumerate(lines, 1) for x, mark in enumerate(line, 1) if mark != "-"}
    state = state_with(game, *(f"(cell {x} {y} {mark})" for (x, y), mark in marks.items()))
    assert len(formula.blocker) == 18
    part = degrees(formula, state)
    # Only the right column is left to x, and o has no line at all.
    assert part[formula.wanted[0]] == pytest.approx(0.3)
    assert part[formula.wanted[1]] == 0.0


def test_formula_without_time_knows_no_blockers():
    game = load("tictactoe", "lanes")
    formula = goal_formula(game, None, deadline=0.0)
    assert len(formula.blocker) == 0
    assert distance_goal(formula, game.unpack(game.initial_state())) == 50


def test_goals_that_are_constant_give_no_formula():
    text = """(role a) (init (p 1)) (<= (legal a go) (true (p 1))) (<= (next (p 2)) (does a go))
        (<= terminal (true (p 2))) (goal a 100)"""
    game = load(text, "lanes")
    assert goal_formula(game, None) is None
