"""Walls between cells: recognized from compass words, drawn between the right cells, and no longer listed."""

from gdl import parse
from ggp.analysis.board_svg import board_svg
from ggp.analysis.picture import find_picture
from tests.ggp.analysis.test_board import draw

CELLS = "(init (at hero 1 1)) (init (at exit 3 3)) (init (at trap 2 3)) (init (at key 3 2))"


def recognized(rules):
    program = parse(rules)
    facts = [rule.head.arguments[0] for rule in program.rules_for("init", 1)]
    return find_picture(program, facts), facts


def test_direction_in_the_name_puts_the_wall_on_that_side():
    picture, facts = recognized(CELLS + "(init (blockedEast 1 1)) (init (blockedNorth 2 2))")
    assert draw(picture.board, facts) == ["3 . t e", "    -  ", "2 . . k", "1 h|. .", "  1 2 3"]
    assert picture.rest(facts) == []
    assert board_svg(picture.board, facts).count('class="wall"') == 2


def test_walls_in_an_argument_bound_a_map_whose_coordinates_go_far_beyond():
    far = " ".join(f"(succ {n} {n + 1})" for n in range(40))
    walls = "(init (wall 0 1 east)) (init (wall 1 0 north)) (init (wall 3 3 east)) (init (wall 3 3 north))"
    walls += "(init (wall 2 2 east)) (init (wall 2 2 north)) (init (wall 1 1 north)) (init (wall 1 1 west))"
    walking = "(<= (next (at ?t ?y ?x)) (true (at ?t ?x ?z)) (succ ?x ?y))"
    picture, facts = recognized(f"(role hero) {CELLS} {far} {walls} {walking}")
    assert draw(picture.board, facts) == [
        "      -",
        "3 . t e|",
        "    -  ",
        "2 . .|k",
        "  -    ",
        "1|h . .",
        "  -    ",
        "  1 2 3",
    ]


def test_a_fluent_without_a_direction_is_no_wall():
    picture, facts = recognized(CELLS + "(init (seen 1 1)) (init (east 9 9))")
    assert picture.board.walls == ()
    assert not any(picture.board.shows(fact) for fact in facts if fact.name == "east")


def test_a_sum_is_no_map_but_cells_with_sections_are():
    succ = " ".join(f"(succ {n} {n + 1})" for n in range(4))
    sums = " ".join(f"(sum {a} {b} {a + b})" for a in range(3) for b in range(3))
    track = " ".join(f"(track {a} {b} 1)" for a in range(3) for b in range(3) if (a, b) != (1, 1))
    jugs = "(init (at 0 0)) (<= (next (at ?a ?b)) (true (at ?x ?y)) (sum ?x ?y ?a) (sum ?y ?x ?b))"
    race = "(init (at 0 0)) (<= (next (at ?a ?b)) (true (at ?x ?y)) (track ?x ?y 1) (track ?a ?b 1))"
    assert recognized(f"{succ} {sums} {jugs}")[0].board is None
    assert recognized(f"{succ} {track} {race}")[0].board.holes == {(1, 1)}
