"""`ggp solve` on games of one joint move, with given strategies, and on a scale."""

import json

import pytest


def test_morra_is_shown_as_its_matrix_in_the_numbers_of_its_sheet(ggp):
    code, out, _ = ggp("solve", "morra")
    assert code == 0
    lines = out.splitlines()
    assert lines[:2] == [
        "morra: even -1/12, odd 1/12",
        "  on the scale -5:5; goals: even 49.1667, odd 50.8333",
    ]
    assert lines[3:9] == [
        "  payoffs of even; odd gets the opposite:",
        "            show 1  show 2",
        "    show 1       2      -3",
        "    show 2      -3       4",
        "  no move is dominated by another one",
        "  equilibrium: even show 1 7/12, show 2 5/12; odd show 1 7/12, show 2 5/12",
    ]


def test_dominated_moves_are_marked(ggp):
    _, out, _ = ggp("solve", "prisoners_dilemma")
    assert "row -5, column -5" in out
    assert "    silent*   -10, 0   -1, -1" in out
    assert "  * silent of row is strictly dominated by confess" in out
    assert "  equilibrium: row confess; column confess" in out


def test_scale_of_the_command_takes_precedence(ggp):
    assert ggp("solve", "bucket", "--scale", "0:100")[1].startswith(
        "bucket: picker 51, drawer 49\n  by minimax"
    )
    assert ggp("solve", "bucket", "--scale", "0:1")[1].startswith("bucket: picker 0.51, drawer 0.49\n")
    data = json.loads(ggp("solve", "bucket", "--json")[1])
    assert (data["values"], data["scale"]) == ({"picker": 51, "drawer": 49}, "-50:50")


def test_lost_positions_have_no_best_moves(ggp):
    assert "  every move of first loses\n" in ggp("solve", "halving")[1]
    assert "  every move of first loses\n" in ggp("solve", "nim", "--method", "alphabeta")[1]
    assert "  best moves of x: (mark 1 1), " in ggp("solve", "tictactoe")[1]


def test_replies_to_a_strategy(ggp):
    code, out, _ = ggp("solve", "bucket", "--against", "drawer: uniform")
    assert code == 0
    assert out.splitlines() == [
        "bucket: picker 5, drawer -5",
        "  on the scale -50:50; goals: picker 55, drawer 45",
        "  given: drawer: uniform",
        "  what each move of picker earns: pick c 5, pick b 2, pick a 0",
    ]
    both = ("--against", "even: show 1", "--against", "odd: uniform")
    data = json.loads(ggp("solve", "morra", *both, "--json")[1])
    assert (data["values"], data["replies"], data["scale"]) == ({"even": 45.0, "odd": 55.0}, {}, "-5:5")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["morra", "--scale", "1"], "a scale is two different numbers"),
        (["morra", "--against", "odd"], "a strategy begins with its role, even or odd"),
        (["morra", "--against", "odd: uniform", "--method", "cfr"], "--against allows no --method"),
        (["leduc_poker", "--against", "first: uniform"], "every role sees the state or moves once"),
        (
            ["goofspiel", "--against", "left: uniform", "--against", "left: uniform"],
            "a role has two strategies",
        ),
        (["blocker", "--against", "crosser: uniform", "--seconds", "0"], "when time was up"),
    ],
)
def test_what_cannot_be_done_is_one_line(ggp, arguments, message):
    code, _, err = ggp("solve", *arguments)
    assert code != 0
    assert message in err
    assert "Traceback" not in err


def test_info_shows_the_scale(ggp):
    out = ggp("games", "info", "bucket")[1]
    assert "goal 0 means -50, goal 100 means 50" in out
    assert "on the scale -50:50" in out
    assert json.loads(ggp("games", "info", "bucket", "--scale", "0:1", "--json")[1])["scale"] == "0:1"
    assert "scale" not in ggp("games", "info", "nim")[1]
