"""The prover of one match: how much time it takes, what it proves, and what the tree makes of it."""

import itertools
import time
from math import inf

import pytest

from ggp.engines.loading import load
from ggp.proofs.proofs import MatchProofs
from ggp.proofs.prover import FIRST_SHARE, HOPELESS_SHARE, Prover, prepare_proving
from ggp.search.budget import Budget
from ggp.search.tree.options import MctsOptions
from ggp.search.tree.search import LanesSearch
from ggp.solver import solve
from tests.ggp.search.alphabeta.positions import after

SMALL = MctsOptions(is_solving=True, words=1, memory_mebibytes=16)


def prover_of(name, role=0, **changes):
    game = load(name, "lanes")
    prepare_proving(game)  # a kernel compiled within a slice would count as time that the slice took
    prover = Prover(game, role, mebibytes=32, **changes)
    prover.move_to(game.initial_state())
    return prover


def test_keeping_pace_ends_with_a_proof_of_a_small_game():
    prover = prover_of("tictactoe", clock=lambda: 5.0)
    prover.keep_pace(0.0, Budget(100.0), length=7.0)
    assert prover.proven.goal == 50
    assert prover.has_decided


def test_keeping_pace_stops_at_its_share_and_at_the_deadline():
    ticks = itertools.count()
    prover = prover_of("connectfour", clock=lambda: 1e-4 * next(ticks))
    prover.keep_pace(0.0, Budget(1.0), length=None)
    spent = prover.spent_seconds
    assert 0.0 < spent < 0.2
    late = prover_of("connectfour", clock=lambda: 2.0)
    late.keep_pace(0.0, Budget(1.0), length=None)
    assert late.spent_seconds == 0.0


def forecast(prover, seconds, is_known=True):
    """Fix the forecast of alpha-beta at `seconds`."""
    prover.proofs.needed_seconds = lambda length: (seconds, is_known)


def share(prover, length=30.0):
    return prover._share(total=10.0, left=8.0, length=length)


@pytest.mark.parametrize(
    ("name", "shares"), [("breakthrough", (0.03, 0.2, 0.75)), ("connectfour", (0.75, 0.75, 0.75))]
)
def test_share_of_the_time_follows_the_forecast_and_patience_ends(name, shares):
    """Walkers get more for a forecast that is as good."""
    prover = prover_of(name)
    for seconds, is_known, patient, impatient in (
        (inf, False, FIRST_SHARE, HOPELESS_SHARE),
        (1000.0, True, FIRST_SHARE, HOPELESS_SHARE),
        (100.0, True, max(FIRST_SHARE, shares[0]), shares[0]),
        (30.0, True, shares[1], shares[1]),
        (7.0, True, shares[2], shares[2]),
        (7.0, False, shares[2], shares[2]),
    ):
        forecast(prover, seconds, is_known)
        for spent, expected in ((0.0, patient), (0.5, impatient)):
            prover.proofs.lines[1].spent_seconds = spent
            assert share(prover) == expected


def test_a_move_after_a_hopeless_one_begins_with_the_hopeless_share():
    """Until its own forecast is better: then as if nothing had been known."""
    prover = prover_of("connectfour")
    game = prover.game
    forecast(prover, 1e6)
    assert share(prover, length=60.0) == HOPELESS_SHARE
    joint_move = tuple(game.legal_moves(game.initial_state(), role)[0] for role in game.roles)
    prover.move_to(game.next_state(game.initial_state(), joint_move))
    for seconds, is_known, expected in (
        (inf, False, HOPELESS_SHARE),
        (4.0, True, 0.75),
        (inf, False, FIRST_SHARE),
    ):
        forecast(prover, seconds, is_known)
        assert share(prover, length=4.0 if is_known else None) == expected


def test_one_slow_slice_does_not_end_a_proof():
    """The first slice once waited for memory, and the forecast called tiny games hopeless ever after."""
    prover = prover_of("nim")
    for line in prover.proofs.lines:
        line.seconds_per_node = 0.005
        line.slice(None)
        line.slice(None)
        assert line.seconds_per_node < 0.002


def test_what_is_proven_about_the_root_is_one_object_until_there_is_news():
    """Threads take it over into their trees if it is another one than before."""
    prover, _ = threatened()
    assert prover.root_goals
    assert prover.root_goals is prover.root_goals
    known = prover.root_goals
    prover.prove_counted(5)
    assert prover.root_goals is known


def test_a_solution_leaves_no_proof_of_an_earlier_state():
    prover = prover_of("tictactoe")
    prover.prove_counted(100_000)
    assert prover.proven is not None
    game = prover.game
    prover.solution = solve(game)
    joint_move = tuple(game.legal_moves(game.initial_state(), role)[0] for role in game.roles)
    prover.move_to(game.next_state(game.initial_state(), joint_move))
    assert (prover.proven, prover.root_goals, prover.has_decided) == (None, {}, False)


def test_games_that_alphabeta_cannot_search_are_enumerated():
    for name in ("rockpaperscissors", "dicerace"):
        prover = prover_of(name, role=0)
        prover.prove_counted(2000)
        assert prover.proven is None
        assert prover.needs_enumeration == (prover.solution is None)
    assert prover.solution is None  # dicerace has 77,895 states


def test_hidden_information_is_left_alone():
    prover = prover_of("kuhn_poker", role=1)
    prover.prove_counted(1000)
    prover.solve(prover.game.initial_state(), Budget(1e9), is_patient=True)
    assert (prover.proven, prover.solution, prover.root_goals) == (None, None, {})


def threatened():
    """Tic-tac-toe in which the second role must block: sixteen positions prove that all else loses."""
    game = load("tictactoe", "lanes")
    state = after(game, game.initial_state(), "(mark 1 1)", "(mark 2 2)", "(mark 1 2)")
    prover = Prover(game, 1, mebibytes=32)
    prover.move_to(state)
    prover.prove_counted(16)
    return prover, state


def search_with(prover, state, simulations):
    search = LanesSearch(prover.game, prover.game.roles[prover.role_index], seed=1, options=SMALL)
    search.move_to(state, None)
    search.run(Budget(simulations=simulations), prover)
    return search


def test_proofs_of_root_moves_hold_in_the_tree_from_the_start():
    prover, state = threatened()
    assert {str(move): goal for move, goal in prover.root_goals.items()} == {
        f"(mark {x} {y})": 0 for x, y in ((2, 1), (2, 3), (3, 1), (3, 2), (3, 3))
    }
    assert not prover.has_decided
    blind = Prover(prover.game, 1, mebibytes=32)
    reports = [search_with(each, state, 40).report() for each in (prover, blind)]
    told, untold = [[each for each in report.moves if each.move in prover.root_goals] for report in reports]
    assert {each.goal for each in told} == {0}
    assert sum(each.visits for each in told) < sum(each.visits for each in untold)
    again = [search_with(*threatened(), 300).report().moves for _ in range(2)]
    assert again[0] == again[1]


def test_bounds_of_root_moves_decide_between_moves_that_the_tree_likes_alike():
    prover = prover_of("tictactoe")
    state = prover.game.initial_state()
    liked = search_with(prover, state, 400).best_move()
    prover.root_bounds = {liked: (0, 50)}
    search = search_with(prover, state, 400)
    report = search.report()
    assert search.best_move() == report.best_move != liked
    assert {each.bounds for each in report.moves if each.move == liked} == {(0, 50)}
    assert {each.bounds for each in report.moves if each.move != liked} == {(0, 100)}
    search.move_to(state, None)
    assert search.best_move() == liked


def test_decision_of_the_prover_ends_the_search():
    prover = prover_of("tictactoe")
    prover.prove_counted(100_000)
    assert prover.has_decided
    search = LanesSearch(prover.game, prover.game.roles[0], seed=1, options=SMALL)
    search.move_to(prover.game.initial_state(), None)
    assert search.run(Budget(simulations=1000), prover) == 0


def test_plans_are_kept_while_the_match_follows_them():
    game = load("eightpuzzle", "lanes")
    prover = Prover(game, 0, mebibytes=64)
    state = game.initial_state()
    prover.move_to(state)
    assert not prover.has_decided
    prover.plans.seek(prover.state, Budget(time.monotonic() + 600.0))
    plan = prover.plans.plan
    assert (plan.goal, prover.has_decided) == (100, True)
    for move in plan.moves[:3]:
        assert prover.plans.move(state) == (move, plan)
        state = game.next_state(state, (move,))
    prover.move_to(state)
    assert prover.has_decided
    prover.plans.seek(prover.state, Budget(time.monotonic() + 600.0))
    assert prover.plans.plan is plan
    off_the_way = next(m for m in game.legal_moves(state, game.roles[0]) if m != plan.moves[3])
    state = game.next_state(state, (off_the_way,))
    assert prover.plans.move(state) is None
    prover.move_to(state)
    assert not prover.has_decided


def test_a_search_for_a_plan_ends_when_it_is_stopped():
    game = load("peg", "lanes")
    prover = Prover(game, 0, mebibytes=64)
    prover.move_to(game.initial_state())
    begin = time.monotonic()
    prover.plans.seek(prover.state, Budget(begin + 600.0, is_stopped=lambda: True))
    assert prover.plans.plan is None
    assert time.monotonic() - begin < 60.0
    # Pondering that is cut short is no search: the next clock still looks for a plan.
    puzzle = prover_of("eightpuzzle")
    puzzle.plans.seek(puzzle.state, Budget(begin + 600.0, is_stopped=lambda: True))
    assert not puzzle.has_decided
    puzzle.plans.seek(puzzle.state, Budget(time.monotonic() + 600.0))
    assert puzzle.has_decided


def test_counted_plans_do_not_depend_on_a_clock():
    plans = []
    for _ in range(2):
        prover = prover_of("eightpuzzle")
        prover.prove_counted(200_000)
        plans.append(prover.plans.plan)
    assert plans[0] == plans[1]
    assert plans[0].goal == 100
    few = prover_of("eightpuzzle")
    few.plans.seek(few.game.initial_state(), Budget(simulations=100))
    assert not few.has_decided


def test_keeping_pace_ends_between_two_slices_when_it_is_told(monkeypatch):
    prover, asked = prover_of("connectfour", clock=lambda: 5.0), itertools.count(1)
    slices, take = [], MatchProofs.slice

    def counting(proofs, **given):
        slices.append(given)
        take(proofs, **given)

    monkeypatch.setattr(MatchProofs, "slice", counting)
    prover.keep_pace(0.0, Budget(1000.0, is_stopped=lambda: next(asked) > 3), length=None)
    assert len(slices) == 3
