"""Moves proven during the tree search, by alpha-beta to the end or by solving the reachable states; plans.

The prover works between the slices of the tree search, which takes over what is proven about moves at its
root. If the kernels of proofs are still being compiled when a match begins, proofs join in later: see
`ggp.players.late_proofs`.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any

from ggp.engines.batches import require_compiled
from ggp.game import Game
from ggp.match.player import MatchSetup
from ggp.players.advisors.advisor import Advisor, Position
from ggp.players.advisors.tablebase import advice_of_stage
from ggp.players.late_proofs import LateProofs
from ggp.proofs.prover import Prover, prepare_proving
from ggp.search.budget import Budget
from ggp.search.protocol import Advice
from ggp.search.report import MoveReport, SearchReport
from ggp.solver.solution import prepare_valuation

_logger = logging.getLogger("ggp.search")


class ProofAdvisor(Advisor):
    """Asked after the tree, next to which it has worked.

    prover   of the match; None before `open`, or as long as its kernels are being compiled
    """

    def __init__(self, mebibytes: int, late: LateProofs | None = None) -> None:
        """mebibytes: of all that is proven. late: kernels that are still to come."""
        self._mebibytes = mebibytes
        self._late = late
        self.prover: Prover | None = None

    def prepare(self, game: Game[Any]) -> None:
        if self._late is None:
            load_proofs(game)

    def open(self, setup: MatchSetup) -> Prover | None:
        """The prover of the match, made at the first call."""
        self._setup = setup
        if self.prover is None and (self._late is None or self._late.are_ready):
            self._late = None
            game = require_compiled(setup.game)
            self.prover = Prover(game, game.roles.index(setup.role), mebibytes=self._mebibytes)
        return self.prover

    def start(self, setup: MatchSetup, budget: Budget) -> bool:
        self.open(setup)
        return True

    def follow(self, position: Position) -> None:
        if self._late is not None and self._late.have_failed:
            _logger.warning(
                "the kernels of proofs could not be compiled; this match continues without proofs"
            )
            self._late = None
        elif self._late is not None:
            self.open(self._setup)

    def advise(self, position: Position, budget: Budget) -> Advice | None:
        prover = self.prover
        if prover is None:
            return None
        solved = solved_advice(prover, self._setup, position)
        if solved is not None or prover.proven is None or prover.state != position.state:
            return solved
        move, goal = prover.proven.move, prover.own_goal(prover.proven.goal)
        if move is None or move not in position.legal:
            return None
        report = with_move(position.advice, MoveReport(move, 0, float(goal), goal))
        return Advice(move, replace(report, best_line=(), goal=goal, mode="proof"), is_final=True)


class PlanAdvisor(Advisor):
    """Asked after the tree: follows a plan unless the tree expects at least the plan's goal."""

    def __init__(self, proof: ProofAdvisor) -> None:
        """`proof` has the prover, which seeks plans."""
        self._proof = proof

    def advise(self, position: Position, budget: Budget) -> Advice | None:
        prover, state = self._proof.prover, position.state
        assert isinstance(state, bytes)
        followed = None if prover is None or prover.plans is None else prover.plans.move(state)
        if followed is None:
            return None
        move, plan = followed
        if not plan.is_best and position.advice is not None and position.advice.expectation >= plan.goal:
            return None
        goal = plan.goal if plan.is_best else None
        report = with_move(position.advice, MoveReport(move, 0, float(plan.goal), goal))
        line = tuple((each,) for each in plan.moves[plan.states.index(state) :])
        return Advice(move, replace(report, best_line=line, goal=goal, mode="plan"), is_final=True)


def solved_advice(prover: Prover, setup: MatchSetup, position: Position) -> Advice | None:
    """The optimal move by the prover's solution, if that contains the position."""
    assert isinstance(position.state, bytes)
    stage = prover.stage(position.state)
    return None if stage is None else advice_of_stage(stage, setup, position.rng)


def with_move(advice: Advice | None, known: MoveReport) -> SearchReport:
    """The report of the tree's advice, reduced to one move about which more is known.

    The visits and the mean of the move are those of the tree, if it has tried the move.
    """
    report = advice.report if advice is not None and advice.report is not None else SearchReport()
    tried = {each.move: each for each in report.moves}
    return replace(report, moves=(replace(tried.get(known.move, known), goal=known.goal),))


def load_proofs(game: Game[Any]) -> None:
    """Compile the kernels of proofs or load them from the cache."""
    prepare_proving(require_compiled(game))
    prepare_valuation()
