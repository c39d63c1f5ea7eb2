"""Moves by the values of all states ahead.

They are computed in the start clock if a forecast predicts that it suffices, or by a solver on another core
during the match.
"""

from __future__ import annotations

import logging
import threading
from typing import Any

from ggp.engines.compiled import CompiledGame, PackedState
from ggp.game import Game
from ggp.match.player import MatchSetup
from ggp.players.advisors.advisor import Advisor, Position
from ggp.players.advisors.proof import ProofAdvisor, load_proofs, solved_advice
from ggp.proofs.prover import Prover
from ggp.search.budget import Budget
from ggp.search.protocol import Advice
from ggp.solver import SolverError, SolverLimits, solve

_logger = logging.getLogger("ggp.players")

MAX_EXPECTED_STATES = 150_000_000
BYTES_PER_STATE = 45
_JOIN_SECONDS = 10.0


class SolutionAdvisor(Advisor):
    """Plays optimally once the values of all states ahead are known."""

    def __init__(
        self, proof: ProofAdvisor, has_head_start: bool, solver_mebibytes: int | None = None
    ) -> None:
        """proof: has the prover of the match. solver_mebibytes: of a solver on another core; None: none."""
        self._proof = proof
        self._has_head_start = has_head_start
        self._mebibytes = solver_mebibytes
        self._stop = threading.Event()
        self._solver: threading.Thread | None = None

    def prepare(self, game: Game[Any]) -> None:
        if self._mebibytes is not None:
            load_proofs(game)

    def start(self, setup: MatchSetup, budget: Budget) -> bool:
        self._setup = setup
        prover = self._proof.open(setup)
        initial = setup.game.initial_state()
        if self._mebibytes is not None:
            self._begin_solving(initial)
        elif prover is not None and self._has_head_start and not budget.is_counted:
            prover.solve(initial, budget, is_patient=True)
        self._note(prover)
        return True

    def advise(self, position: Position, budget: Budget) -> Advice | None:
        prover = self._proof.prover
        assert isinstance(position.state, bytes)
        if prover is None:
            return None
        is_idle = self._solver is not None and not self._solver.is_alive()
        if is_idle and prover.needs_enumeration:
            self._begin_solving(position.state)
        self._note(prover)
        return solved_advice(prover, self._setup, position)

    def take_over(self, earlier: Advisor) -> None:
        assert isinstance(earlier, SolutionAdvisor)
        before, prover = earlier._proof.prover, self._proof.prover
        if before is not None and prover is not None:
            prover.solution = before.solution
            self._note(prover)
        if self.leads:
            self._stop.set()

    def stop(self) -> None:
        self._stop.set()
        if self._solver is not None:
            self._solver.join(timeout=_JOIN_SECONDS)

    def _note(self, prover: Prover | None) -> None:
        self.leads = prover is not None and prover.solution is not None

    def _begin_solving(self, state: PackedState) -> None:
        self._solver = threading.Thread(target=self._solve, args=(state,), name="solver", daemon=True)
        self._solver.start()

    def _solve(self, state: PackedState) -> None:
        game = self._setup.game
        assert isinstance(game, CompiledGame)
        assert self._mebibytes is not None
        capacity = (self._mebibytes << 20) // BYTES_PER_STATE
        states = min(2 * capacity, MAX_EXPECTED_STATES)
        limits = SolverLimits(mebibytes=self._mebibytes, stop=self._stop, estimated_states=states)
        try:
            if not self._mebibytes:
                raise SolverError("no memory allowed for solving")
            solution = solve(game, limits, start=state)
        except (SolverError, MemoryError) as error:
            _logger.info("%s: not solved completely: %s", game.name, error)
            return
        prover = self._proof.prover
        if prover is not None and not self._stop.is_set():
            prover.solution = solution
            _logger.info("%s solved: %s states", game.name, f"{solution.space.state_count:,}")
