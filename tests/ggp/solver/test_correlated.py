"""Correlated equilibria where three and more roles choose at once."""

from __future__ import annotations

import json
import random
from itertools import product

import pytest

from ggp.cli.main import app
from ggp.engines.loading import load
from ggp.solver import Tablebase, UnsolvableError, save_solution, solve
from ggp.solver.matrix_games import NoEquilibriumFoundError, correlated_equilibrium
from ggp.solver.solution import CORRELATED, EQUILIBRIUM

CHASE = """(role a) (role b) (role c) (init start) (side heads) (side tails)
(<= (legal ?r (show ?s)) (true start) (role ?r) (side ?s))
(<= (next (shown ?r ?s)) (does ?r (show ?s)))
(<= (same ?p ?q) (true (shown ?p ?s)) (true (shown ?q ?s)))
(<= terminal (not (true start)))
(<= (goal a 100) (same a b)) (<= (goal a 0) (not (same a b)))
(<= (goal b 100) (same b c)) (<= (goal b 0) (not (same b c)))
(<= (goal c 0) (same c a)) (<= (goal c 100) (not (same c a)))
"""
"""a copies b, b copies c, c avoids a: no pure equilibrium. Alone each gets 50; a third party that never lets
both a and b miss gives 200/3, since two roles then always succeed.
"""


@pytest.mark.parametrize("seed", range(12))
def test_no_role_gains_by_disobeying_a_correlated_equilibrium(seed):
    rng = random.Random(seed)
    moves = [rng.randint(1, 3) for _ in range(rng.randint(2, 3))]
    joints = list(product(*map(range, moves)))
    payoff = {joint: [rng.randint(0, 4) for _ in moves] for joint in joints}
    mix = dict(zip(joints, correlated_equilibrium(list(payoff.values()), moves), strict=True))
    assert sum(mix.values()) == 1
    assert min(mix.values()) >= 0
    for role, count in enumerate(moves):
        for shown, played in product(range(count), repeat=2):
            gain = sum(
                p * (payoff[(*joint[:role], played, *joint[role + 1 :])][role] - payoff[joint][role])
                for joint, p in mix.items()
                if joint[role] == shown
            )
            assert gain <= 0


def test_a_stage_too_large_is_refused_before_work_begins():
    with pytest.raises(NoEquilibriumFoundError, match="too large"):
        correlated_equilibrium([[0, 0, 0]] * 1000, [10, 10, 10])


def test_three_roles_without_a_pure_equilibrium_are_solved_only_on_request(tmp_path):
    game = load(CHASE, "lanes")
    with pytest.raises(UnsolvableError, match="pure"):
        solve(game)
    solution = solve(game, is_correlated=True)
    assert solution.concept == CORRELATED
    assert solution.values() == pytest.approx([200 / 3] * 3)
    save_solution(solution, tmp_path / "chase.solution")
    saved = Tablebase(tmp_path / "chase.solution").stage(game, game.initial_state())
    assert saved == solution.stage(game.initial_state())
    for rated in saved.best_moves.values():
        assert [move.probability for move in rated] == pytest.approx([0.5, 0.5])
        assert [move.goal for move in rated] == pytest.approx([200 / 3] * 2)


def test_a_pure_equilibrium_is_preferred_to_a_correlated_one():
    agreeing = CHASE.replace("c 0) (same", "c 100) (same").replace("c 100) (not", "c 0) (not")
    solution = solve(load(agreeing, "lanes"), is_correlated=True)
    assert solution.concept == EQUILIBRIUM
    assert solution.values() == (100, 100, 100)


def test_solve_command_takes_correlated_equilibria(tmp_path, capsys):
    sheet = tmp_path / "chase.kif"
    sheet.write_text(CHASE)
    with pytest.raises(SystemExit) as ended:
        app(["solve", str(sheet), "--method", "correlated", "--json"])
    assert not ended.value.code
    assert json.loads(capsys.readouterr().out)["concept"] == CORRELATED
    with pytest.raises(SystemExit) as ended:
        app(["solve", str(sheet), "--method", "correlated", "--coalition", "1"])
    assert ended.value.code == 2
