"""Boards: which fluents are recognized as one, and how states are drawn."""

from pathlib import Path

import pytest

from gdl.syntax.parser import parse, parse_term
from ggp.analysis.board import layout, legend
from ggp.analysis.board_finder import find_board, ordered
from ggp.analysis.fluent_domains import fluent_domains
from ggp.engines.loading import load

GAMES = Path(__file__).resolve().parents[3] / "games"


def board_of(rules, *facts):
    terms = [parse_term(fact) for fact in facts]
    return find_board(parse(rules), terms)


def draw(board, facts):
    """The lines of text of a state."""
    cells = {cell: board.label(stack[0]) for cell, stack in board.contents(facts).items()}
    return ["".join(text for text, _ in line) for line in layout(board, cells, board.standing_walls(facts))]


def drawn(rules, *facts, later=None):
    board = board_of(rules, *facts)
    assert board is not None
    return draw(board, [parse_term(fact) for fact in (later or facts)])


def grid(template, columns, rows):
    return [template.format(x=x, y=y) for x in columns for y in rows]


def inits(facts):
    return "\n".join(f"(init {fact})" for fact in facts)


def test_board_of_cell_x_y_content():
    facts = grid("(cell {x} {y} b)", "123", "12")
    later = [fact.replace("2 1 b", "2 1 x") for fact in facts]
    rules = inits(facts) + "(<= (next (cell ?x ?y ?p)) (true (cell ?x ?y ?p)))"
    assert drawn(rules, *facts, later=later) == ["2 . . .", "1 . x .", "  1 2 3"]


@pytest.mark.parametrize(
    "template", ["(at {y} {x} {{}})", "(at {{}} {x} {y})", "(at {x} {{}} {y})"], ids=["yx", "front", "middle"]
)
def test_board_finds_coordinates_at_any_position(template):
    facts = [fact.format("empty") for fact in grid(template, "123", "123")]
    facts[0] = template.format(x=1, y=1).format("rock")
    board = board_of(inits(facts), *facts)
    assert board is not None
    assert (len(board.across.values), len(board.down.values)) == (3, 3)
    assert board.blanks == (("empty",),)
    assert draw(board, [parse_term(fact) for fact in facts]) == ["3 . . .", "2 . . .", "1 r . .", "  1 2 3"]


def test_board_is_found_without_a_fact_in_the_initial_state():
    rules = """(column 1) (column 2) (column 3) (succ 1 2) (succ 2 3) (role red) (role blue)
      (<= (next (cell ?x 1 ?p)) (does ?p (drop ?x)))
      (<= (next (cell ?x ?z ?p)) (does ?p (drop ?x)) (true (cell ?x ?y red)) (succ ?y ?z))
      (<= (legal ?p (drop ?x)) (role ?p) (column ?x))"""
    board = board_of(rules)
    facts = [parse_term("(cell 3 2 red)"), parse_term("(cell 1 1 blue)")]
    assert draw(board, facts) == ["3 . . .", "2 . . r", "1 b . .", "  1 2 3"]
    assert legend(board, [parse_term("(cell 3 2 red)")]) == [("r", "red")]


def test_board_with_letters_and_a_successor_order():
    facts = [f"(on {x} {y} n)" for x in ("west", "mid", "east") for y in "abc"]
    rules = inits(facts) + "(right west mid) (right mid east)"
    board = board_of(rules, *facts)
    assert [value[0] for value in board.across.values] == ["west", "mid", "east"]
    assert [value[0] for value in board.down.values] == ["a", "b", "c"]


def test_board_with_cells_named_by_one_argument():
    facts = [f"(cell {x}{y} {'p' if x == 'b' else 'e'})" for x in "abc" for y in "123"]
    assert drawn(inits(facts), *facts) == ["3 . p .", "2 . p .", "1 . p .", "  a b c"]


def test_board_of_boards():
    facts = [f"(cell {i} {j} {x} {y} b)" for i in "12" for j in "12" for x in "12" for y in "12"]
    later = [fact.replace("2 1 1 2 b", "2 1 1 2 x") for fact in facts]
    upper, lower = ["2 . .   . .", "1 . .   . ."], ["2 . .   x .", "1 . .   . ."]
    assert drawn(inits(facts), *facts, later=later) == [*upper, "", *lower, "  1 2   1 2"]


def test_board_counts_only_cells_that_exist():
    facts = grid("(cell {x} {y} b)", "123", "123")
    rules = inits([*facts, "(step 1)"]) + "".join(f"(succ {n} {n + 1})" for n in range(1, 50))
    rules += "(<= (next (step ?n)) (true (step ?m)) (succ ?m ?n))"
    rules += "(<= (next (cell ?x ?z b)) (true (cell ?x ?y b)) (succ ?y ?z))"
    assert len(drawn(rules, *facts, "(step 1)")) == 4


def test_board_keeps_rows_that_are_empty_in_the_beginning():
    facts = grid("(piece {x} {y} white)", "1234", "12") + grid("(piece {x} {y} black)", "1234", "56")
    rules = inits(facts) + "".join(f"(up {n} {n + 1})" for n in range(1, 6))
    rules += "(<= (next (piece ?x ?z ?p)) (true (piece ?x ?y ?p)) (up ?y ?z))"
    lines = drawn(rules, *facts)
    assert len(lines) == 7
    assert lines[2] == "4 . . . ."


def test_board_of_cells_that_are_on_or_off():
    facts = ["(lit 1 1)", "(lit 1 2)", "(lit 2 2)", "(lit 3 3)"]
    assert drawn(inits(facts), *facts) == ["3 . . l", "2 l l .", "1 l . .", "  1 2 3"]


def test_board_per_side():
    facts = [f"(cell {side} {x} {y} b)" for side in ("left", "right") for x in "123" for y in "12"]
    later = [fact.replace("right 2 1 b", "right 2 1 k") for fact in facts]
    lines = ["2 . . .   . . .", "1 . . .   . k .", "  1 2 3   1 2 3"]
    assert drawn(inits(facts), *facts, later=later) == lines


def test_board_lays_moving_things_over_cells():
    facts = [*grid("(cell {x} {y} v)", "123", "123"), "(position red 2 2)"]
    rules = inits(facts) + "(<= (next (position red ?x ?y)) (true (cell ?x ?y v)))"
    assert drawn(rules, *facts)[1].split() == ["2", ".", "r", "."]


def test_board_goes_down_if_the_rules_name_rows():
    facts = grid("(cell {x} {y} b)", "123", "123")
    rules = inits(facts) + "(<= (next (cell ?row ?col ?p)) (true (cell ?row ?col ?p)))"
    later = [fact.replace("1 3 b", "1 3 x") for fact in facts]
    assert drawn(rules, *facts, later=later) == ["1 . . x", "2 . . .", "3 . . .", "  1 2 3"]


@pytest.mark.parametrize(
    "facts",
    [
        ["(heap a 1)", "(heap b 2)", "(heap c 3)"],
        ["(score white 0)", "(score black 0)", "(step 1)"],
        ["(on disc1 disc2)", "(on disc2 disc3)", "(clear disc1)"],
        ["light", "(control white)"],
        ["(at red a 0)", "(at red b 0)", "(at blue a 0)", "(at blue b 0)"],
        [],
    ],
)
def test_board_is_not_found_in_other_facts(facts):
    assert board_of(inits(facts), *facts) is None


def test_board_labels_are_short_and_different():
    pieces = ["whitepawn", "whiteking", "whiteknight", "blackpawn", "b", "blackking"]
    facts = [f"(cell {x} {y} {pieces[x + 3 * y - 4]})" for x in (1, 2, 3) for y in (1, 2)]
    board = board_of(inits(facts), *facts)
    labels = [board.label((piece,)) for piece in pieces]
    assert len(set(labels)) == len(pieces)
    assert max(map(len, labels)) <= 2


@pytest.mark.parametrize(
    ("name", "width", "height"),
    [("tictactoe", 3, 3), ("connectfour", 7, 6), ("breakthrough", 8, 8), ("othello", 8, 8)],
)
def test_board_of_our_games(name, width, height):
    text = (GAMES / f"{name}.kif").read_text()
    board = find_board(parse(text), [])
    assert board is not None
    assert (len(board.across.values), len(board.down.values)) == (width, height)


@pytest.mark.parametrize(
    ("domain", "order"),
    [
        ({"10", "9", "-1"}, ("-1", "9", "10")),
        ({"c10", "c9", "c1"}, ("c1", "c9", "c10")),
        ({"c", "a", "b"}, ("a", "b", "c")),
        ({"b", "x", "o"}, None),
        ({"red", "blue"}, None),
    ],
)
def test_ordered_knows_natural_orders(domain, order):
    assert ordered(domain) == order


def test_fluent_domains_follow_the_rules_and_what_base_declares():
    rules = """(role a) (role b) (succ 1 2) (succ 2 3)
      (init (at a 1)) (init (free 1 2))
      (<= (next (at ?r ?y)) (does ?r (go ?y)) (true (at ?r ?x)) (succ ?x ?y))
      (<= (legal ?r (go ?y)) (role ?r) (succ ?x ?y))
      (<= (next (free ?x ?y)) (succ ?x ?y) (not (true (at b ?x))))"""
    domains = fluent_domains(parse(rules))
    assert domains["at", 2] == (frozenset({"a"}), frozenset({"1", "2", "3"}))
    assert domains["free", 2] == (frozenset({"1", "2"}), frozenset({"2", "3"}))
    rules = """(base (step 1)) (base (step 2)) (succ 1 2) (succ 2 3) (init (step 1))
      (<= (next (step ?n)) (true (step ?m)) (succ ?m ?n))"""
    assert fluent_domains(parse(rules))["step", 1] == (frozenset({"1", "2"}),)


def test_pieces_of_a_role_are_no_blank():
    game = load("breakthrough_4x4", engine="reasoner")
    board = find_board(game.program, game.facts(game.initial_state()))
    assert board is not None
    assert board.blanks == (None,)
