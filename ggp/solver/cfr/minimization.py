"""Predictive CFR+ on a sequence form, and how exploitable strategies are.

Source: Farina, Kroer and Sandholm, "Faster game solving via predictive Blackwell approachability: connecting
regret matching and mirror descent" (AAAI 2021), with alternating updates and quadratic averaging; regrets are
kept per information set as in Zinkevich and others, "Regret minimization in games with incomplete
information" (2007).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ggp.engines.batches import require_compiled
from ggp.game import Game
from ggp.jit.compiling import announced_compilation
from ggp.solver.cfr.kernels import Learner, Payoffs, best_response, make_plan, minimize, worth_at_ends
from ggp.solver.cfr.sequence_form import SequenceForm, Treeplex, UnrollingProgress, sequence_form
from ggp.solver.cfr.state_graph import make_state_graph
from ggp.solver.limits import SolverLimits

Floats = NDArray[np.float64]
Strategies: TypeAlias = tuple[Floats, Floats]
"""A behavior strategy of each agent: float64[Q], the probability of the move of each sequence."""

ACCURACY = 1e-6
"""Default accuracy, in goals."""
MAX_ITERATIONS = 10_000_000
_FIRST_CHECK = 16
_CHECK_GROWTH = 1.2
_SLICE_SECONDS = 0.25


@dataclass(frozen=True)
class CfrOptions:
    """When to stop.

    accuracy     exploitability in goals at which the strategies are good enough
    iterations   at most this many
    """

    accuracy: float = ACCURACY
    iterations: int = MAX_ITERATIONS


@dataclass(frozen=True)
class CfrProgress:
    """State of the minimization; exploitability in goals, as of the last check."""

    iterations: int
    exploitability: float
    seconds: float


@dataclass(frozen=True, repr=False)
class ApproximateEquilibrium:
    """Strategies of both agents, and bounds of the value that they prove.

    strategies       behavior strategies, see `Strategies`
    bounds           goals of agent 0: what its strategy earns against a best response, and what a best
                     response earns against the strategy of agent 1; the value lies between them
    iterations       of the minimization; 0 if only one agent has choices, whose best response is exact
    is_interrupted   stopped by Ctrl-C
    seconds          time of the minimization

    >>> import ggp
    >>> solve_hidden(ggp.load("kuhn_poker"))
    <ApproximateEquilibrium of kuhn_poker: first 48.6111, second 51.3889; exploitability ...>
    """

    form: SequenceForm
    strategies: Strategies
    bounds: tuple[float, float]
    iterations: int
    is_interrupted: bool
    seconds: float

    def __repr__(self) -> str:
        agents = self.form.graph.agents
        values = ", ".join(f"{role} {value:.6g}" for role, value in zip(agents, self.values, strict=False))
        return (
            f"<ApproximateEquilibrium of {self.form.graph.game.name}: {values};"
            f" exploitability {self.exploitability:.2g}>"
        )

    @property
    def exploitability(self) -> float:
        """The mean gain of a best response over both agents, in goals; half of NashConv."""
        return (self.bounds[1] - self.bounds[0]) / 2

    @property
    def values(self) -> tuple[float, float]:
        """Goals of agents 0 and 1 in the middle of the bounds."""
        middle = (self.bounds[0] + self.bounds[1]) / 2
        return middle, self.form.graph.total - middle


def solve_hidden(
    game: Game[Any],
    limits: SolverLimits | None = None,
    options: CfrOptions | None = None,
    report: Callable[[UnrollingProgress | CfrProgress], None] | None = None,
) -> ApproximateEquilibrium:
    """Find an equilibrium of a game of two roles with constant sum, or the best play of one role.

    The deadline of `limits` ends the minimization, with the strategies so far, and so does Ctrl-C.
    Raises SolverLimitError if the tree of histories is too large or time is up before it is complete;
    UnsolvableError for other games.
    """
    limits = limits or SolverLimits()
    form = sequence_form(make_state_graph(require_compiled(game), limits), limits, report)
    return find_equilibrium(form, options, deadline=limits.deadline, report=report)


def find_equilibrium(
    form: SequenceForm,
    options: CfrOptions | None = None,
    *,
    deadline: float | None = None,
    report: Callable[[CfrProgress], None] | None = None,
) -> ApproximateEquilibrium:
    """Minimize regrets until the strategies are accurate, `deadline` (time.monotonic()) or Ctrl-C."""
    run = _Minimization(form, options or CfrOptions(), deadline, report)
    is_interrupted = False
    if all(plex.set_count for plex in form.plexes):
        try:
            run.run()
        except KeyboardInterrupt:
            is_interrupted = True
        strategies = run.averages()
    else:
        first, second = map(uniform_strategy, form.plexes)
        strategies = respond(form, 0, second)[0], respond(form, 1, first)[0]
    seconds = time.perf_counter() - run.start
    return ApproximateEquilibrium(
        form, strategies, bounds(form, strategies), run.iterations, is_interrupted, seconds
    )


class _Minimization:
    def __init__(
        self,
        form: SequenceForm,
        options: CfrOptions,
        deadline: float | None,
        report: Callable[[CfrProgress], None] | None,
    ) -> None:
        self.form, self.options, self.deadline, self.report = form, options, deadline, report
        self.payoffs = _payoffs(form)
        self.learners = (_learner(form.plexes[0]), _learner(form.plexes[1]))
        self.start, self.iterations = time.perf_counter(), 0
        with announced_compilation():
            minimize(self.payoffs, *self.learners, 1, 1)

    def run(self) -> None:
        pace, check = 1, _FIRST_CHECK
        while self.iterations < self.options.iterations:
            start = time.perf_counter()
            end = min(self.iterations + pace, check, self.options.iterations)
            minimize(self.payoffs, *self.learners, self.iterations + 1, end + 1)
            if time.perf_counter() - start < _SLICE_SECONDS / 2:
                pace *= 2
            self.iterations = end
            if self.deadline is not None and time.monotonic() > self.deadline:
                return
            if end == check:
                check = int(check * _CHECK_GROWTH)
                below, above = bounds(self.form, self.averages())
                if self.report is not None:
                    seconds = time.perf_counter() - self.start
                    self.report(CfrProgress(self.iterations, (above - below) / 2, seconds))
                if (above - below) / 2 <= self.options.accuracy:
                    return

    def averages(self) -> Strategies:
        first, second = map(_average_strategy, self.learners)
        return first, second


def respond(form: SequenceForm, agent: int, other: Floats) -> tuple[Floats, float]:
    """A pure best response of `agent` (0 or 1) to a behavior strategy of the other, and the goal it earns."""
    mine, theirs = form.plexes[agent], form.plexes[1 - agent]
    worth, strategy = np.empty(mine.sequence_count), np.ones(mine.sequence_count)
    worth_at_ends(_payoffs(form), agent, realization_plan(theirs, other), worth)
    gain = best_response(mine.first, mine.parent, worth, strategy)
    return strategy, gain + form.graph.total / 2


def bounds(form: SequenceForm, strategies: Strategies) -> tuple[float, float]:
    """Bounds of the value in goals of agent 0, see `ApproximateEquilibrium`."""
    below = form.graph.total - respond(form, 1, strategies[0])[1]
    return below, respond(form, 0, strategies[1])[1]


def uniform_strategy(plex: Treeplex) -> Floats:
    """The behavior strategy that plays all moves of an information set equally often."""
    counts = np.diff(plex.first)
    return np.concatenate([[1.0], np.repeat(1 / np.maximum(counts, 1), counts)])


def realization_plan(plex: Treeplex, strategy: Floats) -> Floats:
    """float64[Q]: how often a behavior strategy float64[Q] reaches each sequence, chance and others aside.
    Raises ValueError for another number of sequences."""
    given = np.ascontiguousarray(strategy, np.float64)
    if given.shape != (plex.sequence_count,):
        raise ValueError(f"a strategy has shape ({plex.sequence_count},), not {given.shape}")
    plan = np.empty(plex.sequence_count)
    make_plan(plex.first, plex.parent, given, plan)
    return plan


def _payoffs(form: SequenceForm) -> Payoffs:
    return Payoffs(form.row_start, form.column, form.payoff)


def _learner(plex: Treeplex) -> Learner:
    strategy = uniform_strategy(plex)
    plan = realization_plan(plex, strategy)
    regret, last, average, worth = np.zeros((4, plex.sequence_count))
    return Learner(plex.first, plex.parent, regret, last, strategy, plan, average, worth)


def _average_strategy(learner: Learner) -> Floats:
    """The behavior strategy of the average plan; the current one where it is never reached."""
    average, first = learner.average, learner.first
    counts = np.diff(first)
    total = np.repeat(np.add.reduceat(average[1:], first[:-1] - 1), counts) if len(counts) else average[1:]
    strategy = learner.strategy.copy()
    strategy[1:] = np.divide(average[1:], total, out=strategy[1:], where=total > 0)
    return strategy
