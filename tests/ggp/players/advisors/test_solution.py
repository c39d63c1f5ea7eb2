"""Moves by the values of all states ahead, found in the start clock or by a solver on another core."""

import itertools
import time

from ggp.engines.loading import load
from ggp.players.factory import make_player
from ggp.players.simple import RandomPlayer
from ggp.solver import reachable
from ggp.solver.kernels.expand import PASSES
from tests.ggp.players.asking import choose, started
from tests.ggp.players.perfect import LONG, play, wait_until_solved

WIDE = f"""
    (role a) (role b) {" ".join(f"(number {n})" for n in range(90))} (init (left 3))
    (after 3 2) (after 2 1) (after 1 0)
    (<= (legal ?r (pick ?n)) (role ?r) (number ?n))
    (<= (next (has ?r ?n)) (does ?r (pick ?n)))
    (<= (next (left ?n)) (true (left ?k)) (after ?k ?n))
    (<= terminal (true (left 0)))
    (<= (goal ?r 100) (role ?r) (true (has ?r 1))) (<= (goal ?r 0) (role ?r) (not (true (has ?r 1))))
"""
"""Thousands of joint moves in every state."""


def modes_of(player, game, others, *, seed=0, seconds=LONG):
    """What chose each move of the first role, and the goals."""
    modes, choose = [], player.choose

    def noting(state, deadline, joint):
        move = choose(state, min(deadline, time.monotonic() + seconds), joint)
        modes.append(player.last_report and player.last_report.mode)
        wait_until_solved(player)
        return move

    player.choose = noting
    return modes, play(game, [player, *others], seed=seed)


def test_a_solver_takes_over_whatever_else_searches():
    game = load("connectfour_4x4", "lanes")
    modes, _ = modes_of(make_player("solving:simulations=5,search=reference"), game, [RandomPlayer()])
    assert {*modes} <= {"solution", None}


def test_proofs_serve_where_there_is_no_solution():
    game = load("connectfour_4x4", "lanes")
    player = make_player("solving:threads=1,solver_memory=0,memory=16,alphabeta=off")
    modes, goals = modes_of(player, game, [RandomPlayer()], seed=3, seconds=1.0)
    assert "proof" in modes
    assert goals[0] >= 50


def test_plans_and_proofs_serve_in_games_of_one_role():
    game = load("sudoku_4x4", "lanes")
    modes, goals = modes_of(
        make_player("solving:threads=1,solver=off,solver_memory=0"), game, [], seconds=0.3
    )
    assert goals == [100]
    assert {*modes} & {"proof", "plan"}


def test_game_of_chance_is_solved_from_the_state_at_hand_once_it_is_small():
    game = load("dicerace", "lanes")
    player = make_player("solving:simulations=20,solver_memory=1")
    modes, _ = modes_of(player, game, [RandomPlayer(), RandomPlayer()], seed=2)
    assert next(filter(None, modes)) == "lanes"
    assert "solution" in modes


def test_simultaneous_stages_are_played_in_mixed_strategies_without_a_solution():
    game = load("rockpaperscissors", "lanes")
    for mixed, modes in (("on", {"mixed"}), ("off", {"lanes"})):
        seen, moves = set(), set()
        for seed in range(12):
            spec = f"solving:simulations=200,proof=off,mixed={mixed},solver_memory=0"
            player = started(spec, game, clock=LONG, seed=seed)
            moves.add(choose(player))
            seen.add(player.last_report.mode)
            player.stop(None)
        assert seen == modes
        if mixed == "on":
            assert len(moves) == 3


def test_pondering_ends_in_the_midst_of_an_enumeration(monkeypatch):
    passes, expand = [], reachable.expand

    def counting(expander, *others):
        expansion = expander.value.expansion
        before = int(expansion.counter[PASSES])
        is_done = expand(expander, *others)
        passes.append(before - int(expansion.counter[PASSES]))
        return is_done

    player = started("mcts:words=1,memory=16", load(WIDE, "lanes"))
    monkeypatch.setattr(reachable, "expand", counting)
    asked = itertools.count(1)
    player.ponder(lambda: next(asked) > 4, time.monotonic() + LONG)
    assert 0 < sum(passes) < 2**5
