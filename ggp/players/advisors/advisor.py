"""The contract of an advisor: one source of moves, asked by `ggp.players.advised.AdvisedPlayer`."""

from __future__ import annotations

import random
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

from ggp.beliefs.belief import Belief
from ggp.beliefs.observation import Observation
from ggp.game import Game, Move
from ggp.match.player import MatchSetup
from ggp.search.budget import Budget
from ggp.search.protocol import Advice


@dataclass(frozen=True)
class Position:
    """The situation of one role in a match.

    state         in games with hidden information one that agrees with everything observed
    joint_move    that led to `state`; None if that is not known
    legal         moves of the role, sorted by text; at least two when an advisor is asked
    observations  of the role so far, in games with `sees`
    own_move      the role's answer here, once it has one: while it ponders
    advice        of the advisors asked before, none of it final
    rng           for moves that are drawn, the same in the whole match
    """

    state: Hashable
    joint_move: tuple[Move, ...] | None = None
    legal: tuple[Move, ...] = ()
    observations: tuple[Observation, ...] = ()
    own_move: Move | None = None
    advice: Advice | None = None
    rng: random.Random = field(default_factory=random.Random)


class Advisor:
    """One source of moves for one match; a subclass must override `advise`.

    >>> import ggp
    >>> class First(ggp.Advisor):
    ...     def advise(self, position, budget):
    ...         return ggp.Advice(position.legal[0], is_final=True)
    >>> First().advise(Position(b"", legal=(ggp.parse_term("a"), ggp.parse_term("b"))), None).move
    Symbol('a')

    leads              it has advice on every move: while it does, advisors after it do not even begin
    simulation_count   playouts of this match; None if it does not count them
    """

    leads: bool = False
    simulation_count: int | None = None

    def prepare(self, game: Game[Any]) -> None:
        """Compile what the advisor needs, before any clock starts."""

    def start(self, setup: MatchSetup, budget: Budget) -> bool:
        """Begin a match within the `budget` of the start clock; False: the game is not supported."""
        return True

    def watch(self, belief: Belief) -> None:
        """In games with hidden information: set what the belief keeps, before `start` and any observation."""

    def follow(self, position: Position) -> None:
        """Take the current position: after `start`, before each move, and before pondering."""

    def advise(self, position: Position, budget: Budget) -> Advice | None:
        """A move for the last position of `follow`, in which the role has a choice; None without advice."""
        raise NotImplementedError(f"{type(self).__name__} does not override advise")

    def ponder(self, budget: Budget) -> None:
        """Continue from the last position of `follow` while other roles think."""

    def take_over(self, earlier: Advisor) -> None:
        """Take over results of `earlier`, of the same class, for the same rules on another circuit."""

    def stop(self) -> None:
        """End the match."""
