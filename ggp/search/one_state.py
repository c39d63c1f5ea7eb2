"""`search_state`: tree search of one state, its result as data."""

from __future__ import annotations

import math
import time
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, TypeAlias

from ggp.engines.batches import require_compiled
from ggp.game import RANDOM_ROLE, Game, GameError, Role, is_compiled
from ggp.integers import to_integer
from ggp.search.budget import Budget
from ggp.search.report import SearchReport
from ggp.search.tree.options import MctsOptions, default_options, parse_options

if TYPE_CHECKING:
    from ggp.search.tree.reference.search import Search
    from ggp.search.tree.search import LanesSearch

    AnySearch: TypeAlias = Search | LanesSearch

SECONDS = 1.0
"""Time of a search without `simulations` and `seconds`."""


def search_state(
    game: Game[Any],
    state: Hashable | None = None,
    role: Role | None = None,
    *,
    simulations: int | None = None,
    seconds: float | None = None,
    seed: int = 0,
    **options: str | float | bool,
) -> SearchReport:
    """Search a state by Monte-Carlo tree search.

    The report has values and visits of all moves, the best move and the best line.

    state         None: the initial state
    role          whose move is looked for; None: the first role that has a choice
    simulations   number of playouts; the result is then the same on every machine
    seconds       time instead, after compiling; one second if neither is given
    options       those of the player mcts, by the same names: policy="rave+mast", c=30, solver=False

    Compiled games are searched on lanes, all others in plain Python.

    >>> import ggp
    >>> game = ggp.load("nim", engine="reasoner")
    >>> report = ggp.search_state(game, simulations=200)
    >>> report.playouts, len(report.moves), report.best_move in [move.move for move in report.moves]
    (200, 16, True)
    >>> ggp.search_state(game, simulations=5, polizy="mast")
    Traceback (most recent call last):
    ggp...OptionError: ...option 'polizy'...

    Raises GameError for terminal states and unknown roles, OptionError; TypeError and ValueError for seeds
    and simulations that are not integers.
    """
    seed = to_integer(seed, "seed")
    simulations = None if simulations is None else to_integer(simulations, "simulations", 1)
    state = game.initial_state() if state is None else state
    if game.is_terminal(state):
        raise GameError("the match is over in this state: there is nothing to search")
    if role is None:
        role = _choosing_role(game, state)
    game.legal_moves(state, role)  # names the roles if this is not one, and reports faults of the rules
    switches = {True: "on", False: "off"}
    texts = {name: switches[v] if isinstance(v, bool) else str(v) for name, v in options.items()}
    search = _make_search(game, role, seed, parse_options(texts, default_options(simulations)))
    try:
        search.move_to(state, None)
        if simulations is None and seconds is None:
            seconds = SECONDS
        if seconds is not None:
            search.warm_up()
        deadline = math.inf if seconds is None else time.monotonic() + seconds
        search.run(Budget(deadline, simulations))
        return search.report()
    finally:
        search.close()


def _choosing_role(game: Game[Any], state: Hashable) -> Role:
    """The first role except chance that has a choice; else the first role."""
    players = [role for role in game.roles if role != RANDOM_ROLE] or list(game.roles)
    return next((role for role in players if len(game.legal_moves(state, role)) > 1), players[0])


def _make_search(game: Game[Any], role: Role, seed: int, options: MctsOptions) -> AnySearch:
    """The search on lanes, or the plain-Python one with the same methods."""
    if is_compiled(game):
        from ggp.search.tree.search import LanesSearch

        return LanesSearch(require_compiled(game), role, seed=seed, options=options)
    from ggp.search.tree.reference.search import Search

    return Search(game, role, seed=seed, options=options)
