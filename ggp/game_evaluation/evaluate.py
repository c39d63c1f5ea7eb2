"""evaluate: play the matches that a game needs, solve it if it is small, and collect the figures."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ggp.engines.batches import require_compiled
from ggp.engines.compiled import CompiledGame
from ggp.game import Game, hides_information
from ggp.game_evaluation.exact import shortest_seen, solved
from ggp.game_evaluation.figures import DEFINITIONS, UNEQUAL, Figure, fitness_of
from ggp.game_evaluation.measuring import (
    coverage,
    of_equal_searches,
    of_random_matches,
    players_of,
    skill_of,
    strong_share,
)
from ggp.integers import check_integers
from ggp.players.advisors.equilibrium import prepare_equilibria
from ggp.search.forest.self_play import SelfPlay, joined, self_play
from ggp.search.tree.options import MctsOptions
from ggp.solver import SolverError, SolverLimits, solve
from ggp.solver.solution import prepare_valuation

LADDER_WINS = 0.6
"""Share of the points that the stronger search must earn on each rung."""
NARROW = 0.05
"""Half the width of an interval at which no more matches are played."""
ROUND = 128
"""Matches between two checks of the intervals."""
SOLVED_SHARE = 0.3
"""Share of the budget for solving."""
PROBED = 32
"""Number of searches from whose time the budget is planned."""
HIDDEN = "hidden information: figures of random matches, and of an equilibrium if the game is small"
COMPARISONS = 3.0
"""What equal searches and a whole ladder cost, in matches between equal searches."""
PREPARED_STATES = 1000
"""States enumerated to load the kernels of the solver."""
MIN_MATCHES, MIN_SIMULATIONS = 32, 16
SCHEMA = 1
Report: TypeAlias = Callable[[str, int, int], None]
"""Called with what is done, how much of it, and of how much."""


@dataclass(frozen=True)
class EvaluationTerms:
    """Amounts of play, and limits.

    simulations  playouts per decision of the stronger search
    matches      between searches, at most, for each comparison; fewer where intervals are narrow before
    playouts     random matches
    seconds      for everything; then what has been played counts
    threads      None: as many as there are processors
    """

    simulations: int = 256
    matches: int = 128
    playouts: int = 512
    step_limit: int = 500
    seconds: float = 60.0
    seed: int = 0
    threads: int | None = None

    def __post_init__(self) -> None:
        check_integers(self, simulations=1, matches=1, playouts=1, step_limit=1, seed=None, threads=1)


@dataclass
class Evaluation:
    """The figures of one game; `notes` say what is missing and why."""

    game: str
    roles: tuple[str, ...]
    figures: list[Figure] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0
    is_interrupted: bool = False

    def __repr__(self) -> str:
        return f"<Evaluation of {self.game}: {len(self.figures)} figures>"

    def __getitem__(self, name: str) -> Figure:
        return {figure.name: figure for figure in self.figures}[name]

    def __contains__(self, name: object) -> bool:
        return any(figure.name == name for figure in self.figures)

    def put(self, figures: list[Figure]) -> None:
        """Add figures that have a sample; one with the name of an earlier one replaces it."""
        known = {each.name: each for each in self.figures}
        known |= {each.name: each for each in figures if math.isfinite(each.high - each.low)}
        self.figures = [known[name] for name in DEFINITIONS if name in known]

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "schema": SCHEMA,
            "game": self.game,
            "roles": list(self.roles),
            "figures": [figure.to_dict() for figure in self.figures],
            "notes": self.notes,
            "seconds": round(self.seconds, 2),
        }


def evaluate(
    game: Game[Any], terms: EvaluationTerms | None = None, report: Report | None = None
) -> Evaluation:
    """Measure a compiled game.

    >>> import ggp
    >>> found = evaluate(ggp.load("tictactoe"), EvaluationTerms(simulations=32, matches=32, playouts=64))
    >>> found["balance"].value, found["balance"].source, found["completion"].value
    (1.0, 'solution', 1.0)

    Raises GameError for games that are not compiled. Ctrl-C ends it with the figures so far.
    """
    return _Evaluator(require_compiled(game), terms or EvaluationTerms(), report).run()


def _prepare(game: CompiledGame) -> None:
    """Compile the kernels that an evaluation needs, or load them, before its budget begins."""
    if hides_information(game):
        prepare_equilibria()
        return
    prepare_valuation()
    self_play(game, 1, 1, step_limit=1)
    with suppress(SolverError, MemoryError):
        solve(game, SolverLimits(states=PREPARED_STATES, may_use_disk=False))


class _Evaluator:
    def __init__(self, game: CompiledGame, terms: EvaluationTerms, report: Report | None) -> None:
        self.game, self.terms, self.report = game, terms, report or (lambda what, done, total: None)
        _prepare(game)
        self.begin = time.monotonic()
        self.deadline = self.begin + terms.seconds
        self.players = players_of(game)
        self.is_hidden = hides_information(game)
        self.found = Evaluation(game.name, tuple(str(game.roles[r]) for r in self.players))
        self.parts: list[SelfPlay] = []
        self.exact: list[Figure] = []
        self.matches, self.simulations = terms.matches, terms.simulations
        self.options = MctsOptions(step_limit=terms.step_limit)

    def run(self) -> Evaluation:
        found = self.found
        try:
            self.measure()
        except KeyboardInterrupt:
            found.is_interrupted = True
            found.notes.append("interrupted")
        if self.is_late():
            found.notes.append(f"stopped after {self.terms.seconds:g} s: long matches may be missing")
        found.seconds = time.monotonic() - self.begin
        return found

    def measure(self) -> None:
        terms, found = self.terms, self.found
        random = self.play("random matches", np.zeros((terms.playouts, len(self.game.roles)), np.int64))
        found.put([*of_random_matches(self.game, random), *coverage(self.game, self.parts)])
        if self.is_late():
            found.figures = [each for each in found.figures if each.name != "completion"]
            found.notes.append("random matches did not end within the budget, so completion is unknown")
            return
        if self.is_hidden:
            found.notes.append(HIDDEN)
            self.solve()
            return
        self.solve()
        self.fit(random)
        self.play_equals()
        if len(self.players) > 1:
            self.climb()
        else:
            found.notes.append("one role: no balance and no opponents of half the strength")
        found.put(coverage(self.game, self.parts))
        if len(self.players) > 1:
            found.put(fitness_of(found.figures))

    def is_late(self) -> bool:
        return time.monotonic() > self.deadline

    def fit(self, random: SelfPlay) -> None:
        """Reduce the number of matches, then of playouts, to the budget: matches are played side by side, so
        that otherwise none would end in time."""
        begin = time.monotonic()
        length = float(random.length.mean()) if len(random.length) else 1.0
        self_play(self.game, self.simulations, PROBED, options=self.options, step_limit=1)
        comparisons = COMPARISONS if len(self.players) > 1 else 1.0
        of_one = (time.monotonic() - begin) / PROBED * length * comparisons
        of_all, left = of_one * self.matches, max(0.0, self.deadline - time.monotonic())
        while of_all > left and (self.matches > MIN_MATCHES or self.simulations > MIN_SIMULATIONS):
            if self.matches > MIN_MATCHES:
                self.matches //= 2
            else:
                self.simulations //= 2
            of_all /= 2
        if (self.matches, self.simulations) != (self.terms.matches, self.terms.simulations):
            self.found.notes.append(
                f"for the budget only {self.matches} matches with {self.simulations} playouts per decision"
            )

    def play(self, what: str, simulations: NDArray[np.int64]) -> SelfPlay:
        """Matches with these playouts per decision, int64[N, R], within the budget."""
        total = len(simulations)

        def is_over(ended: int) -> bool:
            self.report(what, ended, total)
            return self.is_late()

        played = self_play(
            self.game,
            simulations,
            total,
            seed=self.terms.seed * 1000 + len(self.parts),
            step_limit=self.terms.step_limit,
            options=self.options,
            threads=self.terms.threads,
            is_over=is_over,
        )
        self.parts.append(played)
        return played

    def solve(self) -> None:
        self.report("solving", 0, 1)
        self.exact = solved(self.game, time.monotonic() + SOLVED_SHARE * self.terms.seconds)
        self.found.put(self.exact)

    def play_equals(self) -> None:
        """Equal searches in all seats, until the interval of the balance is narrow."""
        played: list[SelfPlay] = []
        for count in range(0, self.matches, ROUND):
            if self.is_late():
                break
            size = (min(ROUND, self.matches - count), len(self.game.roles))
            played.append(self.play("equal searches", np.full(size, self.simulations, np.int64)))
            figures = of_equal_searches(self.game, joined(played))
            self.found.put([each for each in figures if each.sample])
            self.found.put(self.exact)
            if all(each.high - each.low <= 2 * NARROW for each in figures if each.name == "advantage"):
                break
        if played and len(self.players) == 1 and "shortest" not in self.found:
            self.found.put(shortest_seen(self.game, joined(self.parts)))

    def climb(self) -> None:
        """Searches with all playouts against half of them, those against a quarter, and so on."""
        rungs: list[Figure] = []
        simulations = self.simulations
        while simulations >= 2 and (figure := self.play_unequal(simulations)).sample:
            if not rungs:
                self.found.put([figure])
            rungs.append(figure)
            simulations //= 2
        if rungs:
            value, low, high = (
                float(sum(getattr(rung, end) > LADDER_WINS for rung in rungs))
                for end in ("value", "low", "high")
            )
            self.found.put([Figure("ladder", value, low, high, rungs[0].sample, UNEQUAL), skill_of(rungs)])

    def play_unequal(self, simulations: int) -> Figure:
        """Points of a search with `simulations` playouts against one with half, in all seats in turn."""
        count = min(ROUND, self.matches)
        each = np.full((count, len(self.game.roles)), simulations // 2, np.int64)
        strong = np.arange(count) % len(self.players)
        each[np.arange(count), np.array(self.players)[strong]] = simulations
        found = self.play(f"{simulations} against {simulations // 2} playouts", each)
        return strong_share(self.game, found, strong)
