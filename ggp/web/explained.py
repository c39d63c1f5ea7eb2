"""The page that explains a position of a match: which searches are offered, and the page of one.

`ggp.explain` bounds the nodes, the depth and the time of a search; the process of the sheets, its memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gdl.syntax.parser import parse_term
from ggp.engines.batches import state_of_facts
from ggp.engines.loading import load
from ggp.game import RANDOM_ROLE, Role
from ggp.processes.child_end import RequestError

if TYPE_CHECKING:
    from ggp.explain.explanation import Explanation

_SIMULATIONS = ("mcts", "mast", "rave")
_FITTING = {
    "one or two roles": ("alphabeta", "pvs", "minimax", *_SIMULATIONS, "maxn", "paranoid"),
    "chance": ("expectiminimax", "expectimax", "star1", *_SIMULATIONS),
    "more roles": ("maxn", "paranoid", *_SIMULATIONS),
}

_EVEN = (45.0, 55.0)
_RESULTS = {0.0: "a loss", 50.0: "a draw", 100.0: "a win"}


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
    from ggp.explain.page import POLICY, page_of
    from ggp.explain.searches import explain
    from ggp.explain.writing import writing_of

    game = load(rules + "\n", engine="reasoner", name=name)
    if by not in fitting(game.roles):
        raise RequestError(f"choose one of {', '.join(fitting(game.roles))}")
    state = None if facts is None else state_of_facts(game, map(parse_term, facts))
    found = explain(writing_of(game, "short"), by, state=state)
    return {"page": page_of(found, verdict(found, game.roles)), "policy": POLICY}


def verdict(found: Explanation, roles: Sequence[Role]) -> str:
    """What a search found, in one sentence: the move, its value for whom, and how far the search looked.

    >>> from ggp.explain.searches import explain
    >>> verdict(explain("[[3,9],[2,4]]"), ["max", "min"])
    'The search prefers a: max can expect 3 of 100, behind, at the end of the game.'
    """
    if not found.value:
        return f"The search {found.summary[0]}."
    players = [str(role) for role in roles if role != RANDOM_ROLE]
    simulations = next((line for line in found.summary if "simulation" in line), "")
    mover = found.nodes[0].player.split("+")[0]
    values = [float(each) for each in found.value.strip("()").split(", ")]
    has_own = bool(simulations) or len(values) > 1  # a single value of a tree is the first player's
    whose = mover if has_own and mover in players else players[0]
    value = values[players.index(whose)] if len(values) > 1 else values[0]
    depth = found.horizon.removeprefix(" to depth ")
    far = f"after {simulations}" if simulations else f"looking {depth} moves ahead" if depth else ""
    word = "ahead" if value > _EVEN[1] else "behind" if value < _EVEN[0] else "even"
    if not far:
        far, word = "at the end of the game", _RESULTS.get(value, word)
    judged = f", {word}," if len(players) > 1 else ""
    move = f"The search prefers {found.best_line[0]}" if found.best_line else "Chance decides here"
    return f"{move}: {whose} can expect {value:.3g} of 100{judged} {far}."
