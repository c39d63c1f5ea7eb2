"""Shapes of boards: hexagons, stars, blocks, and places that are no cells."""

from xml.etree import ElementTree

import pytest

from gdl.syntax.parser import parse
from ggp.analysis.board_finder import find_board
from ggp.analysis.board_svg import Grid, board_svg, chess_figure, is_pictured
from ggp.analysis.picture import find_picture
from ggp.engines.loading import load

GRID = "(role x) (n 1) (n 2) (n 3) (n 4) (s 1 2) (s 2 3) (s 3 4)"
GRID += "(<= (next (cell ?x ?y x)) (does x (mark ?x ?y)))"
GRID += "(<= (legal x (mark ?x ?y)) (n ?x) (n ?y))"
ALONG = "(<= (near ?x ?y ?u ?y) (s ?x ?u)) (<= (near ?x ?y ?x ?v) (s ?y ?v))"
BACK = "(<= (near ?x ?y ?u ?v) (near ?u ?v ?x ?y))"
RISING = "(<= (near ?x ?y ?u ?v) (s ?x ?u) (s ?y ?v))"
FALLING = "(<= (near ?x ?y ?u ?v) (s ?x ?u) (s ?v ?y))"
STAR = [
    f"{row}{n}" for row, length in zip("abcde", (3, 4, 5, 4, 3), strict=True) for n in range(1, length + 1)
]


def board_of(rules, facts=()):
    board = find_board(parse(rules), [parse(fact).rules[0].head for fact in facts])
    assert board is not None
    return board


def board_of_game(name):
    game = load(name, engine="reasoner")
    board = find_picture(game.program, game.facts(game.initial_state())).board
    assert board is not None
    return board


@pytest.mark.parametrize(
    ("neighbors", "shifts"),
    [
        (ALONG + FALLING + BACK, (0, 1, 2, 3)),
        (ALONG + RISING + BACK, (3, 2, 1, 0)),
        (ALONG + BACK, ()),
        (ALONG + RISING + FALLING + BACK, ()),
        (ALONG + FALLING, ()),
    ],
    ids=["six", "six, other diagonal", "four", "eight", "three"],
)
def test_six_neighbors_make_hexagons(neighbors, shifts):
    assert board_of(GRID + neighbors).row_shifts == shifts


def test_every_neighbor_of_a_hexagon_touches_it():
    board = board_of(GRID + ALONG + FALLING + BACK)
    grid = Grid(board)
    x, y = grid.middle((1, 1))
    for cell in ((0, 1), (2, 1), (1, 0), (1, 2), (2, 0), (0, 2)):
        u, v = grid.middle(cell)
        assert (x - u) ** 2 + (y - v) ** 2 == pytest.approx(44**2)


def test_lines_of_named_cells_are_centered_as_a_star():
    rules = "".join(f"(init (cell {name} blank))" for name in STAR)
    board = board_of(rules, [f"(cell {name} blank)" for name in STAR])
    assert board.row_shifts == (2, 1, 0, 1, 2)
    assert [value[0] for value in board.down.values] == list("abcde")
    assert len(Grid(board).cells()) == len(STAR)


def test_places_outside_a_board_are_not_drawn():
    board = board_of_game("peg")
    assert len(Grid(board).cells()) == 33
    drawn = ElementTree.fromstring(board_svg(board, []))
    assert len(drawn.findall("{http://www.w3.org/2000/svg}rect")) == 33 + 1


@pytest.mark.parametrize(
    ("name", "blocks"),
    [
        *(("nineboard", (3, 3)), ("pentago", (3, 3)), ("sudoku_4x4", (2, 2))),
        *(("breakthrough_4x4", (0, 0)), ("tictactoe", (0, 0))),
    ],
)
def test_blocks_come_from_facts_that_sort_coordinates(name, blocks):
    assert board_of_game(name).blocks == blocks


def test_a_checkered_board_keeps_its_light_squares():
    assert board_of_game("checkers").outside == frozenset()


def test_pieces_that_are_pictured_need_no_legend():
    assert chess_figure(["white", "queen"]) == ("white", "♛")
    assert not is_pictured(("white", "rabbit"))
