"""The look of boards, recognized from the structure of sheets."""

import pytest

import ggp
from gdl.syntax.parser import parse, parse_term
from ggp.analysis.board_svg import board_svg, piece_markup
from ggp.analysis.picture import find_picture
from ggp.web.board_markup import board_markup

BOTH = {"left": "red", "right": "red", "top": "blue", "bottom": "blue"}


def board_of(name):
    view = ggp.show(ggp.load(name, engine="reasoner"))
    assert view.board is not None
    return view.board, view.facts


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("checkers", "checkered"),
        ("minichess", "checkered"),
        ("connectfour", "frame"),
        ("peg", "holes"),
        ("chinesecheckers_3p", "holes"),
        ("othello", "discs"),
        ("hex_5x5", "plain"),
        ("tictactoe", "plain"),
    ],
)
def test_kind_of_board_follows_from_moves_and_facts(name, kind):
    assert board_of(name)[0].style.kind == kind


def test_a1_is_dark_and_men_of_checkers_stand_on_dark_cells():
    board, facts = board_of("checkers")
    assert board.is_dark((0, 0))
    assert all(board.is_dark(cell) for cell in board.contents(facts))


@pytest.mark.parametrize("name", ["hex_3x3", "hex_11x11", "dark_hex_3x3"])
def test_edges_of_hex_belong_to_the_roles_that_connect_them(name):
    board, facts = board_of(name)
    assert dict(board.style.edges) == BOTH
    markup = board_markup(board, facts)
    assert markup.count('class="edge edge-red"') == markup.count('class="edge edge-blue"') == 2


def test_board_is_turned_for_the_role_at_the_top():
    assert board_of("checkers")[0].style.turned == ("black",)
    assert board_of("connectfour")[0].style.turned == ()


def test_a_sheet_may_choose_style_and_edges():
    sheet = """; Marks.\n;\n; board: discs\n; edges: a left, b top\n
    (role a) (role b) (index 1) (index 2) (index 3) (<= (init (cell ?x ?y e)) (index ?x) (index ?y))
    (<= (legal ?p (mark ?x ?y)) (true (cell ?x ?y e)) (role ?p))
    (<= (next (cell ?x ?y ?p)) (does ?p (mark ?x ?y)))"""
    facts = [parse_term(f"(cell {x} {y} e)") for x in (1, 2, 3) for y in (1, 2, 3)]
    board = find_picture(parse(sheet), facts).board
    assert board is not None
    assert board.style.kind == "discs"
    assert board.style.edges == (("left", "a"), ("top", "b"))
    assert board_svg(board, facts).count('class="edge') == 2
    assert find_picture(parse(sheet.replace("discs", "none")), facts).board is None


def test_kings_of_checkers_are_crowned_discs():
    board, _ = board_of("checkers")
    assert "crown" in piece_markup(board, ("black_king",), 0, 0)
    assert "groove" in piece_markup(board, ("white_man",), 0, 0)
    assert "♚" in piece_markup(board_of("minichess")[0], ("wk",), 0, 0)


def test_heads_of_tron_stay_when_the_rules_forget_them():
    game = ggp.load("tron", engine="reasoner")
    picture = ggp.show(game).picture
    before = [parse_term(text) for text in ("(cell 1 1 red)", "(cyclist red 1 1)")]
    after = [parse_term(text) for text in ("(cell 1 1 red)", "(crashed red)")]
    kept = picture.kept(before, after)
    assert list(map(str, kept)) == ["(cell 1 1 red)", "(crashed red)", "(cyclist red 1 1)"]
    assert picture.kept(before, before) == tuple(before)
    other = parse_term("(cyclist blue 4 4)")
    assert picture.kept([*before, other], [*after, other]) == (*after, other, before[1])  # one crash
