"""Predictive CFR+ on a sequence form, and how exploitable strategies are.

Source: Farina, Kroer and Sandholm, "Faster game solving via predictive Blackwell approachability: connecting
regret matching and mirror descent" (AAAI 2021), with alternating updates and quadratic averaging; regrets are
kept per information set as in Zinkevich and others, "Regret minimization in games with incomplete
information" (2007).

A behavior strategy is one float64 per sequence: the probability of the sequence's move in its information set
(1 for the empty sequence). A realization plan is the product of these along the sequence. Sets come after
their parents, so that one walk forward makes a plan of a strategy, and one walk backward adds up what the
sequences are worth. Letters: Q sequences, D information sets, P payoffs; see `ggp.solver.cfr.sequence_form`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ggp.engines.batches import require_compiled
from ggp.game import Game
from ggp.jit.compiling import announced_compilation, kernel, piece
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


class Learner(NamedTuple):
    """One agent: the information sets of its `Treeplex`, and float64[Q] of its sequences.

    first, parent   int64[D+1], int32[D]
    regret     sum of regrets, never below 0 (regret matching+)
    last       regrets of the last iteration, the prediction for the next one
    strategy   current behavior strategy; 1 for the empty sequence
    plan       its realization plan
    average    weighted sum of realization plans
    worth      scratch
    """

    first: NDArray[np.int64]
    parent: NDArray[np.int32]
    regret: Floats
    last: Floats
    strategy: Floats
    plan: Floats
    average: Floats
    worth: Floats


class Payoffs(NamedTuple):
    """Payoffs of pairs of sequences: row_start int64[Q0+1], column int32[P], payoff float64[P]."""

    row_start: NDArray[np.int64]
    column: NDArray[np.int32]
    payoff: Floats


@piece
def _row_worth(payoffs: Payoffs, plan: Floats, worth: Floats) -> None:
    """Write what each sequence of agent 0 earns at its ends against a plan of agent 1. plan float64[Q1],
    worth float64[Q0]"""
    for row in range(worth.shape[0]):
        total = 0.0
        for p in range(payoffs.row_start[row], payoffs.row_start[row + 1]):
            total += payoffs.payoff[p] * plan[payoffs.column[p]]
        worth[row] = total


@piece
def _column_worth(payoffs: Payoffs, plan: Floats, worth: Floats) -> None:
    """Write what each sequence of agent 1 earns at its ends against a plan of agent 0. plan float64[Q0],
    worth float64[Q1]"""
    for column in range(worth.shape[0]):
        worth[column] = 0.0
    for row in range(plan.shape[0]):
        share = plan[row]
        if share == 0.0:
            continue
        for p in range(payoffs.row_start[row], payoffs.row_start[row + 1]):
            worth[payoffs.column[p]] -= share * payoffs.payoff[p]


@piece
def _learn(agent: Learner, weight: float) -> None:
    """Update regrets, strategy, plan and average of one agent by one iteration.

    agent.worth holds what each sequence earns at its ends; it is overwritten with what it earns in all.

    weight   of this iteration's plan in the average
    Source: predictive regret matching+ of Farina, Kroer and Sandholm (2021), algorithm 3, in every
    information set; the prediction is the regret of the iteration before.
    """
    first, regret, last = agent.first, agent.regret, agent.last
    strategy, worth = agent.strategy, agent.worth
    for d in range(agent.parent.shape[0] - 1, -1, -1):
        expected = 0.0
        for q in range(first[d], first[d + 1]):
            expected += strategy[q] * worth[q]
        worth[agent.parent[d]] += expected
        total = 0.0
        for q in range(first[d], first[d + 1]):
            last[q] = worth[q] - expected
            regret[q] = max(0.0, regret[q] + last[q])
            strategy[q] = max(0.0, regret[q] + last[q])
            total += strategy[q]
        for q in range(first[d], first[d + 1]):
            if total > 0.0:
                strategy[q] /= total
            else:
                strategy[q] = 1.0 / (first[d + 1] - first[d])
    agent.plan[0] = 1.0
    agent.average[0] += weight
    for d in range(agent.parent.shape[0]):
        reach = agent.plan[agent.parent[d]]
        for q in range(first[d], first[d + 1]):
            agent.plan[q] = reach * strategy[q]
            agent.average[q] += weight * agent.plan[q]


@kernel
def minimize(payoffs: Payoffs, row: Learner, column: Learner, first: int, end: int) -> None:
    """Run the iterations first .. end-1, counted from 1.

    The agents learn in turn, each against the current plan of the other; iteration t has weight t*t in the
    averages.
    """
    for t in range(first, end):
        weight = float(t) * t
        _row_worth(payoffs, column.plan, row.worth)
        _learn(row, weight)
        _column_worth(payoffs, row.plan, column.worth)
        _learn(column, weight)


@kernel
def worth_at_ends(payoffs: Payoffs, agent: int, plan: Floats, worth: Floats) -> None:
    """Write what each sequence of an agent earns at its ends against a plan of the other.

    agent   0 or 1;  plan float64[Q of the other], worth float64[Q of the agent]
    """
    if agent == 0:
        _row_worth(payoffs, plan, worth)
    else:
        _column_worth(payoffs, plan, worth)


@kernel
def make_plan(first: NDArray[np.int64], parent: NDArray[np.int32], strategy: Floats, plan: Floats) -> None:
    """Write the realization plan of a behavior strategy: both float64[Q]."""
    plan[0] = 1.0
    for d in range(parent.shape[0]):
        reach = plan[parent[d]]
        for q in range(first[d], first[d + 1]):
            plan[q] = reach * strategy[q]


@kernel
def best_response(
    first: NDArray[np.int64], parent: NDArray[np.int32], worth: Floats, strategy: Floats
) -> float:
    """Write a best response to what sequences earn at their ends, and return what it earns.

    worth      float64[Q]: overwritten with what each sequence earns in all
    strategy   float64[Q]: 1 for the best move of each information set (the first of equal ones), else 0
    """
    for d in range(parent.shape[0] - 1, -1, -1):
        best = first[d]
        for q in range(first[d], first[d + 1]):
            strategy[q] = 0.0
            if worth[q] > worth[best]:
                best = q
        strategy[best] = 1.0
        worth[parent[d]] += worth[best]
    return float(worth[0])


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
