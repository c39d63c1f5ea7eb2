"""Bare trees: what is read, who chooses where, and where mistakes are shown."""

import pytest

from ggp.explain.bare_trees import MAX_CHARACTERS, MAX_NESTING, BareTreeError, read_tree
from ggp.search.alphabeta.events import ValueTree


def movers(text):
    tree = read_tree(text)
    return [str(tree.roles[branch.mover]) for branch in tree.root.below() if branch.mover >= 0]


@pytest.mark.parametrize(
    ("text", "value", "expected"),
    [
        ("[[3,12,8],[2,4,6],[14,5,2]]", (3, -3), ["max", "min", "min", "min"]),
        ("[-1.5, [2, [-3, 4]]]", (2, -2), ["max", "min", "max"]),
        ("min[3, max[4, 1]]", (3, -3), ["min", "max"]),
        ("[1/2: 8, 1/3: 24, 1/6: -12]", (10, -10), ["random"]),
        ("[[0.5: [1, 3], 0.5: [5, 9]], 2]", (3, -3), ["max", "random", "min", "min"]),
        ("[(1,2,3), [(4,0,1), [(2,2,2), (9,9,1)]]]", (2, 2, 2), ["p1", "p2", "p3"]),
        ("[left: 3, right: chance[4, 6]]", (5, -5), ["max", "random"]),
        ("[7[3, 12], max 5[2, 4]]", (4, -4), ["max", "min", "max"]),
    ],
)
def test_trees_say_who_chooses_and_what_it_is_worth(text, value, expected):
    assert read_tree(text).root.value() == pytest.approx(value)
    assert movers(text) == expected


def test_moves_have_names_and_positions_their_paths():
    tree = read_tree("[left: 3, [1, stay: 2]]")
    assert [branch.path for branch in tree.root.below()] == ["", "left", "b", "b.a", "b.stay"]


@pytest.mark.parametrize("best_first", [True, False])
def test_order_sorts_the_moves_of_each_player_by_their_value(best_first):
    tree = read_tree("[[4, 8], [9, 5], [2, -1]]").ordered(best_first=best_first)
    assert [str(move) for move in tree.root.moves] == (["b", "a", "c"] if best_first else ["c", "a", "b"])
    least = [[-1, 2], [4, 8], [5, 9]]
    found = sorted([leaf.goals[0] for leaf in child.children] for child in tree.root.children)
    assert found == (least if best_first else sorted(values[::-1] for values in least))


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("3", 1, "begins with"),
        ("[]", 2, "expected a value"),
        ("[3, [2, 4]", 1, "unclosed '['"),
        ("[3 4]", 4, "expected ',' or ']'"),
        ("[3, 4] 5", 8, "after the tree"),
        ("[3, ?]", 5, "unexpected character"),
        ("[(1,2), 3]", 9, "a tuple of 2 values"),
        ("[(1,2)x]", 7, "expected ',' or ']'"),
        ("[0.5: 3, 0.4: 2]", 1, "add up to 0.9"),
        ("[0.5: 3, 2]", 10, "a probability here too"),
        ("[1.5: 3]", 2, "above 0"),
        ("[1/0: 3]", 2, "like 1/3"),
        ("[a: 3, a: 4]", 8, "two moves"),
        ("max[0.5: 3, 0.5: 4]", 1, "no probabilities"),
        ("p2[3, 4]", 1, "expected one of max, min"),
        ("[99999]", 2, "values are from"),
        ("[0.123]", 2, "two decimals"),
        ("[a 3]", 2, "expected '['"),
        ("[" * 99, MAX_NESTING + 2, "at most 60 levels"),
        (f"[{'9' * 5000}]", 2, "at most 100 characters"),
        (f"[3,{' ' * MAX_CHARACTERS}4]", 1, "at most 1,048,576 characters"),
        ("(1,2,3)", 1, "begins with '['"),
        ("[3 ; 4]", 1, "unclosed '['"),
    ],
)
def test_mistakes_are_shown_with_a_caret(text, column, message):
    with pytest.raises(BareTreeError) as caught:
        read_tree(text)
    first, _, caret = str(caught.value).splitlines()[:3]
    assert first.startswith(f"<tree>:1:{column}: error TREE:")
    assert message in first
    assert caret.strip("| ").startswith("^")


def test_goals_of_a_large_tree_are_gathered_once():
    tree = read_tree("[1/2: [3, 4], 1/2: [5, 0]]")
    assert isinstance(tree, ValueTree)  # which reads the property
    assert tree.possible_goals is tree.possible_goals
