"""Kernels of counterfactual regret minimization in sequence form.

A behavior strategy is one float64 per sequence: the probability of the sequence's move in its information set
(1 for the empty sequence). A realization plan is the product of these along the sequence. Sets come after
their parents, so that one walk forward makes a plan of a strategy, and one walk backward adds up what the
sequences are worth.

Letters: Q sequences, D information sets, P payoffs; see `ggp.solver.cfr.sequence_form`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggp.jit.compiling import kernel, piece

Floats = NDArray[np.float64]


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
