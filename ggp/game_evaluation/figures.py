"""What is measured about a game: the figures by name, with their definitions and sources.

Sources: Browne, "Automatic Generation and Evaluation of Recombination Games" (2008), chapter 5; Todd and
others, "GAVEL: Generating Games via Evolution and Language Models" (2024), section 4; Piette and others,
"General Board Game Concepts" (2021), which names those of Ludii.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from statistics import harmonic_mean
from typing import Any

RANDOM, EQUAL, UNEQUAL, EXACT = "random matches", "equal searches", "unequal searches", "solution"
COMBINED = "other figures"
EQUILIBRIUM = "equilibrium"
"""Sources of a figure."""

MIN_GAMES = 10
"""Minimum number of games for a percentile."""

DEFINITIONS = {
    "completion": (
        "share of random matches that end by the rules within the step limit",
        "Browne 2008, completion; GAVEL 2024",
    ),
    "duration": (
        "joint moves of a match between equal searches (of random matches without them)",
        "Browne 2008, duration",
    ),
    "branching": ("legal moves of a player who has a choice", "Ludii, branching factor"),
    "agency": ("share of joint moves at which some player has a choice", "GAVEL 2024, agency"),
    "coverage": ("share of the moves of the rules that some match has made", "GAVEL 2024, coverage"),
    "balance": (
        "1 minus the largest difference between the mean points of two roles, equal searches in all seats; "
        "exact where the game is solved: of the values under optimal play, within the bounds that an "
        "equilibrium proves where information is hidden",
        "Browne 2008, advantage; GAVEL 2024, balance",
    ),
    "advantage": (
        "points (0 to 1) of the first role minus those of the second, equal searches; exact where solved",
        "Browne 2008, advantage",
    ),
    "draws": (
        "share of matches between equal searches in which all roles get the same",
        "Browne 2008, drawishness",
    ),
    "depth": (
        "share of points of searches with all playouts against searches with half of them",
        "GAVEL 2024, strategic depth, with a search of half the strength",
    ),
    "ladder": (
        "how often doubling the playouts of a search, from 1 up to all, earns over 60 % of the points",
        'Lantz and others, "Depth in Strategic Games" (2017), skill chains',
    ),
    "skill": (
        "points that the stronger search earns over the whole ladder: 0 half of them, luck decides, 1 all",
        'Lantz and others, "Depth in Strategic Games" (2017), skill chains',
    ),
    "fitness": (
        "harmonic mean of completion, agency, coverage, balance, 1 minus draws, and skill: 0 if one of "
        "them is; its interval: all of them at their lower, or upper, ends",
        "GAVEL 2024, fitness, with skill as strategic depth",
    ),
    "drama": (
        "how far behind the winner was at the worst moment of the match, by the searches: 0 never, 1 lost",
        "Browne 2008, drama",
    ),
    "lead_changes": (
        "how often the favored role changed in a match, by the searches",
        "Browne 2008, lead change",
    ),
    "random_success": ("one role: share of random matches with the best goal found", "Browne 2008, puzzles"),
    "best_goal": (
        "one role: the highest goal, exact where solved; with chance then the mean of best play",
        "Ludii, puzzles",
    ),
    "shortest": (
        "one role: joint moves of the shortest solution; unless solved, of the shortest match with the best "
        "goal seen, so that the interval begins at 1",
        "Browne 2008, puzzles",
    ),
}
"""Name → definition and source, in the order of tables."""


@dataclass(frozen=True)
class Figure:
    """One figure of one game.

    low, high   95 % interval; equal to the value where it is exact
    sample      matches; decisions of branching, joint moves of agency, states where exact, histories of an
                equilibrium
    source      RANDOM, EQUAL, UNEQUAL, EXACT, EQUILIBRIUM or COMBINED
    """

    name: str
    value: float
    low: float
    high: float
    sample: int
    source: str

    def to_dict(self) -> dict[str, Any]:
        """For JSON: values rounded to six digits."""
        ends = {end: round(getattr(self, end), 6) for end in ("value", "low", "high")}
        rank = percentile(self.name, self.value)
        definition, reference = DEFINITIONS[self.name]
        return {**asdict(self), **ends, "percentile": rank, "definition": definition, "reference": reference}


@cache
def reference_values() -> dict[str, list[float]]:
    """Name of a figure → its values in the bundled games, by `benchmarks.evaluation_reference`; sorted."""
    text = (Path(__file__).parent / "reference.json").read_text(encoding="utf-8")
    values: dict[str, list[float]] = json.loads(text)
    return values


def percentile(name: str, value: float) -> int | None:
    """How many percent of the bundled games have at most this value; None if fewer than ten have any.

    >>> percentile("completion", 1.0)
    100
    """
    values = reference_values().get(name, [])
    if len(values) < MIN_GAMES:
        return None
    return round(100 * bisect_right(values, round(value, 4)) / len(values))


FITNESS_PARTS = ("completion", "agency", "coverage", "balance", "draws", "skill")
"""Figures whose harmonic mean is `fitness`; draws count as the share of decided matches."""


def fitness_of(figures: Sequence[Figure]) -> list[Figure]:
    """The fitness of a game; none if a part of it was not measured, unless another part is 0 already.

    >>> fitness_of([Figure("completion", 0.0, 0.0, 0.1, 50, RANDOM)])[0].value
    0.0
    """
    parts = [each for each in figures if each.name in FITNESS_PARTS]
    ends = [
        (1 - each.value, 1 - each.high, 1 - each.low)
        if each.name == "draws"
        else (each.value, each.low, each.high)
        for each in parts
    ]
    if len(parts) < len(FITNESS_PARTS) and all(value > 0 for value, _, _ in ends):
        return []
    value, low, high = (harmonic_mean([max(0.0, end) for end in each]) for each in zip(*ends, strict=True))
    return [Figure("fitness", value, low, high, min(part.sample for part in parts), COMBINED)]


def exact(name: str, value: float, states: int) -> Figure:
    """A figure from the solution of a game with `states` states."""
    return Figure(name, value, value, value, states, EXACT)
