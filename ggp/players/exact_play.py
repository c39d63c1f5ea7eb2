"""Exact values next to a tree search on lanes, and when they choose the move.

`SearchReport.mode` says what chose:

    lanes      the tree
    proof      alpha-beta, searched to the end
    solution   every state from some earlier one on is solved
    plan       one role: the way to the best end found, breadth first or by nested rollouts
    mixed      two roles choose at once: drawn from an equilibrium of the matrix at the root
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

from ggp.engines.compiled import PackedState
from ggp.game import Move, hides_information
from ggp.match.player import MatchSetup
from ggp.players.options import MctsPlayerOptions
from ggp.players.tablebase import chosen_move, stage_report
from ggp.proofs.prover import Prover
from ggp.search.budget import Budget
from ggp.search.mcts.mixed_root import root_matrix
from ggp.search.mcts.search import LanesSearch
from ggp.search.report import MoveReport, SearchReport


class ExactPlay:
    """The thinking of one role in one match: its tree search, and what can be proved meanwhile."""

    def __init__(self, setup: MatchSetup, search: LanesSearch, own: MctsPlayerOptions) -> None:
        """`search` follows the match before each call below."""
        self.setup = setup
        self._search = search
        self._own = own
        self._rng = random.Random(setup.seed)
        self._prover: Prover | None = None
        if own.is_proving:
            role_index = search.game.roles.index(setup.role)
            self._prover = Prover(search.game, role_index, mebibytes=own.proof_mebibytes)
            self._prover.prepare()

    @property
    def proving_seconds(self) -> float:
        """Time that alpha-beta took for the current state."""
        return 0.0 if self._prover is None else self._prover.spent_seconds

    @property
    def is_solved(self) -> bool:
        """Whether the values of all states ahead are known."""
        return self._prover is not None and self._prover.solution is not None

    def take_over(self, earlier: ExactPlay) -> None:
        """Keep the solution that `earlier` found for the same rules on another circuit."""
        if self._prover is not None and earlier._prover is not None:
            self._prover.solution = earlier._prover.solution

    def solve(self, state: PackedState, deadline: float) -> None:
        """Solve the game in the start clock, if a forecast says that this can be done."""
        if self._prover is not None:
            self._prover.solve(state, Budget(deadline), is_patient=True)

    def think(
        self,
        state: PackedState,
        deadline: float,
        simulations: int | None = None,
        is_stopped: Callable[[], bool] | None = None,
    ) -> None:
        """Search and prove from `state`, the root of the search, unless its solution is known."""
        prover, budget = self._prover, Budget(deadline, simulations, is_stopped=is_stopped)
        if prover is None:
            self._search.run(budget)
        elif not self._search.game.is_terminal(state) and not prover.begin(state, budget):
            self._search.run(budget, prover)

    def choice(self, state: PackedState) -> tuple[Move, SearchReport]:
        """The move to make in `state`, the root of the search, and the report that explains it."""
        known = self._solved(state) or self._proven(state) or self._planned(state) or self._mixed(state)
        return known or self._searched()

    def _solved(self, state: PackedState) -> tuple[Move, SearchReport] | None:
        stage = None if self._prover is None else self._prover.stage(state)
        move = None if stage is None else chosen_move(stage, self.setup, self._rng)
        return None if stage is None or move is None else (move, stage_report(stage, self.setup.role))

    def _proven(self, state: PackedState) -> tuple[Move, SearchReport] | None:
        prover = self._prover
        if prover is None or prover.proven is None or prover.state != state:
            return None
        move, goal = prover.proven.move, prover.own_goal(prover.proven.goal)
        if move is None or move not in self.setup.game.legal_moves(state, self.setup.role):
            return None
        report = self._search.report()
        tried = {each.move: each for each in report.moves}
        found = replace(tried.get(move, MoveReport(move, 0, float(goal), goal)), goal=goal)
        return move, replace(report, moves=(found,), best_line=(), goal=goal, mode="proof")

    def _planned(self, state: PackedState) -> tuple[Move, SearchReport] | None:
        """The next move of the plan, unless the tree expects at least the goal at its end."""
        plans = None if self._prover is None else self._prover.plans
        followed = None if plans is None else plans.move(state)
        if followed is None:
            return None
        move, plan = followed
        report = self._search.report()
        if not plan.is_best and (report.expectation or 0.0) >= plan.goal:
            return None
        goal = plan.goal if plan.is_best else None
        tried = {each.move: each for each in report.moves}
        found = replace(tried.get(move, MoveReport(move, 0, float(plan.goal), goal)), goal=goal)
        line = tuple((each,) for each in plan.moves[plan.states.index(state) :])
        return move, replace(report, moves=(found,), best_line=line, goal=goal, mode="plan")

    def _mixed(self, state: PackedState) -> tuple[Move, SearchReport] | None:
        game = self._search.game
        is_mixing = self._own.is_mixing and not hides_information(game)
        matrix = root_matrix(self._search, state) if is_mixing else None
        move = None if matrix is None else matrix.draw(self._rng)
        return None if move is None else (move, replace(self._search.report(), mode="mixed"))

    def _searched(self) -> tuple[Move, SearchReport]:
        return self._search.best_move(), self._search.report()
