"""Moves by trees over beliefs: the possible states, grouped by what each role has observed in them."""

from __future__ import annotations

from typing import Any

from ggp.beliefs.belief import Belief
from ggp.engines.batches import require_compiled
from ggp.game import Game, Move
from ggp.match.player import MatchSetup
from ggp.players.advisors.advisor import Advisor, Position
from ggp.search.budget import Budget
from ggp.search.protocol import Advice
from ggp.search.sets.many_trees import ManyTreeSearch
from ggp.search.tree.options import MctsOptions


class SetsAdvisor(Advisor):
    """The search of one role, kept from move to move, in games with hidden information."""

    def __init__(self, options: MctsOptions, *, has_head_start: bool = True) -> None:
        """options: those of UCT count, and threads and memory."""
        self._options = options
        self._has_head_start = has_head_start
        self.search: ManyTreeSearch | None = None

    @property
    def simulation_count(self) -> int:  # type: ignore[override]
        """Playouts of the match."""
        return 0 if self.search is None else self.search.simulation_count

    def prepare(self, game: Game[Any]) -> None:
        if not game.is_terminal(game.initial_state()):
            role = game.roles[0]
            ManyTreeSearch(require_compiled(game), role, options=self._options).prepare(game.initial_state())

    def watch(self, belief: Belief) -> None:
        self._belief = belief
        belief.keep_keys()

    def start(self, setup: MatchSetup, budget: Budget) -> bool:
        game = require_compiled(setup.game)
        self.search = ManyTreeSearch(game, setup.role, seed=setup.seed, options=self._options)
        self._is_over = game.is_terminal(game.initial_state())
        self._own_move: Move | None = None
        if self._has_head_start and not budget.is_counted:
            self.ponder(budget)
        return True

    def follow(self, position: Position) -> None:
        self._own_move = position.own_move

    def advise(self, position: Position, budget: Budget) -> Advice | None:
        assert self.search is not None
        self.search.look_at(self._belief.probabilities, self._belief.keys())
        self.search.run(budget)
        report = self.search.report()
        # The best move may be of an earlier state that only looked the same.
        moves = (report.best_move, *(each.move for each in report.moves), *position.legal)
        return Advice(next(move for move in moves if move in position.legal), report)

    def ponder(self, budget: Budget) -> None:
        """Search the possible states, or those that may follow the own move, which is not observed yet."""
        if self.search is None or self._is_over:
            return
        belief, own_move = self._belief, self._own_move
        if own_move is None:
            self.search.look_at(belief.probabilities, belief.keys())
        else:
            foreseen = belief.foreseen(own_move, budget.deadline, budget.is_interrupted)
            if foreseen is None or not foreseen[0]:
                return
            self.search.look_at(*foreseen)
        self.search.run_ahead(budget)
