"""Scales: goals as the numbers of a game's author."""

from fractions import Fraction

import pytest

from ggp.analysis.scale import Scale, parse_scale, sheet_scale
from tests.conftest import OWN_GAMES


@pytest.mark.parametrize("text", ["", "1", "1:1", "1:2:3", "a:b", "1/0:2", "inf:2", "nan:1", "1e9:2", "１:2"])
def test_other_texts_are_errors(text):
    with pytest.raises(ValueError, match="a scale is two different numbers"):
        parse_scale(text)


@pytest.mark.parametrize("text", ["0:100", "-50:50", "10:-10", "-1/2:0.25", "0:1"])
def test_value_and_goal_are_inverse(text):
    scale = parse_scale(text)
    assert parse_scale(str(scale)) == scale
    for goal in (0, 37, 50, Fraction(100, 3), 100):
        assert scale.goal(scale.value(goal)) == goal


def test_the_numbers_of_the_lectures_are_shown_as_such():
    assert [sheet_scale(path.read_text()).text(goal) for path, goal in CASES] == ["-50", "15", "-1/12", "-5"]


CASES = [
    (next(path for path in OWN_GAMES if path.stem == name), goal)
    for name, goal in [("bucket", 0), ("bucket", 65), ("morra", 50 - 10 / 12), ("prisoners_dilemma", 50)]
]


def test_long_fractions_are_decimal():
    assert Scale().text(Fraction(9575, 96)) == "99.7396"
