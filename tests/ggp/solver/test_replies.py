"""Payoff matrices, and values of given strategies."""

from fractions import Fraction
from itertools import product

import pytest

from ggp.analysis.scale import parse_scale, sheet_scale
from ggp.engines.loading import load
from ggp.solver.limits import UnsolvableError
from ggp.solver.payoff_matrix import payoff_matrix
from ggp.solver.replies import StrategyError, find_replies, parse_strategy
from tests.ggp.fakes import Matrix, Nim


def values(name, *strategies):
    """What the first role gets, on the scale of the sheet."""
    game = load(name, engine="reasoner")
    found = find_replies(game, [parse_strategy(text, game) for text in strategies])
    return sheet_scale(game.program.source.text).value(found.values[0])


def test_matrix_of_morra():
    game = load("morra", engine="reasoner")
    matrix = payoff_matrix(game)
    scale = sheet_scale(game.program.source.text)
    assert [[scale.value(own) for own, _ in row] for row in matrix.goals] == [[2, -3], [-3, 4]]
    assert matrix.sum == 100
    assert not matrix.dominated(0)
    assert not matrix.dominated(1)


@pytest.mark.parametrize("name", ["nim", "bucket", "goofspiel", "eightpuzzle"])
def test_games_of_several_moves_have_no_matrix(name):
    assert payoff_matrix(load(name, engine="reasoner")) is None


def test_weak_and_strict_dominance():
    rows = [50, 50, 50], [60, 60, 50], [40, 40, 40]
    game = Matrix([[[own, 50] for own in row] for row in rows], moves=("a", "b", "c"))
    found = [(str(each.move), str(each.by), each.is_strict) for each in payoff_matrix(game).dominated(0)]
    assert found == [("a", "b", False), ("c", "a", True)]


@pytest.mark.parametrize(
    ("strategies", "value"),
    [
        ((), 1),  # minimax against minimax
        (("drawer: uniform",), 5),  # expectimax against chance
        (("picker: pick b", "drawer: uniform"), 2),  # minimax against chance
        (("picker: pick c",), -5),  # expectimax against minimax
        (("picker: pick a",), -50),
        (("picker: uniform", "drawer: uniform"), Fraction(7, 3)),
    ],
)
def test_four_values_of_the_bucket_game(strategies, value):
    if strategies:
        assert values("bucket", *strategies) == value
    else:
        best = max(values("bucket", f"picker: pick {bucket}") for bucket in "abc")
        assert best == value


@pytest.mark.parametrize("p", [Fraction(0), Fraction(1, 2), Fraction(7, 12), Fraction(1)])
def test_the_two_lines_of_morra(p):
    mixed = f"even: show 1={p}, show 2={1 - p}"
    assert values("morra", mixed, "odd: show 1") == 5 * p - 3
    assert values("morra", mixed, "odd: show 2") == 4 - 7 * p
    assert values("morra", mixed) == min(5 * p - 3, 4 - 7 * p)


def test_the_lines_of_morra_meet_at_seven_twelfths():
    steps = [Fraction(k, 120) for k in range(121)]
    best = max(steps, key=lambda p: values("morra", f"even: show 1={p}, show 2={1 - p}"))
    assert best == Fraction(7, 12)
    assert values("morra", "even: show 1=7/12, show 2=5/12") == Fraction(-1, 12)


def test_one_finger_against_chance_loses_half():
    assert values("morra", "even: show 1", "odd: uniform") == Fraction(-1, 2)
    assert values("morra", "even: uniform", "odd: uniform") == 0


def test_hands_are_worth_the_same_against_a_uniform_hand():
    game = load("rockpaperscissors", engine="reasoner")
    found = find_replies(game, [parse_strategy("left: uniform", game)])
    assert set(found.replies.values()) == {50}
    assert str(found.replier) == "right"


def test_replies_agree_with_enumeration():
    """A best reply in a game of turns is the best of all pure strategies."""
    game = load("tictactoe", engine="reasoner")
    found = find_replies(game, [parse_strategy("o: uniform", game), parse_strategy("x: uniform", game)])
    assert float(found.values[0]) == pytest.approx(64.9, abs=0.3)  # known: x wins 58.5 %, draws 12.7 %
    assert sum(found.values) == 100


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "begins with its role, even or odd"),
        ("eve: uniform", "begins with its role"),
        ("even:", "'' is not a move of even"),
        ("even: show 3", "'show 3' is not a move of even"),
        ("even: show 1=x", "must be a number or a fraction"),
        ("even: show 1=1/0", "must be a number or a fraction"),
        ("even: show 1=1/2", "add up to 1/2, not 1"),
        ("even: show 1=1/2, (show 1)=1/2", "given twice"),
    ],
)
def test_other_texts_are_no_strategies(text, message):
    with pytest.raises(StrategyError, match=message):
        parse_strategy(text, load("morra", engine="reasoner"))


def test_two_free_roles_at_once_are_an_error():
    game = load("morra", engine="reasoner")
    with pytest.raises(UnsolvableError, match="even and odd choose at the same time"):
        find_replies(game, [])


def test_a_long_game_is_an_error_not_a_crash():
    with pytest.raises(UnsolvableError, match="too long"):
        find_replies(Nim(5_000, roles=("alone",)), [])


def test_scale_of_sheet_and_of_option_agree():
    scale = parse_scale("-10:0")
    matrix = payoff_matrix(load("prisoners_dilemma", engine="reasoner"))
    years = {
        (str(row), str(column)): tuple(map(scale.value, matrix.goals[i][j]))
        for (i, row), (j, column) in product(enumerate(matrix.moves[0]), enumerate(matrix.moves[1]))
    }
    assert years["silent", "confess"] == (-10, 0)
    assert years["confess", "confess"] == (-5, -5)
    assert years["silent", "silent"] == (-1, -1)
