"""Pictures of states: figures besides the board, recognized from the rules alone."""

import pytest

from gdl.syntax.parser import parse, parse_term
from ggp.analysis.figure_finder import find_figures
from ggp.analysis.figures import line_text
from ggp.analysis.picture import find_picture
from ggp.analysis.sheet_comment import read_comment
from ggp.engines.loading import load


def drawn(name, *joint_moves):
    """The picture of a bundled game after some joint moves, and the game's picture."""
    game = load(name, engine="reasoner")
    state = game.initial_state()
    picture = find_picture(game.program, game.facts(state))
    for joint_move in joint_moves:
        state = game.next_state(state, [parse_term(move) for move in joint_move])
    return [line.rstrip() for line in picture.text(game.facts(state))]


DOTS = ["4 +---+   +   +", "", "3 +   +   +   +", "", "2 +   +   +   +", "              |", "1 +   +   +   +"]
DOTS += ["  a   b   c   d", "first to move", "score  first 0  second 0"]


@pytest.mark.parametrize(
    ("name", "joint_moves", "at", "lines"),
    [
        ("dotsandboxes", [("(draw (across 1 4))", "noop"), ("noop", "(draw (upright 4 1))")], 0, DOTS),
        ("maze", [["(walk north)"]], 0, ["9 . . # . . . . . ."]),
        ("maze", [["(walk north)"]], 7, ["2 a . # # . # . . ."]),
        ("maze", [["(walk north)"]], -1, ["step 1 of 40"]),
        ("nim", [("(reduce d 2)", "noop")], 2, ["c  5  o o o o o", "d  2  o o", "second to move"]),
        ("goofspiel", [("(bid 2)", "(bid 5)")], 0, ["hand  left 1 3 4 5  right 1 2 3 4"]),
    ],
)
def test_states_of_bundled_games_are_drawn(name, joint_moves, at, lines):
    assert drawn(name, *joint_moves)[at:][: len(lines)] == lines


def test_what_roles_hold_is_listed_by_role():
    assert "score  left 0  right 2" in drawn("goofspiel", ["(bid 2)", "(bid 5)"])
    assert "holds  first king  second jack" in drawn("kuhn_poker", ["noop", "noop", "(deal king jack)"])


def test_lines_may_be_fluents_of_their_own_in_row_and_column_order():
    rules = """(role a) (init (h 1 1)) (row 1) (row 2) (row 3) (gap 1) (gap 2)
      (<= (next (h ?r ?c)) (row ?r) (gap ?c)) (<= (next (v ?r ?c)) (gap ?r) (row ?c))"""
    (figure,) = find_figures(parse(rules), [parse_term("(h 1 1)")])
    lines = [line_text(line) for line in figure.lines([parse_term("(h 1 2)"), parse_term("(v 2 3)")])]
    assert lines == ["3 +   +   +", "          |", "2 +   +   +", "", "1 +   +---+", "  1   2   3"]


def test_long_hands_take_a_line_per_role():
    rules = "(role left) (role right)" + "".join(
        f"(init (hand {role} card{n}))" for role in ("left", "right") for n in range(8)
    )
    program = parse(rules)
    facts = [rule.head.arguments[0] for rule in program.rules_for("init", 1)]
    lines = find_picture(program, facts).text(facts)
    assert lines[0] == "hand"
    assert lines[1].startswith("  left card0 card1")


@pytest.mark.parametrize(
    ("name", "first"),
    [
        *(("tictactoe", "x"), ("sheepandwolf", "wolf"), ("checkers", "black"), ("dicerace", "red")),
        ("bucket", "picker"),
    ],
)
def test_whose_turn_it_is_is_said_in_words(name, first):
    lines = drawn(name)
    assert f"{first} to move" in lines
    assert not [line for line in lines if "control" in line or "(turn" in line]


def test_a_fact_about_a_role_is_not_taken_for_its_turn():
    rules = "(role a) (role b) (init (dealer a)) (<= (next (dealer ?r)) (true (dealer ?r)))"
    rules += "(<= (legal ?r go) (role ?r) (true (dealer ?_s)))"
    assert find_figures(parse(rules), [parse_term("(dealer a)")]) == ()


@pytest.mark.parametrize(
    "rules",
    [
        "(init (at 1 1)) (s 1 2) (s 2 3) (s 3 4) (<= (next (at ?y ?y)) (true (at ?x ?x)) (s ?x ?y))",
        "(init (pair (f 1) (g 2)))",
        "(init (big a 100)) (init (big b 3))",
    ],
)
def test_other_facts_are_left_as_they_are(rules):
    program = parse(rules)
    facts = [rule.head.arguments[0] for rule in program.rules_for("init", 1)]
    assert find_picture(program, facts).text(facts) == list(map(str, facts))


def test_sheet_comment_of_bundled_games():
    comment = read_comment(load("nim", engine="reasoner").program.source.text)
    assert comment.title == "Nim with heaps of 1, 3, 5 and 7, normal play"
    assert comment.rules[0].startswith("In turn a player makes one heap smaller")
    assert comment.fields["value"].startswith("second role wins")


@pytest.mark.parametrize(
    ("text", "title", "rules"),
    [
        ("; Melting ice. Two penguins\n; push.\n;\n; roles: a, b\n", "Melting ice", "Two penguins push."),
        ("; Melting ice\n; Two penguins\n; push.\n", "Melting ice", "Two penguins push."),
    ],
)
def test_title_is_the_first_line_up_to_a_full_stop(text, title, rules):
    comment = read_comment(f"{text}(role a)")
    assert (comment.title, comment.rules) == (title, (rules,))


def test_sheet_comment_of_other_authors():
    text = ";;;;;;;;;\n;; Tic Tac Toe \x1b[31m\n;;;;;;;;;\n\n(role x) ; first\n"
    assert read_comment(text).title == "Tic Tac Toe [31m"
    assert read_comment("% Infix.\nrole(x).").title == "Infix"
    assert read_comment("") == read_comment("(role x) ; not an opening comment")


def test_captured_pieces_and_discs_are_counted():
    game = load("checkers", engine="reasoner")
    start = game.facts(game.initial_state())
    picture = find_picture(game.program, start)
    assert "lost" not in "".join(picture.text(start))
    left = [fact for fact in start if str(fact) != "(cell 1 1 white_man)"]
    assert picture.text(left)[-1] == "pieces lost  white ○"
    man, king = map(parse_term, ("(cell 2 6 black_man)", "(cell 2 6 black_king)"))
    assert picture.text([*(fact for fact in left if fact != man), king])[-1] == "pieces lost  white ○"
    assert "discs  black 3  white 3" in drawn("othello_4x4", ["(place 1 2)", "noop"], ["noop", "(place 1 1)"])
    assert "turns without progress 0 of 40" in drawn("checkers")
