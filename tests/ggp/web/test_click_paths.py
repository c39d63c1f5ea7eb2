"""Which cells stand for a move."""

import ggp
from gdl.syntax.parser import parse_term
from ggp.analysis.board import Axis, Board, Layer
from ggp.analysis.move_reading import MoveReading


def paths(name):
    game = ggp.load(name, engine="reasoner")
    state = game.initial_state()
    reading = ggp.show(game).picture.notation.reading
    assert reading is not None
    moves = [move for role in game.roles for move in game.legal_moves(state, role)]
    return {
        str(move): [sorted(cells) for cells in path]
        for move, path in zip(moves, reading.paths(moves), strict=True)
    }


def test_move_of_a_piece_is_source_then_target():
    assert paths("checkers")["(move 2 6 1 5)"] == [[(1, 5)], [(0, 4)]]


def test_arrow_of_the_amazons_is_a_third_click():
    assert paths("amazons")["(move 1 4 1 1 1 2)"] == [[(0, 3)], [(0, 0)], [(0, 1)]]


def test_drop_is_anywhere_in_the_column():
    found = paths("connectfour")
    move = next(move for move in found if "3" in move)
    (cells,) = found[move]
    assert {column for column, _ in cells} == {2}
    assert len(cells) == 6


def test_move_without_a_place_has_no_path():
    assert paths("tictactoe")["noop"] == []


def test_moves_of_unequal_length_and_nested_terms_have_paths_of_their_own():
    axis = tuple((str(each),) for each in (1, 2, 3))
    board = Board((Layer("cell", 3, Axis((0,), axis), Axis((1,), axis)),), True, (None,))
    texts = ["(jump 1 1 2 2 3 3)", "(put (at 2 3))", "(drop 2)", "(say hello)", "noop"]
    found = [
        [sorted(cells) for cells in path] for path in MoveReading(board).paths(list(map(parse_term, texts)))
    ]
    assert found == [[[(0, 0)], [(1, 1)], [(2, 2)]], [[(1, 2)]], [[(1, 0), (1, 1), (1, 2)]], [], []]
