"""What is explained: values, counts and cuts of the examples in lectures."""

import pytest

from ggp.analysis.scale import Scale
from ggp.engines.loading import load
from ggp.explain.explanation import Status, text_of
from ggp.explain.page import page_of
from ggp.explain.picture import picture_of
from ggp.explain.searches import ExplainError, explain, state_of

UNIT = Scale(0, 1)
TWO_LEVELS = "[[3,12,8],[2,4,6],[14,5,2]]"


def critical(breadth, depth):
    """A tree in which each first move is best, all values 0 elsewhere."""
    return f"[{','.join([critical(breadth, depth - 1)] * breadth)}]" if depth else "0"


def test_null_windows_on_a_scale_keep_the_end_that_was_asked_for():
    tree = "[[[5,3],[5,1]],[[2,9],[6,8]]]"
    texts = {scale: [step.text for step in explain(tree, "pvs", scale=scale).steps] for scale in (None, UNIT)}
    for scale, asked in ((None, "[5−ε, 5]"), (UNIT, "[0.05−ε, 0.05]")):
        assert any("a.b: max" in text and asked in text for text in texts[scale])
        assert any(text.startswith("b fails high") for text in texts[scale])  # a move of max
        assert any(text.startswith("b.b fails low") for text in texts[scale])  # a move of min


@pytest.mark.parametrize(
    ("tree", "by", "value"),
    [
        ("[a: 1[1], b: 0[0], c: 9[9]]", "alphabeta:kept_moves=2", "1"),
        ("[a: 1, b: 0, c: 0, d: -5[-5[9[9]]]]", "alphabeta:late_move_reduction=on", "1"),
    ],
)
def test_selective_searches_err_in_bare_trees_of_any_depth(tree, by, value):
    assert (explain(tree).value, explain(tree, by).value) == ("9", value)


def test_values_from_the_table_depend_on_the_depth_only_where_they_did():
    game = load("halving")
    assert explain(game, "alphabeta:transpositions=on", depth=60).horizon == ""
    assert explain(game, "alphabeta:transpositions=on", depth=3).horizon == " to depth 3"


@pytest.mark.parametrize(
    ("by", "leaves"), [("minimax", 9), ("alphabeta", 7), ("pvs", 7), ("bisection", None)]
)
def test_two_levels_are_worth_three(by, leaves):
    found = explain(TWO_LEVELS, by)
    assert (found.value, found.best_line[0]) == ("3", "a")
    assert leaves is None or found.counts == (4, leaves)


def test_cut_branches_carry_the_bound_that_cut_them():
    found = explain(TWO_LEVELS)
    cut = {
        found.nodes[number].path: look.note
        for number, look in enumerate(found.looks())
        if look.status is Status.CUT
    }
    assert cut == {"b.b": "2 ≤ α = 3", "b.c": "2 ≤ α = 3"}
    assert [step.text for step in found.steps if "cutoff" in step.text] == [
        "cutoff at b, 2 ≤ α = 3: b, c not searched"
    ]


@pytest.mark.parametrize(("order", "leaves"), [("best", 4), ("worst", 6)])
def test_good_order_leaves_out_more_leaves(order, leaves):
    found = explain("[[4,8],[9,5],[2,-1]]", f"alphabeta:order={order}")
    assert (found.value, found.counts) == ("5", (4, leaves))


@pytest.mark.parametrize("breadth", [2, 3, 4])
@pytest.mark.parametrize("depth", [2, 3, 4, 5, 6])
def test_critical_trees_have_the_leaves_of_knuth_and_moore(breadth, depth):
    if breadth**depth > 1100:
        pytest.skip("more nodes than a text of this size may have")
    expected = breadth ** -(-depth // 2) + breadth ** (depth // 2) - 1
    assert explain(critical(breadth, depth)).counts[1] == expected


def test_pages_pictures_and_texts_show_every_step():
    found = explain(TWO_LEVELS)
    text, page, picture = text_of(found), page_of(found), picture_of(found)
    assert all(step.text in text for step in found.steps)
    assert page.count('class="node ') == picture.count('class="node ') == len(found.nodes) == 13
    assert picture.count("struck") == 2 + 1  # and in the style
    for outside in ("http://", "https://", "src=", "@import", "url("):
        assert outside not in page.replace("http://www.w3.org/2000/svg", "")


@pytest.mark.parametrize(
    ("tree", "by", "message"),
    [
        (TWO_LEVELS, "alphabeat", "Did you mean alphabeta"),
        ("[(1,2,3),(3,2,1)]", "minimax", "one or two roles"),
        ("[0.5: 1, 0.5: 2]", "alphabeta", "without chance"),
        ("[0.5: 1, 0.5: 2]", "minimax", "expectiminimax"),
    ],
)
def test_searches_that_do_not_fit_say_what_does(tree, by, message):
    with pytest.raises(ExplainError, match=message):
        explain(tree, by)


def test_null_windows_are_shown_with_epsilon():
    found = explain("[[38,55,64],[0,80,20],[100,12,30]]", "bisection", depth=2)
    texts = [step.text for step in found.steps]
    asked = [text.partition("−ε")[0].rpartition("[")[2] for text in texts if text.startswith("root: max")]
    assert asked == ["50", "25", "37", "43", "40", "38", "39"]
    assert "cutoff at a, 38 ≤ α = 39−ε: b, c not searched" in texts
    assert not any(".99" in text for text in texts)


CAPTURE = (
    "(cell 1 1 white_king) (cell 5 6 black_king) (cell 3 2 white_rook)"
    " (cell 3 5 black_queen) (control white) (quiet 0)"
)


def test_a_file_of_weights_evaluates_the_horizon(tmp_path):
    file = tmp_path / "material.txt"
    file.write_text("5 (cell ?x ?y white_rook)\n-9 (cell ?x ?y black_queen)\n40\n", encoding="utf-8")
    game = load("minichess")
    found = explain(game, f"alphabeta:evaluation={file}", state=state_of(game, CAPTURE), depth=1)
    assert (found.value, found.best_line) == ("45", ("move 3 2 3 5",))


CODE = """
def cells(game, state): return sum("x)" in str(fact) for fact in game.facts(state))
def raising(game, state): return 1 / 0
def words(game, state): return "many"
"""


def test_a_function_evaluates_the_horizon(tmp_path):
    (tmp_path / "marks.py").write_text(CODE, encoding="utf-8")
    game, by = load("tictactoe", engine="reasoner"), f"alphabeta:evaluation={tmp_path / 'marks.py'}:"
    assert explain(game, f"{by}cells", depth=3).value == "2"
    assert explain(game, by.replace("alphabeta", "minimax") + "cells", depth=3).value == "2"
    with pytest.raises(ExplainError, match="one or two roles"):
        explain(load("connectfour_3p", engine="reasoner"), by.replace("alphabeta", "maxn") + "cells")
    for name, message in [
        ("raising", "ZeroDivisionError"),
        ("words", "'many' instead of a number"),
        ("no", "no"),
    ]:
        with pytest.raises(ExplainError, match=message):
            explain(game, by + name, depth=1)


@pytest.mark.parametrize(
    ("by", "message"),
    [
        ("alphabeta:evaluation=nowhere.py:material", "there is no file .*nowhere.py"),
        ("alphabeta:evaluation=material", "module:function"),
        ("alphabeta:evaluation=nowhere.txt", "there is no file nowhere.txt"),
    ],
)
def test_evaluations_that_are_not_read_say_why(by, message):
    with pytest.raises(ExplainError, match=message):
        explain(load("tictactoe", engine="reasoner"), by)
    with pytest.raises(ExplainError, match="a number before a bracket"):
        explain(TWO_LEVELS, by)


@pytest.mark.parametrize(("leaf", "value"), [(-9, "1"), (9, "9")])
def test_a_reduced_search_that_fails_high_proves_no_bound(leaf, value):
    found = explain(f"[a: 1, b: 0, c: 0, d: 5[5[{leaf}[{leaf}]]]]", "alphabeta:late_move_reduction=on")
    assert (found.value, found.horizon) == (value, "")
    texts = [step.text for step in found.steps]
    assert "d is ≥ 5 to depth 1, which the full depth has to confirm" in texts
    assert not any("root ≥ 5" in text for text in texts)
    assert not any(step.looks[0].value == "≥ 5" for step in found.steps if 0 in step.looks)
