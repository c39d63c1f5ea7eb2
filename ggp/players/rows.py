"""The rows `alphabeta` and `uct`, whose advisors are the same in every game."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ggp.features.evaluation import LinearEvaluation
from ggp.game import Game, Move, hides_information
from ggp.players.advised import AdvisedPlayer, Traits
from ggp.players.advisors.advisor import Advisor
from ggp.players.advisors.alphabeta import AlphaBetaAdvisor
from ggp.players.advisors.book import BookAdvisor
from ggp.players.advisors.tablebase import EndingsAdvisor
from ggp.players.advisors.uct import UctAdvisor
from ggp.players.options import OWN_COALITION, AlphaBetaOptions, UctOptions
from ggp.search.alphabeta.reference.refinements import Refinements
from ggp.search.tree.options import MctsOptions


class PlainRow:
    """Advisors that are created for each match."""

    def __init__(self, make: Callable[[Game[Any]], Sequence[Advisor]]) -> None:
        self._make = make

    def advisors(self, game: Game[Any], player: AdvisedPlayer) -> Sequence[Advisor]:
        return self._make(game)

    def prepare(self, game: Game[Any], player: AdvisedPlayer) -> None:
        for advisor in self._make(game):
            advisor.prepare(game)

    def tuned(self, game: Game[Any]) -> str:
        return ""


def alphabeta_player(
    own: AlphaBetaOptions | None = None,
    refinements: Refinements | None = None,
    *,
    weights: LinearEvaluation | None = None,
    on_progress: Callable[[Move], None] | None = None,
) -> AdvisedPlayer:
    """A player by alpha-beta.

    refinements   of the readable search, with `own.is_reference`
    weights       score the horizon by these, instead of learning

    >>> alphabeta_player(AlphaBetaOptions(depth=3)).is_counted
    True
    """
    options = own or AlphaBetaOptions()
    is_counted = options.nodes is not None or options.depth is not None

    def make(game: Game[Any]) -> list[Advisor]:
        search = AlphaBetaAdvisor(options, weights, refinements)
        is_minimax = options.coalition == OWN_COALITION and not options.opponent_error
        if not is_minimax or hides_information(game):
            return [search]
        endings = EndingsAdvisor(options.endings, is_counted=is_counted)
        return [endings, BookAdvisor(options.book, is_counted=is_counted), search]

    traits = Traits(margin_seconds=options.margin_seconds, is_counted=is_counted, nodes=options.nodes)
    return AdvisedPlayer("alphabeta", PlainRow(make), traits, options=(options,), on_progress=on_progress)


def uct_player(own: UctOptions | None = None) -> AdvisedPlayer:
    """A player by plain UCT.

    >>> import ggp
    >>> players = [uct_player(UctOptions(simulations=300)), ggp.make_player("legal")]
    >>> ggp.play_match(ggp.load("tictactoe"), players)
    <MatchRecord tictactoe: x (uct) 100, o (legal) 0; ...>
    """
    options = own or UctOptions()
    traits = Traits(simulations=options.simulations, is_counted=True, needs_lanes=True)
    row = PlainRow(lambda game: [UctAdvisor(search_options(options))])
    return AdvisedPlayer("uct", row, traits, options=(options,))


def search_options(own: UctOptions) -> MctsOptions:
    """The options of `uct` as forests take them.

    >>> search_options(UctOptions(exploration=20.0)).exploration
    20.0
    """
    return MctsOptions(exploration=own.exploration, is_solving=own.is_solving)
