"""The page that explains a position of a match: which searches are offered, and the page of one.

`ggp.explain` bounds the nodes, the depth and the time of a search; the process of the sheets, its memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gdl.syntax.parser import parse_term
from ggp.engines.batches import state_of_facts
from ggp.engines.loading import load
from ggp.game import RANDOM_ROLE, Role
from ggp.processes.child_end import RequestError

_SIMULATIONS = ("mcts", "mast", "rave")
_FITTING = {
    "one or two roles": ("alphabeta", "pvs", "minimax", *_SIMULATIONS, "maxn", "paranoid"),
    "chance": ("expectiminimax", "expectimax", "star1", *_SIMULATIONS),
    "more roles": ("maxn", "paranoid", *_SIMULATIONS),
}


def fitting(roles: Sequence[Role]) -> tuple[str, ...]:
    """Names of the searches that may fit a game with these roles, the usual one first.

    >>> from gdl.terms import Symbol
    >>> fitting([Symbol("x"), Symbol("o")])[:3], fitting([Symbol("x"), RANDOM_ROLE])[0]
    (('alphabeta', 'pvs', 'minimax'), 'expectiminimax')
    """
    has_chance = RANDOM_ROLE in roles
    if len(roles) - has_chance > 2:
        return _FITTING["more roles"]
    return _FITTING["chance" if has_chance else "one or two roles"]


def explained(rules: str, name: str, facts: Sequence[str] | None, by: str) -> dict[str, Any]:
    """The page of the search `by` from the state `facts` (None: the initial one), and its security policy.

    Settings of searches are refused, for some name files. Raises RequestError and GameError.
    """
    from ggp.explain.page import POLICY, explain_page

    game = load(rules + "\n", engine="reasoner", name=name)
    if by not in fitting(game.roles):
        raise RequestError(f"choose one of {', '.join(fitting(game.roles))}")
    state = None if facts is None else state_of_facts(game, map(parse_term, facts))
    return {"page": explain_page(game, by, state=state), "policy": POLICY}
