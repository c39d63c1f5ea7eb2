"""The value of the initial state by search, and the command that falls back on it."""

import json
import time

import click
import pytest

from ggp.cli import app
from ggp.loading import load
from ggp.root_value import find_root_value, search_method
from ggp.solver import SolverLimitError, UnsolvableError


@pytest.mark.parametrize(
    ("name", "method", "values"),
    [
        ("connectfour_4x4", "alphabeta", (50, 50)),
        ("nim", "alphabeta", (0, 100)),
        ("othello_4x4", "alphabeta", (0, 100)),
        ("bucket", "alphabeta", (40, 60)),
        ("hanoi", "branch-and-bound", (100,)),
        ("sudoku_4x4", "branch-and-bound", (100,)),
    ],
)
def test_search_proves_known_values(name, method, values):
    game = load(name, "lanes")
    reports = []
    found = find_root_value(game, mebibytes=16, report=reports.append)
    assert (found.method, found.values) == (method, values)
    assert search_method(game) == method
    if found.mover is not None:
        assert found.move in game.legal_moves(game.initial_state(), found.mover)
    if found.line:
        state = game.initial_state()
        for move in found.line:
            state = game.next_state(state, (move,))
        assert game.goal(state, game.roles[0]) == found.values[0]
    assert all(report.nodes >= 0 and report.depth >= 0 for report in reports)


def test_search_says_how_far_it_came():
    game = load("connectfour", "lanes")
    with pytest.raises(SolverLimitError, match="nodes searched"):
        find_root_value(game, mebibytes=4, deadline=time.monotonic() + 0.3)


@pytest.mark.parametrize("name", ["dicerace", "connectfour_3p", "morra", "kuhn_poker"])
def test_search_refuses_what_it_cannot_prove(name):
    with pytest.raises(UnsolvableError):
        find_root_value(load(name, "lanes"), mebibytes=1)


def solve_command(capsys, *arguments):
    app.main(["solve", *arguments, "--json"], standalone_mode=False)
    printed = capsys.readouterr()
    return json.loads(printed.out), printed.err


def test_solve_goes_over_to_search_where_states_are_too_many(capsys):
    found, said = solve_command(capsys, "connectfour_4x4", "--states", "1000", "--mebibytes", "64")
    assert (found["method"], found["values"]) == ("alphabeta", {"red": 50, "black": 50})
    assert found["states"] is None
    assert len(found["best_moves"]["red"]) == 1
    assert "more than 1,000 states" in said
    found, said = solve_command(capsys, "hanoi", "--states", "100", "--mebibytes", "64")
    assert (found["method"], found["values"]) == ("branch-and-bound", {"player": 100})


def test_solve_keeps_to_the_method_that_was_asked_for(capsys, tmp_path):
    found, _ = solve_command(capsys, "tictactoe", "--method", "alphabeta", "--mebibytes", "64")
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
        (["dicerace", "--states", "100"], "more than 100 states"),
        (["connectfour_4x4", "--states", "100", "--save", "S"], "without --save"),
        (
            ["connectfour_4x4", "--method", "retrograde", "--states", "100", "--work", "W"],
            "goes on from here",
        ),
    ],
)
def test_solve_says_what_to_do_where_it_gives_up(capsys, tmp_path, monkeypatch, arguments, hint):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(click.ClickException, match=hint):
        solve_command(capsys, *arguments)
