"""`ggp explain`: trees as arguments and files, pictures and pages, mistakes in one place."""

import pytest

from tests.ggp.explain.test_explain import TWO_LEVELS


def test_a_tree_may_lie_in_a_file(ggp, tmp_path):
    path = tmp_path / "tree.txt"
    path.write_text("[[3, 12, 8],\n [2, 4, 6],\n [14, 5, 2]]\n")
    code, out, _ = ggp("explain", str(path))
    assert (code, "value 3\nbest line a a\n4 nodes expanded, 7 leaves evaluated\n" in out) == (0, True)
    path.write_text("[[3, 12],\n [2, 4)]\n")
    code, _, err = ggp("explain", str(path))
    assert code == 1
    assert err.splitlines() == [
        f"{path}:2:7: error TREE: expected ',' or ']', not ')'",
        " 2 |  [2, 4)]",
        "   |       ^",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("; mine, not a rule\n\n  [3, 4] ; max\n", (0, "value 4")),
        ("\ufeff[3, 4]\n", (0, "value 4")),
        ("(1, 2, 3)\n", (1, "a tree begins with '['")),
        (f"[{'3,' * 600_000}3]", (1, "at most 1,048,576 characters")),
        ("; rules\n(role x)\n", (1, "x has no legal move")),
    ],
)
def test_files_are_trees_or_rules_by_their_beginning(ggp, tmp_path, text, expected):
    path = tmp_path / "file.txt"
    path.write_text(text, encoding="utf-8")
    code, out, err = ggp("explain", str(path))
    assert (code, expected[1] in out + err) == (expected[0], True)


def test_mistakes_in_a_state_are_shown_where_they_are(ggp):
    code, _, err = ggp("explain", "tictactoe", "--state", "(cell 1 1 x)) (control o)")
    assert code == 1
    assert err.splitlines()[1:] == [" 1 | (cell 1 1 x)) (control o)", "   |             ^"]


def test_pictures_and_pages_are_written_in_place_of_the_steps(ggp, tmp_path):
    svg, html = tmp_path / "tree.svg", tmp_path / "tree.html"
    code, out, _ = ggp("explain", TWO_LEVELS, "--svg", str(svg), "--html", str(html))
    assert (code, out.count("\n")) == (0, 6)
    assert svg.read_text().startswith("<svg ")
    assert html.read_text().startswith("<!doctype html>")


@pytest.mark.parametrize("targets", [["--svg", "new", "--html", "new"], ["--svg", "tree.txt"]])
def test_no_output_replaces_another_or_the_tree(ggp, tmp_path, monkeypatch, targets):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tree.txt").write_text(TWO_LEVELS)
    code, _, err = ggp("explain", "tree.txt", *targets)
    assert (code, "a file of its own" in err) == (2, True)
    assert [path.read_text() for path in tmp_path.iterdir()] == [TWO_LEVELS]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["[[3,12", "--by", "minimax"], (1, "unclosed '['")),
        ([TWO_LEVELS, "--by", "alphabeat"], (1, "Did you mean alphabeta")),
        ([TWO_LEVELS, "--by", "alphabeta:killers=yes"], (1, "killers must be on or off")),
        ([TWO_LEVELS, "--by", "mcts", "--policy", "mist"], (1, "mist")),
        ([TWO_LEVELS, "--nodes", "1"], (2, "out of range")),
        ([TWO_LEVELS, "--state", "(x)"], (1, "begins at its root")),
        (["tictactoe", "--state", "(cell 9 9 x)"], (1, "not a fact of tictactoe")),
        (["tictactoe", "--state", "(("], (1, "unclosed '('")),
        (["tictactoo"], (2, "Did you mean tictactoe?")),
        (["morra", "--by", "pvs"], (1, "two roles choose at the same time; maxn")),
    ],
)
def test_mistakes_are_one_message(ggp, arguments, expected):
    code, out, err = ggp("explain", *arguments)
    assert (code, out) == (expected[0], "")
    assert expected[1] in err
    assert "Traceback" not in err
