"""Moves in notation: what is written, that no two legal moves read alike, and that it can be read back."""

import random

import pytest

import ggp
from gdl.syntax.parser import parse, parse_term
from ggp.analysis.notation import typed_key
from ggp.analysis.picture import find_picture
from tests.conftest import ROOT

STEPS = 40
GAMES = sorted(path.stem for path in (ROOT / "games").glob("*.kif"))


def notation_of(name):
    game = ggp.load(name, engine="reasoner")
    return game, ggp.show(game).picture.notation


@pytest.mark.parametrize("name", GAMES)
def test_texts_of_legal_moves_differ_and_are_read_back(name):
    game, notation = notation_of(name)
    rng = random.Random(name)
    state = game.initial_state()
    for _ in range(STEPS if name != "amazons" else 4):
        if game.is_terminal(state):
            break
        facts, joint_move = game.facts(state), []
        for role in game.roles:
            legal = game.legal_moves(state, role)
            texts = notation.texts(legal, facts)
            assert len(set(map(typed_key, texts))) == len(legal), texts
            for move, text in rng.sample(list(zip(legal, texts, strict=True)), min(5, len(legal))):
                assert notation.find(text, legal, facts) == move
                assert notation.find(f" {str(move).upper()}", legal, facts) == move
                assert text == notation.text(move, facts)  # so that lists and histories agree
            joint_move.append(rng.choice(legal))
        state = game.next_state(state, joint_move)


@pytest.mark.parametrize(
    ("name", "move", "text"),
    [
        ("tictactoe", "(mark 2 3)", "b3"),
        ("checkers", "(move 2 6 1 5)", "b6–a5"),
        ("connectfour", "(drop 4)", "4"),
        ("hex_11x11", "(mark 10 11)", "j11"),
        ("amazons", "(move 1 4 1 1 1 2)", "a4–a1/a2"),
        ("dotsandboxes", "(draw (across 1 3))", "edge a3–b3"),
        ("dotsandboxes", "(draw (upright 3 1))", "edge c1–c2"),
        ("liars_dice", "(bid 2 3)", "bid 2 of face 3"),
        ("battleship", "(hide 1 1 lying)", "hide a1 lying"),
        ("battleship", "(fire 1 3)", "a3"),
        ("sudoku_4x4", "(write 1 2 3)", "write a2 3"),
        ("nim", "(reduce c 2)", "reduce c 2"),
        ("tron", "(ride north)", "ride north"),
        ("othello", "pass", "pass"),
        ("othello", "noop", "waits"),
    ],
)
def test_moves_are_written_by_what_their_arguments_mean(name, move, text):
    assert notation_of(name)[1].text(parse_term(move)) == text


@pytest.mark.parametrize(
    ("name", "facts", "move", "text"),
    [
        ("checkers", "(cell 2 6 black_man)", "(move 2 6 1 5)", "b6–a5"),
        ("breakthrough", "(cell 1 2 white) (cell 2 3 black)", "(move 1 2 2 3)", "a2×b3"),
        ("chinesecheckers_3p", "(cell 8 3 red) (cell 7 3 red)", "(move 8 3 6 3)", "h3–f3"),
    ],
)
def test_captures_have_a_sign(name, facts, move, text):
    terms = [rule.head for rule in parse(facts).rules]
    assert notation_of(name)[1].text(parse_term(move), terms) == text


def test_best_line_knows_what_earlier_moves_left():
    game, notation = notation_of("breakthrough_4x4")
    line = [["(move 1 2 2 3)", "noop"], ["noop", "(move 1 3 1 2)"], ["(move 2 1 1 2)", "noop"]]
    found = notation.line(line, game.facts(game.initial_state()))
    assert [joint[0] for joint in found] == ["a2×b3", "waits", "b1×a2"]
    assert notation.line([["(mo", "x" * 500]], ())[0] == ["(mo", "x" * 500]


SHEET = """; A game. \n;\n; notation: {{1}}{{2}}-{{3}}{{4}}{extra}
(role p) (index 1) (index 2) (index 3)
(<= (init (cell ?x ?y b)) (index ?x) (index ?y))
(<= (legal p (go ?x ?y ?u ?v)) (index ?x) (index ?y) (index ?u) (index ?v))
(<= (legal p (hop ?x ?y ?u ?v)) (index ?x) (index ?y) (index ?u) (index ?v))
(<= (next (cell ?u ?v x)) (does p (go ?x ?y ?u ?v)))
(goal p 100) (<= terminal (true (cell 1 1 x)))"""


@pytest.mark.parametrize(
    ("extra", "texts"),
    [
        ("", ["go a1–b2", "hop a1–b2"]),
        ("\n; notation: hop {1}{2} to {3}{4}", ["a1–b2", "hop a1 to b2"]),
    ],
)
def test_a_sheet_can_say_its_own_notation(extra, texts):
    program = parse(SHEET.format(extra=extra))
    notation = find_picture(program, [parse_term("(cell 1 1 b)")]).notation
    moves = [parse_term(f"({name} 1 1 2 2)") for name in ("go", "hop")]
    assert notation.texts(moves) == texts
    assert [notation.find(text, moves) for text in texts] == moves


def test_blank_contents_that_pieces_leave_are_no_captures():
    """Half of the cells are no part of the game, so that most hold no blank."""
    sheet = """(role p) (index 1) (index 2) (index 3)
    (<= (init (cell ?x ?y dead)) (index ?x) (index ?y) (distinct ?x ?y)) (<= (init (cell ?x ?x b)) (index ?x))
    (<= (legal p (go ?x ?y ?u ?v)) (index ?x) (index ?y) (index ?u) (index ?v))
    (<= (next (cell ?x ?y b)) (does p (go ?x ?y ?u ?v)))
    (<= (next (cell ?u ?v man)) (does p (go ?x ?y ?u ?v)))"""
    start = [f"(cell {x} {y} {'dead' if x != y else 'b'})" for x in (1, 2, 3) for y in (1, 2, 3)]
    notation = find_picture(parse(sheet), list(map(parse_term, start))).notation
    facts = [parse_term(text) for text in ("(cell 1 1 man)", "(cell 2 2 b)", "(cell 3 3 man)")]
    moves = [parse_term(text) for text in ("(go 1 1 2 2)", "(go 1 1 3 3)")]
    assert notation.texts(moves, facts) == ["a1–b2", "a1×c3"]


def test_kif_notation_is_the_term_and_numbers_the_columns():
    game = ggp.load("tictactoe", engine="reasoner")
    facts = game.facts(game.initial_state())
    picture = find_picture(game.program, facts, "kif")
    assert picture.notation.text(parse_term("(mark 2 3)"), facts) == "(mark 2 3)"
    assert picture.text(facts)[3] == "  1 2 3"
    assert find_picture(game.program, facts).text(facts)[3] == "  a b c"
