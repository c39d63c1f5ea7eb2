"""The rows `alphabeta` and `uct`, whose advisors are the same in every game."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ggp.features.linear_form import LinearForm
from ggp.game import Game, Move, hides_information
from ggp.players.advised import AdvisedPlayer, Row, Traits
from ggp.players.advisors.advisor import Advisor
from ggp.players.advisors.alphabeta import AlphaBetaAdvisor
from ggp.players.advisors.book import BookAdvisor
from ggp.players.advisors.uct import UctAdvisor
from ggp.players.options import OWN_COALITION, AlphaBetaOptions, UctOptions
from ggp.search.tree.options import MctsOptions


def alphabeta_player(
    own: AlphaBetaOptions | None = None,
    *,
    weights: LinearForm | None = None,
    function: Callable[[Game[Any], Any], float] | None = None,
    on_progress: Callable[[Move], None] | None = None,
) -> AdvisedPlayer:
    """A player by alpha-beta.

    weights    score the horizon by these, instead of learning
    function   scores the horizon of the readable search, as `Estimate.function`
    """
    options = own or AlphaBetaOptions()
    is_counted = options.nodes is not None or options.depth is not None

    def make(game: Game[Any]) -> list[Advisor]:
        search = AlphaBetaAdvisor(options, weights, function)
        is_minimax = options.coalition == OWN_COALITION and not options.opponent_error
        if not is_minimax or hides_information(game):
            return [search]
        return [BookAdvisor(options.book, is_counted=is_counted), search]

    traits = Traits(
        margin_seconds=options.margin_seconds,
        is_counted=is_counted,
        nodes=options.nodes,
        native_seconds=options.native_seconds,
    )
    return AdvisedPlayer("alphabeta", Row(make), traits, options=(options,), on_progress=on_progress)


def uct_player(own: UctOptions | None = None) -> AdvisedPlayer:
    """A player by plain UCT."""
    options = own or UctOptions()
    traits = Traits(simulations=options.simulations, is_counted=True, needs_lanes=True)
    row = Row(lambda game: [UctAdvisor(search_options(options))])
    return AdvisedPlayer("uct", row, traits, options=(options,))


def search_options(own: UctOptions) -> MctsOptions:
    """The options of `uct` as forests take them."""
    return MctsOptions(exploration=own.exploration, is_solving=own.is_solving)
