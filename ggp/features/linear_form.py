"""A linear evaluation as a text: a weight for each kind of fact, such as 9 for every queen.

It is written by hand, or learned by `ggp.search.alphabeta.learning`.

    ; material, in goals of the first role
    9   (cell ?c ?r white_queen)
    -9  (cell ?c ?r black_queen)
    50

Each line is a number, then a pattern with variables: the number counts once for every fact that holds and
matches. A number alone is the constant, 50 (an even game) unless given. Source: material counts as in
Shannon, "Programming a computer for playing chess" (1950).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gdl.errors import GdlError
from gdl.syntax.parser import parse_term
from gdl.terms import Compound, Term, Variable
from ggp.analysis.scale import NUMBER
from ggp.engines.compiled import CompiledGame

MAX_BYTES = 1 << 20
MAX_WEIGHT = 10_000.0
EVEN_GOAL = 50.0
SCORES_PER_GOAL = 100


class LinearFormError(ValueError):
    """The file does not hold a linear form, or not one of this game; the message has file and line."""


@dataclass(frozen=True)
class WeightedFacts:
    """One line: the goals that each matching fact adds."""

    line: int
    weight: float
    pattern: Term


@dataclass(frozen=True)
class LinearForm:
    """The goals that the first role may expect: a constant, and something for every fact that holds."""

    name: str
    terms: tuple[WeightedFacts, ...]
    constant: float

    def __str__(self) -> str:
        """The text that `parse_linear_form` reads.

        >>> str(parse_linear_form("9 (cell ?x ?y queen)"))
        '9 (cell ?x ?y queen)\\n50'
        """
        return "\n".join([*(f"{term.weight:g} {term.pattern}" for term in self.terms), f"{self.constant:g}"])

    def scores(self, game: CompiledGame) -> NDArray[np.int32]:
        """int32[F+1] for `ggp.search.alphabeta.estimate.Estimate`: hundredths of a goal for every fluent, and
        the constant less that of an even game. Raises LinearFormError if a pattern matches no fact."""
        fluents = game.terms.fluents
        place = {fluent: f for f, fluent in enumerate(fluents)}
        scores = np.zeros(len(fluents) + 1)
        scores[-1] = self.constant - EVEN_GOAL
        for term in self.terms:
            found = (
                [place[term.pattern]]
                if term.pattern in place
                else [f for f, fluent in enumerate(fluents) if matches(term.pattern, fluent, {})]
            )
            if not found:
                raise LinearFormError(
                    f"{self.name}:{term.line}: no fact of {game.name} matches {term.pattern}"
                )
            scores[found] += term.weight
        most = MAX_WEIGHT * SCORES_PER_GOAL
        return np.rint(np.clip(SCORES_PER_GOAL * scores, -most, most)).astype(np.int32)


def matches(pattern: Term, fact: Term, bound: dict[Term, Term]) -> bool:
    """Whether a fact is an instance of a pattern; `bound`: what its variables stand for so far.

    >>> matches(parse_term("(cell ?x ?x b)"), parse_term("(cell 1 2 b)"), {})
    False
    """
    if isinstance(pattern, Variable):
        return bound.setdefault(pattern, fact) == fact
    if not isinstance(pattern, Compound) or not isinstance(fact, Compound):
        return pattern == fact
    return (
        pattern.name == fact.name
        and len(pattern.arguments) == len(fact.arguments)
        and all(map(matches, pattern.arguments, fact.arguments, [bound] * len(fact.arguments)))
    )


def parse_linear_form(text: str, name: str = "<form>") -> LinearForm:
    """The linear form in a text. Raises LinearFormError.

    >>> parse_linear_form("9 (cell ?x ?y queen)").terms[0].weight
    9.0
    >>> parse_linear_form("nine queens", "material.txt")
    Traceback (most recent call last):
    ggp.features.linear_form.LinearFormError: material.txt:1: expected a number and a fact, as in ...
    """
    terms, constant = [], EVEN_GOAL
    for line, words in _lines(text):
        found = re.match(rf"{NUMBER}(?=\s|$)", words, re.ASCII)
        if found is None:
            example = "9 (cell ?column ?row queen)"
            raise LinearFormError(
                f"{name}:{line}: expected a number and a fact, as in {example}; not {words!r}"
            )
        weight, rest = float(Fraction(found[0])), words[found.end() :].strip().lstrip("*").strip()
        if abs(weight) > MAX_WEIGHT:
            raise LinearFormError(f"{name}:{line}: weights are from -{MAX_WEIGHT:g} to {MAX_WEIGHT:g}")
        if not rest:
            constant = weight
            continue
        try:
            terms.append(WeightedFacts(line, weight, parse_term(rest)))
        except GdlError as error:
            reason = str(error).splitlines()[0]
            raise LinearFormError(f"{name}:{line}: {rest!r} is not a fact ({reason})") from None
    if not terms:
        raise LinearFormError(f"{name}: no line has a number and a fact")
    return LinearForm(name, tuple(terms), constant)


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines that say something, without comments, each with its number."""
    for line, whole in enumerate(text.splitlines(), 1):
        if words := whole.partition(";")[0].strip()[:200]:
            yield line, words


def read_linear_form(path: str) -> LinearForm:
    """The linear form in a file. Raises LinearFormError, OSError."""
    place = Path(path)
    if not place.is_file():
        raise LinearFormError(f"there is no file {path}")
    if place.stat().st_size > MAX_BYTES:
        raise LinearFormError(f"{path}: larger than {MAX_BYTES >> 20} MiB")
    try:
        return parse_linear_form(place.read_text(encoding="utf-8"), place.name)
    except UnicodeDecodeError:
        raise LinearFormError(f"{path}: not a text in UTF-8") from None
