"""Moves of a plan, in games of one role: the best line that the prover has found."""

from __future__ import annotations

from dataclasses import replace

from ggp.players.advisors.advisor import Advisor, Position
from ggp.players.advisors.proof import ProofAdvisor, with_move
from ggp.search.budget import Budget
from ggp.search.protocol import Advice
from ggp.search.report import MoveReport


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
