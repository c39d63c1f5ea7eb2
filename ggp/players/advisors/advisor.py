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
    """Where the match is, for one role.

    state         in games with hidden information one that agrees with everything observed
    joint_move    that led to `state`; None if that is not known
    legal         moves of the role, sorted by text; more than one where an advisor is asked
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
        """Begin a match, and use what `budget` leaves of the start clock; False: the game is not for it."""
        return True

    def watch(self, belief: Belief) -> None:
        """Say what the belief must keep, before `start` and any observation, where information is hidden."""

    def follow(self, position: Position) -> None:
        """Note where the match is: after `start`, before each move, and before pondering."""

    def advise(self, position: Position, budget: Budget) -> Advice | None:
        """A move for the position followed last, in which the role has a choice; None without any advice."""
        raise NotImplementedError(f"{type(self).__name__} does not override advise")

    def ponder(self, budget: Budget) -> None:
        """Search on from the position followed last, while other roles think."""

    def take_over(self, earlier: Advisor) -> None:
        """Keep what `earlier`, of the same class, has found for the same rules on another circuit."""

    def stop(self) -> None:
        """End the match."""
