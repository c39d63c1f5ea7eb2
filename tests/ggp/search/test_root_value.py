"""The value of the initial state by search, and the command that falls back on it."""

import json
import time

import click
import pytest

from ggp.cli.main import app
from ggp.cli.solve_output import root_text
from ggp.engines.loading import load
from ggp.search.proof_numbers.search import ProofNumberSearch
from ggp.search.root_value import find_root_value, search_method
from ggp.solver import SolverLimitError, UnsolvableError, solve
from tests.ggp.search.proof_numbers.test_search import TURNS

LONG = 200.0


@pytest.mark.parametrize(
    ("name", "method", "values"),
    [
        ("connectfour_4x4", "alphabeta", (50, 50)),
        ("nim", "alphabeta", (0, 100)),
        ("othello_4x4", "alphabeta", (0, 100)),
        ("bucket", "alphabeta", (51, 49)),
        ("hex_3x3", "alphabeta", (100, 0)),
        ("hanoi", "branch-and-bound", (100,)),
        ("sudoku_4x4", "branch-and-bound", (100,)),
    ],
)
def test_search_proves_known_values(name, method, values):
    game = load(name, "lanes")
    reports = []
    found = find_root_value(game, mebibytes=128, deadline=time.monotonic() + LONG, report=reports.append)
    assert (found.method, found.values) == (method, values)
    assert search_method(game) == method
    if found.mover is not None:
        stage = solve(game).stage(game.initial_state())
        best = {rated.move for rated in stage.best_moves[found.mover]}
        assert set(found.best_moves) <= best
        assert best <= {*found.best_moves, *found.unsettled}
        assert not found.unsettled
    if found.line:
        state = game.initial_state()
        for move in found.line:
            state = game.next_state(state, (move,))
        assert game.goal(state, game.roles[0]) == found.values[0]
    assert all(report.nodes >= 0 and (report.depth is None or report.depth >= 0) for report in reports)


def test_where_states_repeat_alpha_beta_takes_over_and_the_report_says_so(capsys, tmp_path):
    """Both may pass as long as nothing is taken; the first role wins by taking two of five."""
    sheet = tmp_path / "passing.kif"
    sheet.write_text(TURNS.format(heap=5, more="(may 5 none)"))
    app.main(["solve", str(sheet), "--method", "alphabeta"], standalone_mode=False)
    said = capsys.readouterr().out
    assert "proven by alphabeta (proof numbers gave up: states repeat)" in said
    assert "a 80" in said.replace(":", "")
    app.main(["solve", "tictactoe", "--method", "alphabeta"], standalone_mode=False)
    assert "proven by alphabeta (proof numbers)" in capsys.readouterr().out


def test_moves_for_which_there_is_no_time_are_named(monkeypatch):
    monkeypatch.setattr(ProofNumberSearch, "is_reached", lambda *_: None)
    game = load("tictactoe", "lanes")
    found = find_root_value(game, mebibytes=32)
    assert len(found.best_moves) == 1
    assert {*found.best_moves, *found.unsettled} == set(game.legal_moves(game.initial_state(), found.mover))
    assert "undecided in time: " + ", ".join(map(str, found.unsettled)) in root_text(found)


@pytest.mark.parametrize(
    ("name", "error", "said"),
    [
        ("connectfour", SolverLimitError, "nodes expanded"),
        *((name, UnsolvableError, None) for name in ("dicerace", "connectfour_3p", "morra", "kuhn_poker")),
    ],
)
def test_search_refuses_what_it_cannot_prove_and_says_how_far_it_came(name, error, said):
    deadline = time.monotonic() + 0.3 if said else None
    with pytest.raises(error, match=said):
        find_root_value(load(name, "lanes"), mebibytes=32, deadline=deadline)


def solve_command(capsys, *arguments):
    app.main(["solve", *arguments, "--json"], standalone_mode=False)
    printed = capsys.readouterr()
    return json.loads(printed.out), printed.err


def test_solve_goes_over_to_search_where_states_are_too_many(capsys):
    found, said = solve_command(capsys, "connectfour_4x4", "--limit", "states=1000,memory=64")
    assert (found["method"], found["values"]) == ("alphabeta", {"red": 50, "black": 50})
    assert found["states"] is None
    every, _ = solve_command(capsys, "connectfour_4x4")
    named = [{each["move"] for each in one["best_moves"]["red"]} for one in (found, every)]
    assert named[0] == named[1]
    assert found["unsettled_moves"] == []
    assert "more than 1,000 states" in said
    found, said = solve_command(capsys, "hanoi", "--limit", "states=100,memory=64")
    assert (found["method"], found["values"]) == ("branch-and-bound", {"player": 100})


def test_solve_enumerates_what_only_looks_endless(capsys):
    found, _ = solve_command(capsys, "eightpuzzle", "--limit", "memory=1024")
    assert (found["method"], found["states"]) == ("retrograde", 3_590_977)
    assert (found["values"], found["longest_line"]) == ({"player": 100}, 20)


def test_solve_keeps_to_the_method_that_was_asked_for(capsys, tmp_path):
    found, _ = solve_command(capsys, "tictactoe", "--method", "alphabeta", "--limit", "memory=64")
    assert (found["method"], found["values"]) == ("alphabeta", {"x": 50, "o": 50})
    found, _ = solve_command(capsys, "tictactoe", "--method", "retrograde")
    assert (found["method"], found["states"]) == ("retrograde", 5478)
    for refused in (
        ["tictactoe", "--method", "branch-and-bound"],
        ["maze", "--method", "alphabeta"],
        ["dicerace", "--method", "alphabeta"],
        ["tictactoe", "--method", "alphabeta", "--save", str(tmp_path / "s")],
    ):
        with pytest.raises(click.UsageError):
            solve_command(capsys, *refused)


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["dicerace", "--limit", "states=100"], "more than 100 states"),
        (["connectfour_4x4", "--limit", "states=100", "--save", "S"], "without --save"),
        (
            ["connectfour_4x4", "--method", "retrograde", "--limit", "states=100", "--work", "W"],
            "resumes from here",
        ),
    ],
)
def test_solve_says_what_to_do_where_it_gives_up(capsys, tmp_path, monkeypatch, arguments, hint):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(click.ClickException, match=hint):
        solve_command(capsys, *arguments)


UNEVEN = """
(role a) (role b) (init s)
(<= (legal a x) (true s)) (<= (legal a y) (true s)) (<= (legal a wait) (not (true s)))
(legal b wait) (<= (legal b x) (true t))
(<= (next won) (does a x)) (<= (next t) (does a y)) (<= (next lost) (true t))
(<= terminal (true won)) (<= terminal (true lost))
(<= (goal a 100) (true won)) (<= (goal b 0) (true won)) (<= (goal a 0) (true lost))
"""


def test_a_value_that_needs_a_constant_sum_says_so():
    found = find_root_value(load(f"{UNEVEN} (<= (goal b 100) (not (true won)))", "lanes"))
    assert (found.values, found.proof) == ((100, 0), "alphabeta (if goals add up to 100 at every end)")
    with pytest.raises(UnsolvableError, match="do not add up to the same sum"):
        find_root_value(load(f"{UNEVEN} (<= (goal b 50) (true lost))", "lanes"))


def test_a_role_with_one_goal_does_not_decide_what_the_other_gets():
    rules = UNEVEN.replace("(goal a 100)", "(goal a 0)")
    with pytest.raises(UnsolvableError, match="the first role always gets the same"):
        find_root_value(load(f"{rules} (<= (goal b 50) (true lost))", "lanes"))
