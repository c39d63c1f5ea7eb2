"""Values of coalitions against their definition."""

import json
from itertools import combinations

import click
import pytest

from ggp.cli.main import app
from ggp.engines.loading import load
from ggp.game import RANDOM_ROLE
from ggp.match.player import MatchSetup, PlayerFaultError, PlayerSpecError
from ggp.players.factory import make_player, require_members
from ggp.solver import UnsolvableError
from ggp.solver.coalitions import solve_coalition
from ggp.solver.members import parse_coalition
from tests.oracles import naive_solver

ROUNDS = """
(role a) (role b) (role c) CHANCE
(init (round 0)) (succ 0 1) (succ 1 2) (bit 0) (bit 1)
(<= (legal a (say ?b)) (bit ?b))
(<= (legal b (say ?b)) (bit ?b) (true (round 0)))
(<= (legal b noop) (not (true (round 0))))
(<= (legal c (say ?b)) (bit ?b) (true (round 1)))
(<= (legal c noop) (not (true (round 1))))
(<= (next (round ?m)) (true (round ?n)) (succ ?n ?m))
(<= (next (said ?r ?n ?b)) (does ?r (say ?b)) (true (round ?n)))
(<= (next (said ?r ?n ?b)) (true (said ?r ?n ?b)))
(<= terminal (true (round 2)))
(<= same (true (said a 0 ?x)) (true (said b 0 ?x)))
(<= match (true (said a 1 ?x)) (true (said c 1 ?x)))
(<= (goal a 90) same match) (<= (goal a 35) same (not match))
(<= (goal a 10) (not same) match) (<= (goal a 60) (not same) (not match))
(<= (goal b 75) (true (said a 1 0))) (<= (goal b 20) (not (true (said a 1 0))))
(<= (goal c 100) (not match) same) (<= (goal c 30) match) (<= (goal c 0) (not match) (not same))
"""
CHANCE = """(role random)
(<= (legal random (say ?b)) (bit ?b) (true (round 1))) (<= (legal random noop) (true (round 0)))
"""
LUCKY = ROUNDS.replace("CHANCE", CHANCE).replace("(true (said c 1 ?x)))", "(true (said random 1 ?x)))")
COALITIONS = [frozenset(chosen) for size in (1, 2, 3) for chosen in combinations(range(3), size)]


@pytest.mark.parametrize("rules", [ROUNDS.replace("CHANCE", ""), LUCKY], ids=["simultaneous", "chance"])
def test_coalitions_agree_with_their_definition_in_every_state(rules):
    """Two of three roles choose at once, in the same side or not, first and last in role order."""
    game, twin = load(rules, "lanes"), load(rules, "reasoner")
    for members in COALITIONS:
        solution = solve_coalition(game, members)
        level = [(game.initial_state(), twin.initial_state())]
        while level:
            following = []
            for state, other in level[:6]:
                expected = naive_solver.coalition_sum(twin, members, other)
                assert solution.value(state) == pytest.approx(float(expected))
                if not twin.is_terminal(other):
                    joints = list(naive_solver.joint_moves(twin, other))
                    following += [(game.next_state(state, j), twin.next_state(other, j)) for j in joints]
            level = following


def late_connectfour():
    """Connect four of three roles after 40 plies, blue to move."""
    game = load("connectfour_3p", "lanes")
    state = game.initial_state()
    for ply in range(40):
        legal = [game.legal_moves(state, role) for role in game.roles]
        following = game.next_state(state, [moves[ply * 5 % len(moves)] for moves in legal])
        if game.is_terminal(following):
            break
        state = following
    return game, state


def test_coalitions_of_connect_four_agree_with_their_definition():
    game, state = late_connectfour()
    for members in COALITIONS:
        solution = solve_coalition(game, members, start=state)
        assert solution.value() == naive_solver.coalition_sum(game, members, state)
        stage = solution.stage(state)
        for moves in stage.best_moves.values():
            assert all(rated.goal == solution.value() for rated in moves)


def test_cycles_are_valued_for_a_coalition():
    """Whoever walks in circles gives both sides half; the coalition of all gets nothing from that."""
    rules = """
    (role a) (role b) (role c) (init (at home)) (init (turn a))
    (after a b) (after b c) (after c a)
    (<= (next (turn ?q)) (true (turn ?r)) (after ?r ?q))
    (<= (legal ?r stay) (role ?r))
    (<= (legal a leave) (true (turn a)))
    (<= (next (at home)) (does a stay) (not (true (at away)))) (<= (next (at away)) (does a leave))
    (<= terminal (true (at away)))
    (goal a 20) (goal b 60) (goal c 10)
    """
    game = load(rules, "lanes")
    assert solve_coalition(game, [0]).value() == 50
    assert solve_coalition(game, [0, 1]).value() == 100
    assert solve_coalition(game, [1, 2]).value() == 70
    assert solve_coalition(game, [0, 1, 2]).value() == 90


@pytest.mark.parametrize("text", ["", "0", "4", "1+4", "1,2", "a", "-1", "9999999999999", "1+", "\u0661"])
def test_a_coalition_of_other_roles_or_of_chance_is_refused(text):
    game = load(LUCKY, "reasoner")
    assert game.roles[3] == RANDOM_ROLE
    with pytest.raises(ValueError, match=r"expected numbers joined by \+, of 1 a, 2 b, 3 c$"):
        parse_coalition(text, game.roles)
    assert parse_coalition("3+1", game.roles) == {0, 2}


def test_solve_prints_what_a_coalition_is_sure_of(capsys, tmp_path):
    rules = tmp_path / "rounds.kif"
    rules.write_text(ROUNDS.replace("CHANCE", ""))
    app.main(["solve", str(rules), "--coalition", "1+3", "--json"], standalone_mode=False)
    found = json.loads(capsys.readouterr().out)
    twin = load(rules, "reasoner")
    assert found["sum"] == pytest.approx(
        float(naive_solver.coalition_sum(twin, frozenset({0, 2}), twin.initial_state()))
    )
    app.main(["solve", "tictactoe", "--coalition", "1+2"], standalone_mode=False)
    assert "x and o can be sure of 100 of 200 goals together" in capsys.readouterr().out
    for wrong in (["--coalition", "5"], ["--coalition", "1", "--method", "alphabeta"]):
        with pytest.raises(click.UsageError):
            app.main(["solve", "tictactoe", *wrong], standalone_mode=False)


def test_alphabeta_plays_for_the_coalition_it_is_told():
    """In the first of two roles' games both agree on the sum, which is no minimax."""
    rules = """
    (role a) (role b) (init start)
    (<= (legal a (take ?n)) (true start) (amount ?n)) (amount 1) (amount 2) (amount 3)
    (<= (legal b noop) (true start))
    (<= (next (taken ?n)) (does a (take ?n)))
    (<= terminal (not (true start)))
    (<= (goal a 60) (true (taken 1))) (<= (goal b 0) (true (taken 1)))
    (<= (goal a 40) (true (taken 2))) (<= (goal b 90) (true (taken 2)))
    (<= (goal a 0) (true (taken 3))) (<= (goal b 50) (true (taken 3)))
    """
    game = load(rules, "reasoner")
    for coalition, move in {"own": 1, "none": 1, "1+2": 2, "2": 1}.items():
        player = make_player(f"alphabeta:coalition={coalition}")
        player.start(MatchSetup("m", game, game.roles[0], 9, 9, 0), float("inf"))
        assert str(player.choose(game.initial_state(), float("inf"), None)) == f"(take {move})"
    player = make_player("alphabeta:coalition=3")
    with pytest.raises(PlayerFaultError, match="of 1 a, 2 b"):
        player.start(MatchSetup("m", game, game.roles[0], 9, 9, 0), float("inf"))
    with pytest.raises(PlayerSpecError, match="own, none or numbers"):
        make_player("alphabeta:coalition=both")
    with pytest.raises(PlayerSpecError, match="of 1 a, 2 b"):
        require_members("alphabeta:coalition=3", "take", game.roles)


def test_sums_of_too_many_values_are_refused():
    taken = " ".join(f"(amount {n}) (<= (goal ?r {n}) (role ?r) (true (taken {n})))" for n in (1, 2, 90))
    rules = f"""
    (role a) (role b) (role c) (init start) {taken}
    (<= (legal a (take ?n)) (true start) (amount ?n))
    (<= (legal b noop) (true start)) (<= (legal c noop) (true start))
    (<= (next (taken ?n)) (does a (take ?n))) (<= terminal (not (true start)))
    """
    assert solve_coalition(load(rules, "lanes"), [0, 1, 2]).value() == 270
    rules = rules.replace("(goal ?r 1) (role ?r)", "(goal ?r 1) (role ?r) (distinct ?r c)")
    rules += "(<= (goal c 3) (true (taken 1)))"
    with pytest.raises(UnsolvableError, match="too many values"):
        solve_coalition(load(rules, "lanes"), [0, 1, 2])
