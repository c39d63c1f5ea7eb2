"""Monte-Carlo tree search as a player: on lanes, or in plain Python for games that are not compiled.

On lanes `ggp.players.exact_play` proves positions within the same cores and clock, and games with hidden
information are played by an equilibrium if the start clock suffices to find one.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Hashable
from contextlib import nullcontext
from dataclasses import replace
from math import isinf
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from gdl.terms import Term
from ggp.game import Game, GameError, Move, hides_information, is_compiled
from ggp.knowledge.tuned import TunedOptions, shipped_policies
from ggp.match.faults import Late
from ggp.match.player import MatchSetup, Player, PlayerFaultError
from ggp.players.kept_knowledge import book_move, open_book, tuned_options
from ggp.players.options import OFF, MctsPlayerOptions
from ggp.search.budget import Budget
from ggp.search.mcts.options import MctsOptions, default_options
from ggp.search.report import SearchReport

if TYPE_CHECKING:
    from ggp.beliefs.observation import Observation
    from ggp.engines.compiled import CompiledGame
    from ggp.knowledge.book import Book
    from ggp.players.alphabeta import AlphaBetaPlayer
    from ggp.players.equilibrium_play import EquilibriumPlay
    from ggp.players.exact_play import ExactPlay
    from ggp.players.late_proofs import LateProofs
    from ggp.players.network_play import NetworkPlay
    from ggp.players.possible_states import PossibleStates
    from ggp.search.mcts.reference.search import Search
    from ggp.search.mcts.search import LanesSearch

    AnySearch: TypeAlias = Search | LanesSearch

_logger = logging.getLogger("ggp.search")

Progress = Callable[[Move], None]
Reporting = Callable[[SearchReport], None]


class MctsPlayer(Player):
    """Monte-Carlo tree search: on lanes if the game is compiled, else in plain Python.

    With `simulations` every move gets exactly that many, in one thread by default, and the match is
    reproducible; without, the search uses its clocks and all cores. `best_move` can be read from another
    thread at any time.
    """

    name = "mcts"

    def __init__(
        self,
        own: MctsPlayerOptions | None = None,
        options: MctsOptions | None = None,
        *,
        on_progress: Progress | None = None,
        on_report: Reporting | None = None,
    ) -> None:
        """Set the options.

        own           when to search, and by which search
        options       of the search itself; None: its defaults
        on_progress   called with the best move so far whenever it changes
        on_report     called with a SearchReport a few times per second
        """
        self.own = own = own or MctsPlayerOptions()
        self.simulations = own.simulations
        self.margin_seconds = own.margin_seconds
        self.kind = own.search
        self.options = options or default_options(own.simulations)
        self.ponders = own.ponders
        self.ponders_on_observations = own.search != "reference"
        self.needs_lanes = own.search == "lanes"
        self.is_counted = own.simulations is not None
        self.takes_quick_games = not self.is_counted
        self.has_head_start = own.has_head_start
        self.on_progress = on_progress
        self.on_report = on_report
        self.last_report: SearchReport | None = None
        self.best_move: Move | None = None
        self._made: tuple[Hashable, Move] | None = None
        self._answer: Move | None = None
        self._is_pondering = False
        self.simulation_count: int = 0
        self._earlier_simulations = 0
        self._search: AnySearch | None = None
        self._exact: ExactPlay | None = None
        self._equilibrium: EquilibriumPlay | None = None
        self._possible: PossibleStates | None = None
        self._book: Book | None = None
        self._alphabeta: AlphaBetaPlayer | None = None
        self._network: NetworkPlay | None = None
        self._late: LateProofs | None = None
        self._tuned = ""
        self._root: Hashable = None
        self._next: tuple[Game[Any], AnySearch, ExactPlay | None] | None = None

    def prepare(self, game: Game[Any]) -> None:
        """Compile the kernels of the search or load them from the cache, before any clock starts."""
        if not is_compiled(game):
            return
        if self.kind == "reference":
            self._prepare_search(game)
            return
        from ggp.jit.compiling import announced_compilation
        from ggp.jit.second_process import compiled_beside
        from ggp.proofs.prover import prepare_proving
        from ggp.search.mcts.mixed_root import prepare_mixing
        from ggp.solver.solution import prepare_valuation

        evaluations = ("evaluations",) if self._may_need_evaluations(game) else ()
        self._late = None if evaluations else self._begin_late_proofs(game)
        if self._late is not None:
            with announced_compilation():
                self._prepare_search(game)
                prepare_mixing()
                self._prepare_network(game)
            return
        with announced_compilation():
            # A player that waits for a START does not know the game yet.
            policies = shipped_policies() if isinf(self.start_clock_seconds) else []
            beside = compiled_beside("ggp.proofs", *evaluations, *policies)
            with beside if self.own.is_proving else nullcontext():
                self._prepare_search(game)
                prepare_mixing()
                prepare_valuation()
            if self.own.is_proving:
                prepare_proving(cast("CompiledGame", game))
            if evaluations:
                from ggp.search.alphabeta.evaluation import prepare_evaluations

                prepare_evaluations()
            self._prepare_network(game)
            if self.own.is_proving and hides_information(game):
                from ggp.players.equilibrium_play import prepare_equilibria

                prepare_equilibria()

    def _prepare_network(self, game: Game[Any]) -> None:
        if self._may_use_network(game):
            from ggp.players.network_play import prepare_network

            prepare_network(game, self.own.network, may_use_kept=self._may_tune)

    def _begin_late_proofs(self, game: Game[Any]) -> LateProofs | None:
        """Compile proofs in the background if the match may begin without them, else return None."""
        if not self.begins_early or self.is_counted or not self.own.is_proving or hides_information(game):
            return None
        from ggp.players.late_proofs import begin_late_proofs
        from ggp.proofs.prover import prepare_proving
        from ggp.solver.solution import prepare_valuation

        def load() -> None:
            prepare_proving(cast("CompiledGame", game))
            prepare_valuation()

        return begin_late_proofs(load)

    def _prepare_search(self, game: Game[Any]) -> None:
        search = self._make_search(MatchSetup("prepare", game, game.roles[0], 0.0, 0.0, 0))
        state = game.initial_state()
        search.move_to(state, None)
        search.warm_up()
        try:
            # Following the match has kernels of its own, used where the tree has grown.
            joint_move = tuple(game.legal_moves(state, role)[0] for role in game.roles)
            search.run(Budget(time.monotonic() + 1.0, 500))
            search.move_to(game.next_state(state, joint_move), joint_move)
        except (GameError, IndexError):  # no match to follow: over at once, or the rules are at fault
            pass
        search.close()
        possible = self._make_possible(MatchSetup("prepare", game, game.roles[0], 0.0, 0.0, 0))
        if possible is not None:
            possible.prepare()

    def start(self, setup: MatchSetup, deadline: float) -> None:
        super().start(setup, deadline)
        self.best_move = self.last_report = self._made = None
        self._earlier_simulations = 0
        self._answer = None
        if self._may_search_possible(setup.game):
            self.belief.keep_keys()
        self._equilibrium = self._find_equilibrium(deadline)
        self._book = self._alphabeta = self._network = None
        if not hides_information(setup.game):
            self._book = open_book(setup.game, self.own.book, is_counted=self.is_counted)
        if self._equilibrium is not None:
            return
        self._begin_search(setup)
        self._move_to(setup.game.initial_state(), None)
        self._begin_network(setup)
        if self.is_counted:
            self.search.warm_up()
        elif not self.has_head_start:
            self.search.warm_up(deadline - self.margin_seconds)
        elif self._possible is not None:
            self._possible.search_ahead(self.belief, None, deadline - self.margin_seconds)
        elif self._exact is not None:
            self._exact.solve(cast("bytes", self._root), deadline - self.margin_seconds)
            if self._network is None:
                self._begin_alphabeta(setup, deadline - self.margin_seconds)
            if self._alphabeta is None:
                self._exact.think(cast("bytes", self._root), deadline - self.margin_seconds)
        else:
            self.search.run(Budget(deadline - self.margin_seconds))

    def _may_use_alphabeta(self, game: Game[Any]) -> bool:
        """Whether alpha-beta may come to choose the moves; only where the user left the search open."""
        if self.own.alphabeta == "off" or self.is_counted or self.kind == "reference":
            return False
        if not is_compiled(game) or len(game.roles) != 2:
            return False
        return self.own.alphabeta == "on" or (self._may_tune and self.own.is_proving and self.has_head_start)

    def _may_need_evaluations(self, game: Game[Any]) -> bool:
        """Whether alpha-beta may come to choose the moves, as far as start clock and what is kept say."""
        if not self._may_use_alphabeta(game):
            return False
        from ggp.players.alphabeta_play import LEAST_SECONDS, is_chosen

        if self.own.alphabeta == "on" or self.start_clock_seconds >= LEAST_SECONDS:
            return True
        tuned = self._tuned_options(game)
        if tuned is not None and tuned.has_alphabeta:
            return True
        options = self._options_for(game)
        return is_chosen(game, self._network_option, TunedOptions(options.policy, options.exploration))

    @property
    def _network_option(self) -> str:
        return self.own.network if self._may_tune else OFF

    def _may_use_network(self, game: Game[Any]) -> bool:
        return self.kind != "reference" and is_compiled(game) and not hides_information(game)

    def _begin_network(self, setup: MatchSetup) -> None:
        """Let a network guide the search of the moves, if one is given or kept."""
        if not self._may_use_network(setup.game):
            return
        from ggp.players.network_play import NetworkPlay, open_network

        game = cast("CompiledGame", setup.game)
        taught = open_network(game, self.own.network, may_use_kept=self._may_tune)
        if taught is not None:
            self._network = NetworkPlay(setup, taught, self.options.memory_mebibytes)

    def _begin_alphabeta(self, setup: MatchSetup, deadline: float) -> None:
        """Let alpha-beta choose the moves, if that is asked for, tuned, or found out in the start clock."""
        if not self._may_use_alphabeta(setup.game) or (self._exact is not None and self._exact.is_solved):
            return
        from ggp.players.alphabeta_play import begin_alphabeta, may_play_trials

        if may_play_trials(setup.game):
            tuned = self._tuned_options(setup.game)
            is_certain = self.own.alphabeta == "on" or (tuned is not None and tuned.has_alphabeta)
            rival = None if is_certain else self._options_for(setup.game)
            self._alphabeta = begin_alphabeta(
                setup,
                self.margin_seconds,
                deadline,
                rival,
                network=self._network_option,
            )

    def _find_equilibrium(self, deadline: float) -> EquilibriumPlay | None:
        """The equilibrium of a game with hidden information, if a part of the start clock suffices.

        Counted searches solve trees of at most as many histories as they may simulate.
        """
        setup = self.setup
        if not (self.own.is_proving and self.kind != "reference" and self.has_head_start):
            return None
        if not (is_compiled(setup.game) and hides_information(setup.game)):
            return None
        from ggp.players.equilibrium_play import CLOCK_SHARE, find_equilibrium_play

        mebibytes = self.own.proof_mebibytes
        if self.is_counted:
            return find_equilibrium_play(setup, None, mebibytes=mebibytes, histories=self.simulations)
        now = time.monotonic()
        until = now + CLOCK_SHARE * (deadline - self.margin_seconds - now)
        return find_equilibrium_play(setup, until, mebibytes=mebibytes)

    def observe(self, observation: Observation, deadline: float) -> None:
        super().observe(observation, deadline)
        self._answer = None
        if self._equilibrium is not None:
            self._equilibrium.observe(observation)

    def choose_by_observations(self, deadline: float) -> Move:
        self._answer = self._chosen_by_observations(deadline)
        return self._answer

    def _chosen_by_observations(self, deadline: float) -> Move:
        drawn = None if self._equilibrium is None else self._equilibrium.draw()
        if drawn is not None:
            move, self.last_report = drawn
            self._note(move)
            return move
        if self._search is None:
            # The match left the tree of the rules: over HTTP messages are lost.
            self._equilibrium = None
            self._begin_search(self.setup)
        return self._choose_by_possible_states(deadline) or super().choose_by_observations(deadline)

    def _choose_by_possible_states(self, deadline: float) -> Move | None:
        """The best move over the possible states; None if another search is to choose."""
        legal = self.belief.position.legal
        if self._possible is None or len(legal) < 2:
            return None
        self._made = None
        self._note(legal[0])
        until = None if self.is_counted else deadline - self.margin_seconds
        report = self._possible.search(self.belief, deadline=until, simulations=self.simulations)
        move = report.best_move
        if move is None or move not in legal:
            move = next((each.move for each in report.moves if each.move in legal), legal[0])
        self.last_report = report
        self._note(move)
        return move

    def _begin_search(self, setup: MatchSetup) -> None:
        """Set up the search, and on lanes what proves next to it."""
        self._search, self._exact = self._built(setup)
        if self._exact is not None:
            self._possible = self._make_possible(setup)

    def _built(self, setup: MatchSetup) -> tuple[AnySearch, ExactPlay | None]:
        """A search, and what proves next to it: None if it is not on lanes."""
        from ggp.search.mcts.reference.search import Search

        search = self._make_search(setup)
        if isinstance(search, Search):
            return search, None
        from ggp.players.exact_play import ExactPlay

        has_proofs = self._late is None or self._late.are_ready
        self._late = None if has_proofs else self._late
        own = self.own if has_proofs else replace(self.own, is_proving=False)
        return search, ExactPlay(setup, search, own)

    def _may_search_possible(self, game: Game[Any]) -> bool:
        return self.kind != "reference" and is_compiled(game) and hides_information(game)

    def _make_possible(self, setup: MatchSetup) -> PossibleStates | None:
        """The search of possible states, for games with `sees`."""
        if not self._may_search_possible(setup.game):
            return None
        from ggp.players.possible_states import PossibleStates

        return PossibleStates(setup, self.options)

    def _move_to(self, state: Hashable, joint_move: tuple[Move, ...] | None) -> None:
        self.search.move_to(state, joint_move)
        self._root = state

    def _think(self, deadline: float, is_stopped: Callable[[], bool] | None = None) -> None:
        """Search from the root; `is_stopped` means that this is pondering."""
        simulations = self.simulations if is_stopped is None else None
        if self._exact is not None:
            self._exact.think(cast("bytes", self._root), deadline, simulations, is_stopped)
        else:
            self.search.run(Budget(deadline, simulations, is_stopped=is_stopped))

    def _options_for(self, game: Game[Any]) -> MctsOptions:
        """The options of the search, with those that were tuned for the game; sets `_tuned`."""
        tuned = self._tuned_options(game)
        self._tuned = "" if tuned is None else str(tuned)
        if tuned is None:
            return self.options
        return replace(self.options, policy=tuned.policy, exploration=tuned.exploration)

    def _next_to_compilation(self, options: MctsOptions) -> MctsOptions:
        """`options` with one thread fewer while kernels are compiled."""
        return options if self._late is None else replace(options, threads=max(1, options.threads - 1))

    def _tuned_options(self, game: Game[Any]) -> TunedOptions | None:
        """What `ggp tune` found for the game, if these options leave the choice open."""
        found = tuned_options(game) if self._may_tune else None
        return None if found == TunedOptions() else found

    @property
    def _may_tune(self) -> bool:
        chosen, default = self.options, TunedOptions()
        is_default = (chosen.policy, chosen.exploration) == (default.policy, default.exploration)
        return self.own.is_tuned and is_default and not self.is_counted

    def _count_simulations(self) -> int:
        """Simulations of the searches that are there now."""
        possible = 0 if self._possible is None else self._possible.simulation_count
        return possible + self.search.simulation_count

    def _make_search(self, setup: MatchSetup) -> AnySearch:
        from ggp.search.mcts.reference.search import Search

        arguments: dict[str, Any] = {
            "seed": setup.seed,
            "options": self._next_to_compilation(self._options_for(setup.game)),
            "on_progress": self._note,
            "on_report": None if self.on_report is None else self._pass_on,
        }
        # Not isinstance: importing the class would load numba for games that do not need it.
        has_lanes = is_compiled(setup.game)
        if self.kind == "reference" or (self.kind == "auto" and not has_lanes):
            return Search(setup.game, setup.role, **arguments)
        if not has_lanes:
            raise PlayerFaultError(Late(), f"{setup.game.name} is not compiled: there is no search on lanes")
        from ggp.search.mcts.search import LanesSearch

        return LanesSearch(cast("CompiledGame", setup.game), setup.role, **arguments)

    @property
    def proving_seconds(self) -> float:
        """Time that proofs took in the search of the current state, out of that of the search."""
        return 0.0 if self._exact is None else self._exact.proving_seconds

    @property
    def search(self) -> AnySearch:
        """The search of the current match. Raises PlayerFaultError if `start` failed."""
        if self._search is None:
            raise PlayerFaultError(Late(), f"{self.name} is not ready for this match")
        return self._search

    def choose(self, state: Hashable, deadline: float, joint_move: tuple[Move, ...] | None) -> Move:
        legal = self.legal_moves(state)
        move, self.last_report = legal[0], None
        self._note(move)
        # Also before a forced move: the search follows the match by one joint move at a time.
        self._move_to(state, joint_move)
        self._take_late_proofs()
        known = self._book_move(state, deadline) if len(legal) > 1 else None
        if known is not None:
            move, self.last_report = known
            self._note(move)
        elif len(legal) > 1 and (found := self._guest_move(state, deadline, joint_move)) is not None:
            move, self.last_report = found
            self._note(move)
        elif len(legal) > 1:
            self._think(deadline - self.margin_seconds)
            if self._exact is not None:
                move, self.last_report = self._exact.choice(cast("bytes", state))
            else:
                move, self.last_report = self.search.best_move(), self.search.report()
            self._note(move)
        if self.last_report is not None and self._tuned:
            self.last_report = replace(self.last_report, tuned=self._tuned)
        self._made = (state, move)
        return move

    def _take_late_proofs(self) -> None:
        """Use proofs from now on, if their kernels are loaded by now."""
        if self._late is not None and self._late.have_failed:
            _logger.warning(
                "the kernels of proofs could not be compiled; this match continues without proofs"
            )
            self._late = None
        if self._late is None or not self._late.are_ready:
            return
        from ggp.players.exact_play import ExactPlay

        self._late = None
        self._exact = ExactPlay(self.setup, cast("LanesSearch", self.search), self.own)

    def _guest_move(
        self, state: Hashable, deadline: float, joint_move: tuple[Move, ...] | None
    ) -> tuple[Move, SearchReport] | None:
        """The move of alpha-beta or of the search by a network, where one of them is to choose and can."""
        if self._network is not None and not (self._exact is not None and self._exact.is_solved):
            until = None if self.is_counted else deadline - self.margin_seconds
            return self._network.choose(cast("bytes", state), deadline=until, simulations=self.simulations)
        return self._alphabeta_move(state, deadline, joint_move)

    def _alphabeta_move(
        self, state: Hashable, deadline: float, joint_move: tuple[Move, ...] | None
    ) -> tuple[Move, SearchReport] | None:
        """The move of alpha-beta where it is to choose and can."""
        if self._alphabeta is None or self._alphabeta.search is None:
            return None
        move = self._alphabeta.choose(state, deadline, joint_move)
        report = self._alphabeta.last_report
        return None if report is None else (move, cast("SearchReport", report))

    def _book_move(self, state: Hashable, deadline: float) -> tuple[Move, SearchReport] | None:
        if self._book is None or (self._exact is not None and self._exact.is_solved):
            return None
        return book_move(self._book, self.setup, state, deadline - self.margin_seconds)

    def prepare_change(self, game: Game[Any]) -> None:
        if self._search is not None:
            self._next = (game, *self._built(replace(self.setup, game=game)))

    def change_game(self, game: Game[Any]) -> None:
        super().change_game(game)
        self._made = self._alphabeta = self._network = None
        if self._search is None:
            return
        self._earlier_simulations += self._count_simulations()
        self._search.close()
        earlier, built, self._next = self._exact, self._next, None
        if built is not None and built[0] is game:
            self._search, self._exact = built[1:]
        else:
            self._begin_search(self.setup)
        self._begin_network(self.setup)
        if self._exact is not None and earlier is not None:
            self._exact.take_over(earlier)

    def ponder(self, is_over: Callable[[], bool], deadline: float) -> None:
        """Search on until `is_over()` or `deadline`.

        From the state after the own last move if no other role has a choice. Where roles do not see
        everything, from all states that may follow it.

        The next `choose` finds the tree. Ends at most one slice of the search after `is_over()`.
        """
        if self._alphabeta is not None:
            self._follow_own_move()
            self._alphabeta.ponder_in(self._root, is_over, deadline)
            return
        if self._possible is not None:
            if self._answer is None and not self.has_head_start:
                return
            self._possible.search_ahead(self.belief, self._answer, deadline, is_over)
            return
        if self._search is None or self._network is not None:
            return
        if not (self.has_head_start or self._made or self._search.simulation_count):
            return
        self._is_pondering = True
        try:
            self._follow_own_move()
            self._think(deadline, is_over)
        finally:
            self._is_pondering = False

    def _follow_own_move(self) -> None:
        """Make the state after the last move the root, if the other roles had no choice there."""
        if self._made is None:
            return
        made, self._made = self._made, None
        try:
            following = self.after_own_move(*made)
        except GameError:  # the rules are at fault: search on where the search is
            return
        if following is not None:
            joint_move, state = following
            self._move_to(state, joint_move)

    def stop(self, told: tuple[Term, ...] | None) -> None:
        super().stop(told)
        if self._search is not None:
            self.simulation_count = self._earlier_simulations + self._count_simulations()
            self._search.close()
        self._search = self._exact = self._equilibrium = self._possible = self._book = None
        self._alphabeta = self._network = self._next = None

    def _pass_on(self, report: SearchReport) -> None:
        if self.on_report is not None and not self._is_pondering:
            self.on_report(report)

    def _note(self, move: Move) -> None:
        if move != self.best_move and not self._is_pondering:
            self.best_move = move
            if self.on_progress is not None:
                self.on_progress(move)
