"""Double oracle: bounds of the value where the tree of histories is too large to unroll.

Each agent may make only some moves in some information sets, and makes its first move elsewhere. The
restricted game is solved by regret minimization. Best responses are exact in the whole game, since a strategy
with few moves leaves few histories; they prove bounds, and moves that they gain by are allowed from then on.

Source: Bošanský, Kiekintveld, Lisý and Pěchouček, "An exact double-oracle algorithm for zero-sum
extensive-form games with imperfect information" (2014). Other than there, all moves are allowed in the
opening, and best responses add moves in all information sets that they reach, not only along their own plan.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ggp.solver.cfr.minimization import CfrOptions, Floats, find_equilibrium, response_worth
from ggp.solver.cfr.sequence_form import MoveTable, SequenceForm, Treeplex, sequence_form
from ggp.solver.cfr.state_graph import StateGraph
from ggp.solver.limits import SolverLimitError, SolverLimits, UnsolvableError

OPENING = 3
"""In the first joint moves all moves are allowed: pure strategies prove nothing for dozens of rounds."""
MIN_SHARE = 0.01
"""Moves with a smaller share are left out of a strategy before best responses to it are computed."""
MIN_GAIN = 1e-4
"""A move is added if it gains at least this share of the exploitability of the round before."""
RESTRICTED_ACCURACY = 0.3
"""Accuracy in goals for restricted games, or a tenth of the accuracy wanted if that is less."""
RESTRICTED_ITERATIONS = 2000
MAX_MOVES = 62
"""Sets of moves are bits of one number."""


@dataclass(frozen=True)
class OracleRound:
    """One round.

    bounds       of the value so far, in goals of agent 0
    restricted   histories of the restricted game
    responses    histories that both best responses walked
    added        moves allowed from now on
    seconds      since the start
    """

    number: int
    bounds: tuple[float, float]
    restricted: int
    responses: int
    added: int
    seconds: float

    @property
    def exploitability(self) -> float:
        return (self.bounds[1] - self.bounds[0]) / 2


@dataclass(frozen=True)
class OracleBounds:
    """Bounds that the rounds have proved.

    last      the last round that was completed
    reason    why there was no other: "accurate", "interrupted", or the limit that was reached
    """

    graph: StateGraph
    last: OracleRound
    reason: str


def find_bounds(
    graph: StateGraph,
    limits: SolverLimits | None = None,
    accuracy: float = 1.0,
    report: Callable[[OracleRound], None] | None = None,
) -> OracleBounds:
    """Bound the value of a game of two agents until the bounds are accurate, a limit or Ctrl-C ends it.

    accuracy   exploitability in goals
    Raises SolverLimitError if the first round meets a limit.
    """
    if len(graph.agents) != 2:
        raise UnsolvableError("a double oracle needs two roles")
    if max(len(legal) for sets in graph.legal_sets for legal in sets) > MAX_MOVES:
        raise UnsolvableError(f"a double oracle takes at most {MAX_MOVES} legal moves")
    oracle = _DoubleOracle(graph, limits or SolverLimits(), accuracy)
    last: OracleRound | None = None
    reason = "accurate"
    try:
        while last is None or last.exploitability > accuracy:
            last = oracle.next_round()
            if report is not None:
                report(last)
    except (SolverLimitError, KeyboardInterrupt) as error:
        if last is None:
            raise
        reason = str(error) or "interrupted"
    return OracleBounds(graph, last, reason)


class _DoubleOracle:
    def __init__(self, graph: StateGraph, limits: SolverLimits, accuracy: float) -> None:
        self.graph, self.limits = graph, limits
        self.width = max(len(legal) for sets in graph.legal_sets for legal in sets)
        self.allowed = [MoveTable(self.width, is_strategy=False, opening=OPENING) for _ in range(2)]
        self.options = CfrOptions(min(RESTRICTED_ACCURACY, accuracy / 10), RESTRICTED_ITERATIONS)
        self.start = time.perf_counter()
        self.bounds = 0.0, float(graph.total)
        self.gain = graph.total / 2
        self.number = 0

    def next_round(self) -> OracleRound:
        """Solve the restricted game, respond to its equilibrium, allow the moves that gain."""
        allowed = self.allowed
        form = sequence_form(self.graph, self.limits, restrictions=(allowed[0], allowed[1]))
        found = find_equilibrium(form, self.options, deadline=self.limits.deadline)
        tables = [self.strategy(form, agent, found.strategies[agent]) for agent in (0, 1)]
        goals, histories, added = [], 0, 0
        for agent, against in enumerate([(None, tables[1]), (tables[0], None)]):
            whole = sequence_form(self.graph, self.limits, restrictions=against)
            goal, gaining = self.respond(whole, agent)
            goals.append(goal)
            histories, added = histories + whole.histories, added + gaining
        self.gain = (sum(goals) - self.graph.total) / 2
        below, above = self.bounds
        self.bounds = max(below, self.graph.total - goals[1]), min(above, goals[0])
        self.number += 1
        seconds = time.perf_counter() - self.start
        return OracleRound(self.number, self.bounds, form.histories, histories, added, seconds)

    def strategy(self, form: SequenceForm, agent: int, strategy: Floats) -> MoveTable:
        """An agent's strategy in the whole game: its equilibrium, and the first move allowed elsewhere."""
        table, allowed = MoveTable(self.width, is_strategy=True), self.allowed[agent]
        is_first = (allowed.share > 0).cumsum(axis=1) == 1
        table.put(allowed.identity, (is_first & (allowed.share > 0)).astype(np.float64))
        shares = by_set(form.plexes[agent], strategy, self.width)
        shares[shares < MIN_SHARE] = 0
        table.put(form.plexes[agent].identity, shares / shares.sum(axis=1, keepdims=True))
        return table

    def respond(self, whole: SequenceForm, agent: int) -> tuple[float, int]:
        """The goal of a best response, and how many moves were added by which it gains."""
        plex, allowed = whole.plexes[agent], self.allowed[agent]
        _, worth, gain = response_worth(whole, agent, np.ones(1))
        value = by_set(plex, worth, self.width, default=-np.inf)
        before = allowed.shares(plex.identity, np.full(plex.set_count, 2), OPENING) > 0
        best = value.argmax(axis=1)
        known = np.where(before, value, -np.inf)
        gained = value.max(axis=1, initial=-np.inf) - known.max(axis=1, initial=-np.inf)
        chosen = np.flatnonzero(gained > MIN_GAIN * self.gain)
        share = np.zeros((len(chosen), self.width))
        share[np.arange(len(chosen)), best[chosen]] = 1
        allowed.put(plex.identity[chosen], share, is_added=True)
        return gain + self.graph.total / 2, len(chosen)


def by_set(plex: Treeplex, values: Floats, width: int, default: float = 0.0) -> Floats:
    """Values of sequences by information set and place of the move: float64[Q] → float64[D, width]."""
    table = np.full((plex.set_count, width), default)
    table[(plex.moves[:, None] >> np.arange(width)) & 1 == 1] = values[1:]
    return table
