"""Games of one role: proofs and nested rollouts."""

import itertools
import random

import numpy as np
import pytest

from ggp.engines.loading import load
from ggp.search.alphabeta.search import AlphaBeta
from ggp.search.budget import Budget
from ggp.search.rollouts import single_role
from ggp.search.rollouts.single_role import NestedRollouts
from ggp.solver import solve
from ggp.solver.slices import Slices
from tests.oracles.naive_rollouts import PlainRollouts


def goal_after(game, moves):
    state = game.initial_state()
    for move in moves:
        state = game.next_state(state, (move,))
    return game.goal(state, game.roles[0])


@pytest.mark.parametrize(("name", "nodes"), [("maze", 300_000), ("hanoi", 300_000), ("peg", 2000)])
def test_branch_and_bound_proves_the_best_goal_or_stops_at_its_limit(name, nodes):
    game = load(name, "lanes")
    result = AlphaBeta(game, mebibytes=32).search(game.initial_state(), Budget(nodes=nodes))
    assert result.nodes <= nodes + 1
    assert result.is_proven == (name != "peg")
    assert not result.is_proven or (result.goal,) == solve(game).values()


GUESSING = """
(role r) (init (at 0)) (init (score 0)) (way 1) (way 2) (way 3) (way 4)
(<= (legal r (go ?n ?w)) (true (at ?n)) (way ?w))
(<= (next (at ?m)) (true (at ?n)) (succ ?n ?m))
(<= hit (does r (go ?n 1)))
(<= (next (score ?t)) (true (score ?s)) (succ ?s ?t) hit)
(<= (next (score ?s)) (true (score ?s)) (not hit))
(<= terminal (true (at 10)))
(<= (goal r ?g) (true (at 10)) (true (score ?s)) (pays ?s ?g))
(<= (goal r 0) (not (true (at 10))))
""" + "".join(f"(succ {i} {i + 1}) (pays {i} {10 * i})" for i in range(11))
"""Ten times one of four ways; the first of them earns ten points."""


def test_nested_rollouts_learn_what_random_play_does_not_find():
    game = load(GUESSING, "lanes")
    assert PlainRollouts(game, seed=1, level=1, iterations=1).run(playouts=600).goal < 90
    lanes = NestedRollouts(game, seed=1, iterations=10)
    lanes.run(Budget(simulations=60_000))
    assert lanes.best.goal == 100


def test_nested_rollouts_end_at_once_when_a_line_is_good_enough_and_refuse_more_roles():
    game = load("maze", "lanes")
    assert NestedRollouts(game).run(Budget(simulations=10**6), enough=0) == 64 * game.words
    with pytest.raises(ValueError, match="one role"):
        NestedRollouts(load("tictactoe", "lanes"))


@pytest.mark.parametrize("name", ["eightpuzzle", "peg", "maze", "sudoku_4x4"])
def test_lanes_find_lines_that_earn_what_they_say(name):
    game = load(name, "lanes")
    search = NestedRollouts(game, seed=2, iterations=3)
    assert search.run(Budget(simulations=4000), 101) == search.playouts >= 4000
    line = search.best
    assert search.best_move() == line.moves[0] == search.report().moves[0].move
    assert goal_after(game, line.moves) == line.goal


def test_lanes_search_from_the_state_they_are_given():
    game = load("hanoi", "lanes")
    state = game.initial_state()
    rng = random.Random(4)
    for _ in range(5):
        state = game.next_state(state, (rng.choice(game.legal_moves(state, game.roles[0])),))
    search = NestedRollouts(game, seed=0, iterations=3)
    search.move_to(state)
    search.run(Budget(simulations=1000))
    for move in search.best.moves:
        assert move in game.legal_moves(state, game.roles[0])
        state = game.next_state(state, (move,))
    assert game.is_terminal(state)


def test_lanes_adapt_like_plain_rollouts():
    game = load("sudoku_4x4", "lanes")
    lanes, plain = NestedRollouts(game, seed=3, step=0.7), PlainRollouts(game, seed=3, step=0.7)
    lanes.run(Budget(simulations=1))
    line = lanes.best
    by_index, by_move = np.zeros(len(game.moves[0])), {}
    for _ in range(3):
        lanes._adapt(by_index, line)
        plain.adapt(by_move, line)
    expected = [by_move.get(move, 0.0) for move in game.moves[0]]
    np.testing.assert_allclose(by_index, expected, atol=1e-12)
    assert by_index.max() > 1


def test_lanes_choose_by_the_weights():
    game = load(GUESSING, "lanes")
    lanes = NestedRollouts(game, seed=5)
    lanes.run(Budget(simulations=1))
    policy = np.zeros(len(game.moves[0]))
    (first,) = {i for i, move in enumerate(game.moves[0]) if str(move) == "(go 0 2)"}
    policy[first] = np.log(9)
    lanes._roll_out(policy)
    count = len(lanes._arrays.length)
    share = (lanes._arrays.history[:count] == first).mean()
    assert share == pytest.approx(9 / 12, abs=4 * np.sqrt(0.75 * 0.25 / count))


COUNTDOWN = f"""
    (role a) (init (left 0)) {" ".join(f"(after {n} {n + 1})" for n in range(400))}
    (<= (legal a (step ?n)) (true (left ?k)) (after ?k ?n)) (legal a wait)
    (<= (next (left ?n)) (does a (step ?n)))
    (<= (next (left ?n)) (does a wait) (true (left ?n)))
    (<= terminal (true (left 400))) (<= (goal a 100) (true (left 400)))
    (<= (goal a 0) (not (true (left 400))))
"""
"""Playouts of some eight hundred moves."""


def test_rollouts_stop_within_a_batch(monkeypatch):
    steps, roll_out = [], single_role.roll_out

    def counting(tables, first_move, arrays, first, end, most):
        steps.append(end - first)
        return roll_out(tables, first_move, arrays, first, end, most)

    monkeypatch.setattr(single_role, "roll_out", counting)
    asked = itertools.count(1)
    search = NestedRollouts(load(COUNTDOWN, "lanes"))
    assert search.run(Budget(is_stopped=lambda: next(asked) > 5)) == 0
    assert len(steps) == 5
    assert sum(steps) < 2**5


def test_slices_of_a_batch_change_no_line(monkeypatch):
    game = load("eightpuzzle", "lanes")

    def found():
        search = NestedRollouts(game, seed=5)
        return search.run(Budget(simulations=40 * 64 * game.words), 101), search.best

    expected = found()
    monkeypatch.setattr(Slices, "note", lambda slices, seconds: None)  # one step at a time
    assert found() == expected
