"""Putting a position before a player and taking down what it answers.

Every position is a match of its own: START, moves, STOP. A late, illegal or missing move is a fault, counts
as no answer, and never ends the assessment.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any

from ggp.assessment.positions import Choice, Mixture, Place, PlayOut, Position, rules_at
from ggp.game import Game, Move
from ggp.loading import load
from ggp.match import derived_seed, prepare_player
from ggp.players import MatchSetup, Player, PlayerFaultError

GRACE_SECONDS = 0.5
"""How much later than its clock a move may come; as in local matches."""

MIXTURE_ASKS = 16
"""How often a move is asked for where a mixture is right: enough to tell 7/12 from always."""


@dataclass(frozen=True)
class Terms:
    """What the player is given."""

    start_clock_seconds: float = 1.0
    play_clock_seconds: float = 1.0
    engine: str = "auto"
    seed: int = 0


@dataclass
class Faults:
    """What went wrong: late or illegal moves, no connection, START not answered with `ready`."""

    late: int = 0
    illegal: int = 0
    lost: int = 0
    start: int = 0
    examples: list[str] = field(default_factory=list)

    def note(self, fault: PlayerFaultError, where: str, *, is_start: bool = False) -> None:
        """Count one fault by its code, as in the match record."""
        code = fault.code
        if is_start:
            self.start += 1
        elif code == "TO":
            self.late += 1
        elif code == "CE":
            self.lost += 1
        else:
            self.illegal += 1
        self.examples.append(f"{where}: {fault}")

    @property
    def count(self) -> int:
        return self.late + self.illegal + self.lost + self.start


@dataclass(frozen=True)
class Answer:
    """What the player made of one position.

    moves     its answers, None for faults: one for a choice, one per ask for a mixture, the line of a puzzle
    goal      puzzles only: what it got
    seconds   of thinking, START included
    """

    position: Position
    moves: tuple[str | None, ...]
    goal: int | None
    seconds: float


class Asker:
    """Asks one player about positions.

    make_player   a fresh player for every match
    """

    def __init__(
        self,
        make_player: Callable[[], Player],
        terms: Terms,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.make_player, self.terms, self.clock = make_player, terms, clock
        self.faults = Faults()
        self.move_count = 0

    def ask(self, position: Position) -> Answer:
        """The player's answer to one position. Raises what loading the game raises."""
        place = position.place
        game = load(rules_at(place), self.terms.engine, name=place.game)
        prepare_player(self.make_player(), game)
        if isinstance(position, PlayOut):
            return self._play_out(position, game)
        asks = MIXTURE_ASKS if isinstance(position, Mixture) else 1
        begin = self.clock()
        moves = tuple(self._one_move(place, game, number) for number in range(asks))
        return Answer(position, moves, None, self.clock() - begin)

    def _one_move(self, place: Place, game: Game[Any], number: int) -> str | None:
        sitting = _Sitting(self, place, game, number)
        sitting.start()
        state = game.initial_state()
        move = sitting.choose(state, None)
        sitting.stop(sitting.joint_move(state, move))
        return None if move is None else str(move)

    def _play_out(self, position: PlayOut, game: Game[Any]) -> Answer:
        sitting = _Sitting(self, position.place, game, 0)
        begin = self.clock()
        sitting.start()
        state = game.initial_state()
        joint_move: tuple[Move, ...] | None = None
        moves: list[str | None] = []
        while not game.is_terminal(state) and len(moves) < position.move_limit:
            move = sitting.choose(state, joint_move)
            moves.append(None if move is None else str(move))
            joint_move = sitting.joint_move(state, move)
            state = game.next_state(state, joint_move)
        sitting.stop(joint_move)
        goal = game.goal(state, sitting.role)
        return Answer(position, tuple(moves), goal, self.clock() - begin)


class _Sitting:
    """One match of the player: its faults are noted, and random moves replace missing ones."""

    def __init__(self, asker: Asker, place: Place, game: Game[Any], number: int) -> None:
        self.asker, self.place, self.game = asker, place, game
        self.role = next(role for role in game.roles if str(role) == place.role)
        self.seed = derived_seed(asker.terms.seed, f"{place.id}/{number}")
        self.chance = random.Random(self.seed)
        self.match_id = f"{place.id}.{number}.{self.seed % 10**8}"
        self.player = asker.make_player()

    def start(self) -> None:
        terms = self.asker.terms
        setup = MatchSetup(
            self.match_id,
            self.game,
            self.role,
            terms.start_clock_seconds,
            terms.play_clock_seconds,
            self.seed,
        )
        begin = self.asker.clock()
        try:
            self.player.start(setup, begin + terms.start_clock_seconds)
        except PlayerFaultError as fault:
            self.asker.faults.note(fault, f"{self.place.id}: START", is_start=True)

    def choose(self, state: Hashable, joint_move: tuple[Move, ...] | None) -> Move | None:
        """The player's move, or None where it made a fault."""
        self.asker.move_count += 1
        limit = self.asker.terms.play_clock_seconds
        begin = self.asker.clock()
        try:
            move = self.player.choose(state, begin + limit, joint_move)
            if move not in self.game.legal_moves(state, self.role):
                raise PlayerFaultError(f"IL {move}")
            late = self.asker.clock() - begin - limit
            if late > GRACE_SECONDS and not getattr(self.player, "is_remote", False):
                raise PlayerFaultError("TO")
        except PlayerFaultError as fault:
            self.asker.faults.note(fault, self.place.id)
            return None
        return move

    def joint_move(self, state: Hashable, move: Move | None) -> tuple[Move, ...]:
        """`move`, or a random one, with random moves of the other roles."""
        return tuple(
            move
            if move is not None and role == self.role
            else self.chance.choice(self.game.legal_moves(state, role))
            for role in self.game.roles
        )

    def stop(self, joint_move: tuple[Move, ...] | None) -> None:
        self.player.stop(joint_move)


def ask_count(position: Position) -> tuple[int, int]:
    """How many matches and moves a position costs at most."""
    match position:
        case Choice():
            return (1, 1)
        case Mixture():
            return (MIXTURE_ASKS, MIXTURE_ASKS)
        case PlayOut():
            return (1, position.move_limit)
