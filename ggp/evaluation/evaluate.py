"""evaluate: play the matches that a game needs, solve it if it is small, and collect the figures."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ggp.engines.batches import require_compiled
from ggp.engines.compiled import CompiledGame
from ggp.evaluation.coverage import coverage
from ggp.evaluation.figures import DEFINITIONS, UNEQUAL, Figure, exact, fitness_of
from ggp.evaluation.measuring import (
    BEST_GOAL,
    of_equal_searches,
    of_random_matches,
    players_of,
    skill_of,
    strong_share,
)
from ggp.game import Game, has_percepts
from ggp.search.forest.self_play import SelfPlay, joined, self_play
from ggp.search.mcts.options import MctsOptions
from ggp.solver import SolverError, SolverLimits, solve
from ggp.solver.solution import prepare_valuation

LADDER_WINS = 0.6
"""Share of the points that the stronger search must earn on each rung."""
NARROW = 0.05
"""Half the width of an interval at which no more matches are played."""
ROUND = 128
"""Matches between two looks at the intervals."""
SOLVED_STATES = 1_000_000
SOLVED_SHARE = 0.3
"""Of the budget, for solving."""
PROBED = 32
"""Searches by whose time the budget is planned."""
COMPARISONS = 3.0
"""What equal searches and a whole ladder cost, in matches between equal searches."""
PREPARED_STATES = 1000
"""Those found to load the kernels of the solver."""
FEWEST_MATCHES, FEWEST_SIMULATIONS = 32, 16
SCHEMA = 1


@dataclass(frozen=True)
class EvaluationTerms:
    """How much is played.

    simulations  playouts per decision of the stronger search
    matches      between searches, at most, for each comparison; fewer where intervals are narrow before
    playouts     random matches
    seconds      for everything; then what has been played counts
    """

    simulations: int = 256
    matches: int = 128
    playouts: int = 512
    step_limit: int = 500
    seconds: float = 60.0
    seed: int = 0


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
        """The figure with this name. Raises KeyError."""
        for figure in self.figures:
            if figure.name == name:
                return figure
        raise KeyError(name)

    def put(self, figures: list[Figure]) -> None:
        """Add figures that have a sample; one with the name of an earlier one replaces it."""
        for figure in figures:
            if not math.isfinite(figure.high - figure.low):
                continue
            self.figures = [each for each in self.figures if each.name != figure.name]
            self.figures.append(figure)
        order = list(DEFINITIONS)
        self.figures.sort(key=lambda each: order.index(each.name))

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
    game: Game[Any],
    terms: EvaluationTerms | None = None,
    report: Callable[[str, int, int], None] | None = None,
) -> Evaluation:
    """Measure a compiled game. report: called with what is done, how much of it, and of how much.

    >>> import ggp
    >>> found = evaluate(ggp.load("tictactoe"), EvaluationTerms(simulations=32, matches=32, playouts=64))
    >>> found["balance"].value, found["balance"].source, found["completion"].value
    (1.0, 'solution', 1.0)

    Raises GameError for games that are not compiled. Ctrl-C ends it with the figures so far.
    """
    return _Evaluator(require_compiled(game), terms or EvaluationTerms(), report).run()


def prepare_evaluation(game: CompiledGame) -> None:
    """Compile the kernels that an evaluation needs or load them from the cache, before its budget begins."""
    if has_percepts(game):
        self_play(game, 0, 1, step_limit=1)
        return
    self_play(game, 1, 1, step_limit=1)
    prepare_valuation()
    with suppress(SolverError, MemoryError):
        solve(game, SolverLimits(states=PREPARED_STATES, may_use_disk=False))


class _Evaluator:
    def __init__(
        self,
        game: CompiledGame,
        terms: EvaluationTerms,
        report: Callable[[str, int, int], None] | None,
    ) -> None:
        self.game, self.terms, self.report = game, terms, report
        prepare_evaluation(game)
        self.begin = time.monotonic()
        self.deadline = self.begin + terms.seconds
        self.players = players_of(game)
        self.found = Evaluation(game.name, tuple(str(game.roles[r]) for r in self.players))
        self.parts: list[SelfPlay] = []
        self.exact: list[Figure] = []
        self.matches, self.simulations = terms.matches, terms.simulations

    def run(self) -> Evaluation:
        found = self.found
        try:
            self.measure()
        except KeyboardInterrupt:
            found.is_interrupted = True
            found.notes.append("interrupted")
        if time.monotonic() > self.deadline:
            found.notes.append(f"stopped after {self.terms.seconds:g} s: long matches may be missing")
        found.seconds = time.monotonic() - self.begin
        return found

    def measure(self) -> None:
        """Everything, in the order in which it tells most."""
        terms, found = self.terms, self.found
        random = self.play("random matches", np.zeros((terms.playouts, len(self.game.roles)), np.int64))
        found.put([*of_random_matches(self.game, random), *coverage(self.game, self.parts)])
        if time.monotonic() > self.deadline:
            found.figures = [each for each in found.figures if each.name != "completion"]
            found.notes.append("random matches did not end within the budget, so completion is unknown")
            return
        if has_percepts(self.game):
            found.notes.append("hidden information: only random matches, since searches would see all")
        else:
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

    def fit(self, random: SelfPlay) -> None:
        """Play fewer matches, and then with fewer playouts, if the budget would not carry all of them.

        All matches of a comparison are played at once: without that, none would have ended in time.
        """
        length = float(random.length.mean()) if len(random.length) else 1.0
        options = MctsOptions(step_limit=self.terms.step_limit)
        begin = time.monotonic()
        self_play(self.game, self.simulations, PROBED, options=options, step_limit=1)
        of_all = (time.monotonic() - begin) / PROBED * length * self.matches * COMPARISONS
        left = max(0.0, self.deadline - time.monotonic())
        while of_all > left and (self.matches > FEWEST_MATCHES or self.simulations > FEWEST_SIMULATIONS):
            if self.matches > FEWEST_MATCHES:
                self.matches //= 2
            else:
                self.simulations //= 2
            of_all /= 2
        if (self.matches, self.simulations) != (self.terms.matches, self.terms.simulations):
            self.found.notes.append(
                f"for the budget only {self.matches} matches with {self.simulations} playouts per decision"
            )

    def play(self, what: str, simulations: np.ndarray[Any, np.dtype[np.int64]]) -> SelfPlay:
        """Matches with these playouts per decision, int64[N, R], as far as the budget carries."""
        total = len(simulations)

        def is_over(ended: int) -> bool:
            if self.report is not None:
                self.report(what, ended, total)
            return time.monotonic() > self.deadline

        seed = self.terms.seed * 1000 + len(self.parts)
        limit = self.terms.step_limit
        played = self_play(
            self.game,
            simulations,
            total,
            seed=seed,
            options=MctsOptions(step_limit=limit),
            step_limit=limit,
            is_over=is_over,
        )
        self.parts.append(played)
        return played

    def solve(self) -> None:
        """Values instead of estimates, if the game is small enough."""
        deadline = time.monotonic() + SOLVED_SHARE * self.terms.seconds
        if self.report is not None:
            self.report("solving", 0, 1)
        try:
            solution = solve(
                self.game,
                SolverLimits(states=SOLVED_STATES, deadline=deadline, may_use_disk=False, mebibytes=1024),
            )
        except (SolverError, MemoryError):
            return
        values = [solution.values()[r] for r in self.players]
        states = solution.space.state_count
        if len(values) == 1:
            self.exact = [exact("best_goal", values[0], states)]
            return
        self.exact = [
            exact("balance", 1 - (max(values) - min(values)) / BEST_GOAL, states),
            exact("advantage", (values[0] - values[1]) / BEST_GOAL, states),
        ]

    def play_equals(self) -> None:
        """Equal searches in all seats, until the interval of the balance is narrow."""
        played: list[SelfPlay] = []
        count = 0
        while count < self.matches and time.monotonic() < self.deadline:
            size = min(ROUND, self.matches - count)
            simulations = np.full((size, len(self.game.roles)), self.simulations, np.int64)
            played.append(self.play("equal searches", simulations))
            count += size
            figures = of_equal_searches(self.game, joined(played))
            self.found.put([each for each in figures if each.sample])
            self.found.put(self.exact)
            if all(is_narrow(each) for each in figures if each.name == "advantage"):
                break

    def climb(self) -> None:
        """Searches with all playouts against half of them, those against a quarter, and so on."""
        rungs: list[Figure] = []
        simulations = self.simulations
        while simulations >= 2:
            figure = self.play_unequal(simulations)
            if figure.sample == 0:
                break
            if not rungs:
                self.found.put([figure])
            rungs.append(figure)
            simulations //= 2
        if rungs:
            value, low, high = (
                float(sum(share > LADDER_WINS for share in ends))
                for ends in zip(*((rung.value, rung.low, rung.high) for rung in rungs), strict=True)
            )
            self.found.put([Figure("ladder", value, low, high, rungs[0].sample, UNEQUAL), skill_of(rungs)])

    def play_unequal(self, simulations: int) -> Figure:
        """The share of a search with so many playouts against half of them, in all seats in turn."""
        count = min(ROUND, self.matches)
        each = np.full((count, len(self.game.roles)), simulations // 2, np.int64)
        strong = np.arange(count) % len(self.players)
        each[np.arange(count), np.array(self.players)[strong]] = simulations
        found = self.play(f"{simulations} against {simulations // 2} playouts", each)
        return strong_share(self.game, found, strong)


def is_narrow(figure: Figure) -> bool:
    """Whether more matches would tell little more."""
    return figure.high - figure.low <= 2 * NARROW
