"""Games of one role: proofs and nested rollouts."""

import pytest

from ggp.loading import load
from ggp.search.single_role import NestedRollouts, branch_and_bound
from ggp.solver import solve


def goal_after(game, moves):
    state = game.initial_state()
    for move in moves:
        state = game.next_state(state, (move,))
    return game.goal(state, game.roles[0])


@pytest.mark.parametrize("name", ["maze", "hanoi", "sudoku_4x4"])
def test_branch_and_bound_proves_the_best_goal(name):
    game = load(name, "lanes")
    result = branch_and_bound(game, mebibytes=32, node_limit=300_000)
    assert result.is_proven
    assert (result.goal,) == solve(game).values()


def test_branch_and_bound_stops_at_its_limit():
    game = load("peg", "lanes")
    result = branch_and_bound(game, mebibytes=4, node_limit=2000)
    assert result.nodes <= 2001


def test_nested_rollouts_find_a_line_that_earns_what_they_say():
    game = load("eightpuzzle", "lanes")
    search = NestedRollouts(game, seed=3, level=2, iterations=10)
    line = search.run(playouts=150)
    assert line is search.best
    assert goal_after(game, line.moves) == line.goal


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
    plain = NestedRollouts(game, seed=1, level=1, iterations=1).run(playouts=600)
    nested = NestedRollouts(game, seed=1, level=2, iterations=25).run(playouts=600)
    assert plain is not None
    assert nested is not None
    assert nested.goal == 100
    assert plain.goal < 90


def test_nested_rollouts_end_at_once_when_a_line_is_good_enough():
    game = load("maze", "lanes")
    search = NestedRollouts(game, seed=0)
    search.run(playouts=10_000, enough=0)
    assert search.playouts == 1


def test_nested_rollouts_refuse_more_roles():
    with pytest.raises(ValueError, match="one role"):
        NestedRollouts(load("tictactoe", "lanes"))
