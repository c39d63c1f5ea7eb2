"""The scale of a game's numbers: what the goals 0 and 100 mean to its author, such as -50 and 50.

A sheet says it in its opening comment, as in `; scale: -50:50`; everything between is affine.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from ggp.analysis.sheet_comment import read_comment

Goal: TypeAlias = Fraction | float

LARGEST_DENOMINATOR = 1_000_000
"""Floating-point goals within TOLERANCE of a fraction with at most this denominator are that fraction."""
TOLERANCE = 1e-9
LARGEST_SHOWN = 36
"""Fractions with a larger denominator are shown as decimal numbers."""
NUMBER = r"[+-]?(?:\d{1,9}(?:\.\d{0,9}|/[1-9]\d{0,8})?|\.\d{1,9})"
"""A regular expression: a whole number, a decimal number or a fraction, all of which Fraction reads."""


@dataclass(frozen=True)
class Scale:
    """What goal 0 and goal 100 stand for.

    >>> scale = parse_scale("-5:5")
    >>> scale.text(70), scale.text(50 - 10 / 12), scale.text(52.5), str(scale)
    ('2', '-1/12', '0.25', '-5:5')
    """

    low: Fraction = Fraction(0)
    high: Fraction = Fraction(100)

    @property
    def is_goals(self) -> bool:
        """Whether numbers are goals themselves."""
        return self == Scale()

    def value(self, goal: Goal) -> Fraction:
        """A goal on this scale; floating-point goals count as the simplest fraction near them."""
        simple = Fraction(goal).limit_denominator(LARGEST_DENOMINATOR)
        near = simple if abs(float(simple) - float(goal)) < TOLERANCE else Fraction(goal)
        return self.low + near * (self.high - self.low) / 100

    def goal(self, value: Goal) -> Fraction:
        """The inverse: the goal that a number on this scale stands for."""
        return 100 * (Fraction(value) - self.low) / (self.high - self.low)

    def text(self, goal: Goal) -> str:
        """A goal on this scale: a short decimal number, else a simple fraction, else six digits."""
        return number_text(self.value(goal))

    def __str__(self) -> str:
        return f"{number_text(self.low)}:{number_text(self.high)}"


def number_text(number: Fraction) -> str:
    """
    >>> [number_text(Fraction(n)) for n in ("-1/12", "2.5", "0.3333333333")]
    ['-1/12', '2.5', '0.333333']
    """
    if (10_000 * number).denominator == 1:
        return f"{float(number):.9g}"
    return str(number) if number.denominator <= LARGEST_SHOWN else f"{float(number):.6g}"


def parse_scale(text: str) -> Scale:
    """The scale written as what goal 0 and goal 100 stand for, `-50:50`. Raises ValueError.

    >>> parse_scale("10:10")
    Traceback (most recent call last):
    ValueError: a scale is two different numbers, what goal 0 and goal 100 stand for, ...
    """
    found = re.fullmatch(rf"\s*({NUMBER})\s*:\s*({NUMBER})\s*", text, re.ASCII)
    if found is None or Fraction(found[1]) == Fraction(found[2]):
        raise ValueError(
            "a scale is two different numbers, what goal 0 and goal 100 stand for, as in -50:50;"
            f" not {text!r}"
        )
    return Scale(Fraction(found[1]), Fraction(found[2]))


def sheet_scale(text: str) -> Scale:
    """The scale that rule text states in its opening comment; that of goals if it states none.

    >>> str(sheet_scale("; Morra.\\n;\\n; scale: -5:5")), str(sheet_scale("; scale: musical"))
    ('-5:5', '0:100')
    """
    try:
        return parse_scale(read_comment(text).fields["scale"])
    except (KeyError, ValueError):
        return Scale()
