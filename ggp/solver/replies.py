"""Values of strategies: some roles play by given strategies, and the others as well as they can against them.

    V(given, best) = sum over joint moves of their probabilities × value of the next state

A strategy is written `ROLE: MOVE=SHARE, MOVE=SHARE`, or `ROLE: uniform`. In each state the role draws among
the listed moves that are legal there, in proportion to their shares; if none is, or for `uniform`, among all
legal moves alike. A role without a strategy knows those of the others and maximizes its own goal: against
`uniform` this is expectimax (Michie, "Game-playing and game-learning automata", 1966).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

from ggp.analysis.scale import NUMBER
from ggp.game import RANDOM_ROLE, Game, Move, Role
from ggp.solver.limits import UnsolvableError
from ggp.suggestions import did_you_mean

UNIFORM = "uniform"
MAX_STATES = 100_000
MAX_DEPTH = 400
"""Longer games exceed Python's stack."""


class StrategyError(ValueError):
    """The text is not a strategy of a role of the game."""


@dataclass(frozen=True)
class Strategy:
    """A strategy of one role: the shares of its moves by their texts; none: all legal moves alike."""

    role: Role
    shares: Mapping[str, Fraction]

    def mix(self, legal: Sequence[Move]) -> list[Fraction]:
        """The probability of each legal move.

        >>> from gdl.terms import Symbol
        >>> strategy = Strategy(Symbol("x"), {"a": Fraction(1), "b": Fraction(3)})
        >>> print(*strategy.mix([Symbol("b"), Symbol("c"), Symbol("a")]), *strategy.mix([Symbol("c")]))
        3/4 0 1/4 1
        """
        weights = [self.shares.get(str(move), Fraction(0)) for move in legal]
        total = sum(weights, Fraction(0))
        return [weight / total if total else Fraction(1, len(legal)) for weight in weights]


@dataclass(frozen=True)
class Replies:
    """Goals by given strategies.

    values    of each role, in role order
    replies   move of the initial state → goal of `replier` by it; empty if no role chooses freely there
    states    visited, equal ones once
    """

    values: tuple[Fraction, ...]
    replier: Role | None
    replies: dict[Move, Fraction]
    states: int


def parse_strategy(text: str, game: Game[Any]) -> Strategy:
    """The strategy in a text such as `odd: show 1=7/12, show 2=5/12`. Raises StrategyError.

    Moves stand without their outer parentheses or with them; a share may be left out if there is one move.

    >>> import ggp
    >>> game = ggp.load("morra", engine="reasoner")
    >>> parse_strategy("even: show 1=1/2, show 2=1/2", game).shares
    {'(show 1)': Fraction(1, 2), '(show 2)': Fraction(1, 2)}
    >>> parse_strategy("even: 1=1/2, 2=1/2", game)
    Traceback (most recent call last):
    ggp.solver.replies.StrategyError: '1' is not a move of even, ...
    """
    name, colon, rest = text.partition(":")
    roles = {str(role): role for role in game.roles if role != RANDOM_ROLE}
    if not colon or name.strip() not in roles:
        raise StrategyError(
            f"a strategy begins with its role, {' or '.join(roles)}, as in"
            f" '{next(iter(roles))}: uniform'; not {text!r}"
        )
    role, parts = roles[name.strip()], [part.strip() for part in rest.split(",")]
    if parts == [UNIFORM]:
        return Strategy(role, {})
    shares: dict[str, Fraction] = {}
    for part in parts:
        move, equals, share = (each.strip() for each in part.rpartition("="))
        if not equals:
            move, share = part, "1"
        known = known_moves(game, role)
        written = next((each for each in (move, f"({move})") if each in known), None)
        if written is None:
            some = ", ".join(sorted(known)[:4])
            raise StrategyError(
                f"{move!r} is not a move of {role}, such as {some}{did_you_mean(move, known)}"
            )
        if re.fullmatch(NUMBER, share, re.ASCII) is None or Fraction(share) < 0:
            raise StrategyError(f"the share of {written} must be a number or a fraction, not {share!r}")
        if written in shares:
            raise StrategyError(f"{written} is given twice")
        shares[written] = Fraction(share)
    if sum(shares.values()) != 1:
        raise StrategyError(f"the shares of {role} add up to {sum(shares.values())}, not 1")
    return Strategy(role, shares)


def known_moves(game: Game[Any], role: Role) -> set[str]:
    """The moves of a role by their texts: of the whole game if it is compiled, else of the initial state."""
    moves: Any = getattr(game, "moves", None)
    if moves is not None:
        return {str(move) for move in moves[game.roles.index(role)]}
    return {str(move) for move in game.legal_moves(game.initial_state(), role)}


def find_replies(
    game: Game[Any], strategies: Sequence[Strategy], check: Callable[[], None] = lambda: None
) -> Replies:
    """Values by `strategies`, the other roles replying as well as they can.

    check   called for every new state; what it raises ends the search
    Raises UnsolvableError if two roles would choose freely at once, or if the game is too large or endless.

    >>> import ggp
    >>> game = ggp.load("morra", engine="reasoner")
    >>> found = find_replies(game, [parse_strategy("odd: show 1=1/2, show 2=1/2", game)])
    >>> {str(move): str(goal) for move, goal in found.replies.items()}
    {'(show 1)': '45', '(show 2)': '55'}
    """
    return _Search(game, strategies, check).run()


class _Search:
    def __init__(self, game: Game[Any], strategies: Sequence[Strategy], check: Callable[[], None]) -> None:
        self.game, self.check = game, check
        self.given = {game.roles.index(each.role): each for each in strategies}
        if len(self.given) < len(strategies):
            raise UnsolvableError("a role has two strategies")
        self.known: dict[Hashable, tuple[Fraction, ...]] = {}
        self.on_path: set[Hashable] = set()

    def run(self) -> Replies:
        state = self.game.initial_state()
        values = self.value(state)
        replier, rated = (None, {}) if self.game.is_terminal(state) else self.rated(state)
        role = None if replier is None else self.game.roles[replier]
        goals = {} if replier is None else {move: worth[replier] for move, worth in rated.items()}
        return Replies(values, role, goals, len(self.known))

    def value(self, state: Any) -> tuple[Fraction, ...]:
        """The goals of all roles from a state on."""
        if state in self.known:
            return self.known[state]
        if state in self.on_path or len(self.on_path) > MAX_DEPTH:
            raise UnsolvableError("a match may be endless, or too long for given strategies")
        if len(self.known) >= MAX_STATES:
            raise UnsolvableError(f"more than {MAX_STATES:,} states are too many for given strategies")
        self.check()
        if self.game.is_terminal(state):
            found = tuple(self.goal(state, role) for role in self.game.roles)
        else:
            self.on_path.add(state)
            replier, rated = self.rated(state)
            found = max(rated.values(), key=lambda worth: worth[replier or 0])
            self.on_path.remove(state)
        self.known[state] = found
        return found

    def goal(self, state: Any, role: Role) -> Fraction:
        return Fraction(0) if role == RANDOM_ROLE else Fraction(self.game.goal(state, role))

    def rated(self, state: Any) -> tuple[int | None, dict[Move, tuple[Fraction, ...]]]:
        """The role that chooses freely, and what all roles get by each of its moves; with None one entry."""
        legal = [self.game.legal_moves(state, role) for role in self.game.roles]
        mixes = [self.mix(r, moves) for r, moves in enumerate(legal)]
        free = [r for r, mix in enumerate(mixes) if mix is None]
        if len(free) > 1:
            names = " and ".join(str(self.game.roles[r]) for r in free)
            raise UnsolvableError(f"{names} choose at the same time: give a strategy for all but one")
        replier = free[0] if free else None
        choices = legal[replier] if replier is not None else legal[0][:1]
        rated = {}
        for choice in choices:
            options = [
                [(choice, Fraction(1))] if r == replier else list(zip(legal[r], mix or (), strict=True))
                for r, mix in enumerate(mixes)
            ]
            total = [Fraction(0)] * len(legal)
            for joint in product(*options):
                chance = prod((share for _, share in joint), start=Fraction(1))
                if chance:
                    worth = self.value(self.game.next_state(state, [move for move, _ in joint]))
                    total = [a + chance * b for a, b in zip(total, worth, strict=True)]
            rated[choice] = tuple(total)
        return replier, rated

    def mix(self, role: int, moves: Sequence[Move]) -> list[Fraction] | None:
        """The probabilities of a role's moves; None if it chooses freely."""
        if role in self.given:
            return self.given[role].mix(moves)
        if len(moves) == 1 or self.game.roles[role] == RANDOM_ROLE:
            return [Fraction(1, len(moves))] * len(moves)
        return None
