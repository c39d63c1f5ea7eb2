"""Moves by Monte-Carlo tree search: on lanes, or in plain Python for games that are not compiled."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from ggp.engines.batches import require_compiled
from ggp.game import Game, GameError, Move, is_compiled
from ggp.match.faults import Late
from ggp.match.player import MatchSetup, PlayerFaultError
from ggp.players.advisors.advisor import Advisor, Position
from ggp.search.budget import NO_TIME, Budget
from ggp.search.protocol import Advice
from ggp.search.report import SearchReport
from ggp.search.tree.options import MctsOptions

if TYPE_CHECKING:
    from ggp.players.advisors.proof import ProofAdvisor
    from ggp.search.tree.reference.search import Search
    from ggp.search.tree.search import LanesSearch

    AnySearch: TypeAlias = Search | LanesSearch


class TreeAdvisor(Advisor):
    """The tree search, kept from move to move, with what is proven next to it."""

    def __init__(
        self,
        options: MctsOptions,
        *,
        kind: str = "auto",
        proof: ProofAdvisor | None = None,
        has_head_start: bool = True,
        on_progress: Callable[[Move], None] | None = None,
        on_report: Callable[[SearchReport], None] | None = None,
    ) -> None:
        """Set the options; `on_progress` and `on_report` are those of `LanesSearch`.

        kind             lanes, reference or auto: lanes if the game is compiled
        proof            has what works between the slices of the search; None: no proofs
        has_head_start   whether the start clock is for searching, too
        """
        self._options, self._kind, self._proof = options, kind, proof
        self._on_progress, self._on_report = on_progress, on_report
        self._has_head_start = has_head_start
        self._search: AnySearch | None = None

    @property
    def search(self) -> AnySearch:
        """The search of the match, from `start` on."""
        assert self._search is not None, "search before start"
        return self._search

    @property
    def simulation_count(self) -> int:  # type: ignore[override]
        """Playouts of the match."""
        return 0 if self._search is None else self._search.simulation_count

    def prepare(self, game: Game[Any]) -> None:
        if not is_compiled(game):
            return
        search = self._make_search(MatchSetup("prepare", game, game.roles[0], 0.0, 0.0, 0))
        state = game.initial_state()
        search.move_to(state, None)
        search.warm_up()
        try:
            # Following the match has its own kernels, used once the tree has grown.
            joint_move = tuple(game.legal_moves(state, role)[0] for role in game.roles)
            search.run(Budget(time.monotonic() + 1.0, 500))
            search.move_to(game.next_state(state, joint_move), joint_move)
        except (GameError, IndexError):  # no match to follow: over at once, or the rules are at fault
            pass
        search.close()

    def start(self, setup: MatchSetup, budget: Budget) -> bool:
        self._search = search = self._make_search(setup)
        self._is_over = setup.game.is_terminal
        if self._proof is not None:
            self._proof.open(setup)
        self.follow(Position(setup.game.initial_state()))
        if budget.is_counted:
            search.warm_up()
        elif self._has_head_start and budget != NO_TIME:
            self._think(budget)
        elif budget != NO_TIME:
            search.warm_up(budget.deadline)
        return True

    def follow(self, position: Position) -> None:
        self._state = position.state
        self.search.move_to(position.state, position.joint_move)

    def advise(self, position: Position, budget: Budget) -> Advice | None:
        self._think(budget)
        return Advice(self.search.best_move(), self.search.report())

    def ponder(self, budget: Budget) -> None:
        self._think(budget)

    def stop(self) -> None:
        if self._search is not None:
            self._search.close()

    def _think(self, budget: Budget) -> None:
        prover = None if self._proof is None else self._proof.prover
        if prover is None:
            self.search.run(budget)
        elif not self._is_over(self._state) and not prover.begin(cast("bytes", self._state), budget):
            cast("LanesSearch", self.search).run(budget, prover)

    def _make_search(self, setup: MatchSetup) -> AnySearch:
        from ggp.search.tree.reference.search import Search

        has_lanes = is_compiled(setup.game)
        given: dict[str, Any] = {
            "seed": setup.seed,
            "options": self._options,
            "on_progress": self._on_progress,
            "on_report": self._on_report,
        }
        if self._kind == "reference" or (self._kind == "auto" and not has_lanes):
            return Search(setup.game, setup.role, **given)
        if not has_lanes:
            raise PlayerFaultError(Late(), f"{setup.game.name} is not compiled: there is no search on lanes")
        from ggp.search.tree.search import LanesSearch

        return LanesSearch(require_compiled(setup.game), setup.role, **given)
