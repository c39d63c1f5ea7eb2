"""The rows `mcts`, `solving` and `tablebase`: Monte-Carlo tree search and stronger advisors.

A game that is not compiled is searched in plain Python. Where information is hidden, an equilibrium is played
if the start clock suffices to find one, and trees over beliefs are searched otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from math import isinf
from typing import TYPE_CHECKING, Any

from ggp.game import RANDOM_ROLE, Game, hides_information, is_compiled
from ggp.knowledge.tuned import TunedOptions, shipped_options, shipped_policies
from ggp.players.advised import AdvisedPlayer, Row, Traits
from ggp.players.advisors.advisor import Advisor
from ggp.players.advisors.book import BookAdvisor
from ggp.players.advisors.tree import TreeAdvisor
from ggp.players.options import MctsPlayerOptions
from ggp.search.report import SearchReport
from ggp.search.tree.options import MctsOptions, default_options

if TYPE_CHECKING:
    from ggp.game import Move
    from ggp.players.advisors.proof import ProofAdvisor
    from ggp.players.late_proofs import LateProofs


def mcts_player(
    own: MctsPlayerOptions | None = None,
    options: MctsOptions | None = None,
    *,
    name: str = "mcts",
    first: Callable[[], Sequence[Advisor]] = lambda: (),
    solver_mebibytes: int | None = None,
    on_progress: Callable[[Move], None] | None = None,
    on_report: Callable[[SearchReport], None] | None = None,
) -> AdvisedPlayer:
    """A player by Monte-Carlo tree search, with these options.

    With `simulations` every move gets exactly that many, in one thread by default, and the match is
    reproducible; without, the search uses its clocks and all cores.

    own                 when to search, and with which search
    options             of the search itself; None: its defaults
    first               advisors to ask before all others, made for each match
    solver_mebibytes    of a solver on another core; None: there is none
    """
    own = own or MctsPlayerOptions()
    options = options or default_options(own.simulations)
    traits = Traits(
        simulations=own.simulations,
        margin_seconds=own.margin_seconds,
        is_counted=own.simulations is not None,
        ponders=own.ponders,
        ponders_on_observations=own.search != "reference",
        needs_lanes=own.search == "lanes",
        takes_quick_games=own.simulations is None and solver_mebibytes is None,
        has_head_start=own.has_head_start,
        native_seconds=own.native_seconds,
    )
    return AdvisedPlayer(
        name,
        MctsRow(own, options, first, solver_mebibytes),
        traits,
        options=(own, options),
        on_progress=on_progress,
        on_report=on_report,
    )


class MctsRow(Row):
    """The advisors of `mcts`, in order; see `mcts_player`."""

    def __init__(
        self,
        own: MctsPlayerOptions,
        options: MctsOptions,
        first: Callable[[], Sequence[Advisor]],
        solver_mebibytes: int | None,
    ) -> None:
        self.own, self.options = own, options
        self._first = first
        self._solver_mebibytes = solver_mebibytes
        self._late: LateProofs | None = None

    def advisors(self, game: Game[Any], player: AdvisedPlayer) -> Sequence[Advisor]:
        is_plain = self.own.search == "reference" and self._solver_mebibytes is None
        rest: list[Advisor]
        if is_plain or not is_compiled(game):
            tree = self._tree(game, player)
            rest = [tree] if hides_information(game) else [self._book(), tree]
        elif hides_information(game):
            rest = self._of_hidden_information()
        else:
            rest = self._of_compiled_game(game, player)
        return [*self._first(), *rest]

    def _tree(self, game: Game[Any], player: AdvisedPlayer, proof: ProofAdvisor | None = None) -> TreeAdvisor:
        """The tree search, with one thread fewer while kernels are compiled."""
        options, own = self._options_for(game), self.own
        if self._late is not None and not self._late.are_ready:
            options = replace(options, threads=max(1, options.threads - 1))
        return TreeAdvisor(
            options,
            kind=own.search,
            proof=proof,
            has_head_start=own.has_head_start,
            on_progress=player.note,
            on_report=None if player.on_report is None else player.pass_on,
        )

    def _of_hidden_information(self) -> list[Advisor]:
        from ggp.players.advisors.equilibrium import EquilibriumAdvisor
        from ggp.players.advisors.sets import SetsAdvisor

        own = self.own
        sets = SetsAdvisor(self.options, has_head_start=own.has_head_start)
        has_proofs = own.is_proving and own.has_head_start
        return [EquilibriumAdvisor(own.proof_mebibytes), sets] if has_proofs else [sets]

    def _of_compiled_game(self, game: Game[Any], player: AdvisedPlayer) -> list[Advisor]:
        from ggp.players.advisors.mixed import MixedAdvisor
        from ggp.players.advisors.network import NetworkAdvisor
        from ggp.players.advisors.proof import PlanAdvisor, ProofAdvisor
        from ggp.players.advisors.solution import SolutionAdvisor
        from ggp.players.advisors.trial import TrialAdvisor

        own, options = self.own, self._options_for(game)
        proof = ProofAdvisor(own.proof_mebibytes, self._late)
        has_lanes = own.search != "reference"
        has_proofs = own.is_proving and has_lanes
        tree = self._tree(game, player, proof if has_proofs else None)
        advisors: list[Advisor] = []
        if has_proofs or self._solver_mebibytes is not None:
            advisors.append(SolutionAdvisor(proof, own.has_head_start, self._solver_mebibytes))
        advisors.append(self._book())
        if has_lanes:
            advisors.append(
                NetworkAdvisor(own.network, options.memory_mebibytes, may_use_kept=self._may_tune)
            )
        is_duel = len(game.roles) == 2 and RANDOM_ROLE not in game.roles
        if has_lanes and is_duel and self._may_use_alphabeta:
            tuned = self._tuned_options(game)
            is_certain = own.alphabeta == "on" or (tuned is not None and tuned.has_alphabeta)
            advisors.append(TrialAdvisor(options, is_certain=is_certain))
        advisors.append(tree)
        if has_proofs:
            advisors += [proof, PlanAdvisor(proof)] if len(game.roles) == 1 else [proof]
        if has_lanes and own.is_mixing:
            advisors.append(MixedAdvisor(tree))
        return advisors

    def prepare(self, game: Game[Any], player: AdvisedPlayer) -> None:
        """Compile in two processes: kernels of proofs and evaluations in parallel with those of the tree.

        A match may begin before the proofs are compiled, if it needs no evaluations.
        """
        if not is_compiled(game) or self.own.search == "reference":
            super().prepare(game, player)
            return
        from ggp.jit.compiling import announced_compilation
        from ggp.jit.second_process import compiled_beside
        from ggp.players.advisors.mixed import MixedAdvisor
        from ggp.players.advisors.proof import ProofAdvisor
        from ggp.players.advisors.sets import SetsAdvisor
        from ggp.players.advisors.trial import TrialAdvisor

        advisors = self.advisors(game, player)
        of_tree = TreeAdvisor, SetsAdvisor, MixedAdvisor
        trials = [each for each in advisors if isinstance(each, TrialAdvisor)]
        is_evaluating = any(each.may_choose(game, player.start_clock_seconds) for each in trials)
        self._late = None if is_evaluating else self._begin_late_proofs(game, player)
        words = ["evaluations"] if is_evaluating else []
        # A player that waits for a START does not know the game yet.
        words += shipped_policies() if isinf(player.start_clock_seconds) else []
        is_waiting = self.own.is_proving and self._late is None
        skipped: list[type[Advisor]] = [] if self._late is None else [ProofAdvisor]
        skipped += [] if is_evaluating else [TrialAdvisor]
        with announced_compilation():
            with compiled_beside("ggp.proofs", *words) if is_waiting else nullcontext():
                for each in advisors:
                    if isinstance(each, of_tree):
                        each.prepare(game)
            for advisor in advisors:
                if not isinstance(advisor, (*of_tree, *skipped)):
                    advisor.prepare(game)

    def _begin_late_proofs(self, game: Game[Any], player: AdvisedPlayer) -> LateProofs | None:
        """Compile proofs in the background if the match may begin without them, else return None."""
        is_waiting = not player.begins_early or player.is_counted or hides_information(game)
        if is_waiting or not self.own.is_proving:
            return None
        from ggp.players.advisors.proof import load_proofs
        from ggp.players.late_proofs import begin_late_proofs

        return begin_late_proofs(lambda: load_proofs(game))

    def tuned(self, game: Game[Any]) -> str:
        found = self._tuned_options(game)
        return "" if found is None else str(found)

    def _book(self) -> BookAdvisor:
        return BookAdvisor(self.own.book, is_counted=self.own.simulations is not None)

    @property
    def _may_tune(self) -> bool:
        """Whether the options leave policy, C and search open, to be set by stored knowledge."""
        chosen, default = self.options, TunedOptions()
        is_default = (chosen.policy, chosen.exploration) == (default.policy, default.exploration)
        return self.own.is_tuned and is_default and self.own.simulations is None

    def _tuned_options(self, game: Game[Any]) -> TunedOptions | None:
        """The tuned options of the game, if these options leave the choice open."""
        found = shipped_options(game.program) if self._may_tune else None
        return None if found == TunedOptions() else found

    def _options_for(self, game: Game[Any]) -> MctsOptions:
        """The options of the search, with those that were tuned for the game."""
        tuned = self._tuned_options(game)
        if tuned is None:
            return self.options
        return replace(self.options, policy=tuned.policy, exploration=tuned.exploration)

    @property
    def _may_use_alphabeta(self) -> bool:
        """Whether alpha-beta may choose the moves: only if the user left the search open."""
        own = self.own
        if own.alphabeta == "off" or own.simulations is not None:
            return False
        return own.alphabeta == "on" or (self._may_tune and own.is_proving and own.has_head_start)
