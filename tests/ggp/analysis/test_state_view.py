"""States as pictures: well-formed SVG of the recognized board, facts in HTML otherwise, all text escaped."""

from __future__ import annotations

import random
import xml.etree.ElementTree as ElementTree
from itertools import product

import pytest

from gdl.syntax.parser import parse_term
from ggp.analysis.board import Axis, Board, Layer
from ggp.analysis.board_svg import FACT_LINES, GAP, SIDE, Grid, board_svg
from ggp.analysis.state_view import show
from ggp.engines.loading import load
from ggp.game import GameError
from tests.ggp.fakes import Nim

SVG = "{http://www.w3.org/2000/svg}"
TWO = (("1",), ("2",))
BOARD = Board((Layer("cell", 3, Axis((0,), TWO), Axis((1,), TWO)),), True, (("b",),), {"x": "x"})


def elements(svg: str, tag: str) -> list[ElementTree.Element]:
    return list(ElementTree.fromstring(svg).iter(f"{SVG}{tag}"))


@pytest.mark.parametrize(
    ("name", "cells"), [("tictactoe", 9), ("connectfour", 42), ("nineboard", 81), ("skirmish", 64)]
)
def test_state_is_drawn_as_svg_on_its_board(name, cells):
    game = load(name, engine="reasoner")
    state, rng = game.initial_state(), random.Random(name)
    for _ in range(5):
        state = game.next_state(state, [rng.choice(game.legal_moves(state, role)) for role in game.roles])
    view = show(game, state)
    svg = view._repr_svg_()
    assert svg is not None
    assert len(elements(svg, "rect")) == cells + 1
    assert view._repr_html_() is None
    occupied = view.board.contents(view.facts)
    assert len(elements(svg, "title")) == len(occupied)


def test_pieces_that_are_colors_are_discs():
    svg = board_svg(BOARD, [parse_term("(cell 1 1 red)"), parse_term("(cell 2 2 fox)")])
    (disc,) = elements(svg, "circle")
    assert (disc.get("cx"), disc.get("cy")) == (f"{SIDE * 1.5:g}", f"{SIDE * 2:g}")
    assert "fo" in [element.text for element in elements(svg, "text")]


def test_names_of_the_rules_are_escaped():
    hostile = parse_term("(cell 1 1 <script>&)")
    svg = board_svg(BOARD, [hostile, parse_term('(says "<b>)')])
    texts = [element.text for element in elements(svg, "title") + elements(svg, "text")]
    assert "<script>&" in texts
    assert '(says "<b>)' in texts
    game = load("(role <i>) (init (says <script>&))", name="<u>", engine="reasoner")
    html = show(game)._repr_html_()
    assert "<script>" not in html
    assert "<u>" not in html


def test_facts_beside_the_board_take_limited_room():
    facts = [parse_term(f"(counter {'long' * 15} {number})") for number in range(100)]
    svg = board_svg(BOARD, [*facts, parse_term(f"(note {'x' * 500})")])
    assert len(elements(svg, "text")) == 4 + FACT_LINES + 1
    assert len(svg) < 4000


def test_boards_of_boards_are_drawn_with_gaps():
    facts = [parse_term(f"(cell {' '.join(place)} b)") for place in product("12", repeat=4)]
    axis = tuple((outer, inner) for outer in "12" for inner in "12")
    board = Board((Layer("cell", 5, Axis((0, 2), axis), Axis((1, 3), axis)),), True, (("b",),))
    grid = Grid(board, 0, 0)
    assert grid.corner((0, 3)) == (0, 0)
    assert grid.corner((2, 1)) == (2 * SIDE + GAP, 2 * SIDE + GAP)
    assert grid.width == grid.height == 4 * SIDE + GAP
    assert len(elements(board_svg(board, facts), "rect")) == 17


def test_state_without_a_board_is_a_list_of_facts():
    view = show(Nim(7))
    assert view._repr_svg_() is None
    assert "<code>(heap 7)</code>" in view._repr_html_()
    assert str(view).splitlines() == ["(control left)", "(heap 7)"]


def test_state_of_another_game_is_refused():
    with pytest.raises(GameError, match="state of tictactoe"):
        show(load("tictactoe", engine="reasoner"), b"strange")
