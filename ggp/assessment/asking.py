"""Ask a player for its moves in a position.

Every position is a separate match: START, moves, STOP. A late, illegal or missing move is a fault and
counts as no answer; it never ends the assessment.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any

from ggp.assessment.positions import Mixture, Place, PlayOut, Position, rules_at
from ggp.engines.loading import load
from ggp.game import Game, Move
from ggp.integers import check_integers
from ggp.match.faults import Crashed, Illegal, Late, Unreachable
from ggp.match.player import MatchSetup, Player, PlayerFaultError
from ggp.match.terms import GRACE_SECONDS, derived_seed

MIXTURE_ASKS = 16
"""Moves requested if a mixed strategy is optimal: enough to distinguish 7/12 from 1."""


@dataclass(frozen=True)
class AssessmentTerms:
    """Clocks, engine and seed of every match of an assessment."""

    start_clock_seconds: float = 1.0
    play_clock_seconds: float = 1.0
    engine: str = "auto"
    seed: int = 0
    grace_seconds: float = GRACE_SECONDS

    def __post_init__(self) -> None:
        check_integers(self, seed=None)


@dataclass
class Faults:
    """Fault counts: late or illegal moves, no connection, crashes, START not answered with `ready`."""

    late: int = 0
    illegal: int = 0
    lost: int = 0
    crashed: int = 0
    start: int = 0
    examples: list[str] = field(default_factory=list)

    def note(self, error: PlayerFaultError, where: str, *, is_start: bool = False) -> None:
        """Count one fault by its kind."""
        kinds = {Late: "late", Unreachable: "lost", Crashed: "crashed"}
        kind = "start" if is_start else kinds.get(type(error.fault), "illegal")
        setattr(self, kind, getattr(self, kind) + 1)
        self.examples.append(f"{where}: {error}")

    @property
    def count(self) -> int:
        return self.late + self.illegal + self.lost + self.crashed + self.start


@dataclass(frozen=True)
class Answer:
    """A player's answer to one position.

    moves     its moves, None for faults: one for a choice, MIXTURE_ASKS for a mixture, all moves of a puzzle
    goal      the goal it reached; puzzles only
    seconds   thinking time, START included
    """

    position: Position
    moves: tuple[str | None, ...]
    goal: int | None
    seconds: float


class Asker:
    """Asks one player for its moves in positions.

    make_player   creates a new player for every match
    """

    def __init__(
        self,
        make_player: Callable[[], Player],
        terms: AssessmentTerms,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.make_player, self.terms, self.clock = make_player, terms, clock
        self.faults = Faults()
        self.move_count = 0
        self._games: dict[str, Game[Any]] = {}

    def ask(self, position: Position) -> Answer:
        """Get the player's answer to one position. Raises what loading the game raises."""
        place = position.place
        game = load(rules_at(place), self.terms.engine, name=place.game)
        self.make_player().prepare(game)
        begin, goal = self.clock(), None
        if isinstance(position, PlayOut):
            moves, goal = self._play_out(position, game)
        else:
            asks = range(MIXTURE_ASKS if isinstance(position, Mixture) else 1)
            moves = [self.move_in(place, game, game.initial_state(), number) for number in asks]
        return Answer(position, tuple(moves), goal, self.clock() - begin)

    def game_of(self, path: str) -> Game[Any]:
        """The game of a rule sheet, loaded and prepared by the player once. Raises what loading raises."""
        if path not in self._games:
            self._games[path] = load(path, self.terms.engine)
            self.make_player().prepare(self._games[path])
        return self._games[path]

    def move_in(self, place: Place, game: Game[Any], state: Hashable, number: int = 0) -> str | None:
        """The player's move in a state, in a separate match; None after a fault."""
        match = _PositionMatch(self, place, game, number)
        move = match.choose(state, None)
        match.player.stop(match.joint_move(state, move))
        return None if move is None else str(move)

    def _play_out(self, position: PlayOut, game: Game[Any]) -> tuple[list[str | None], int]:
        match = _PositionMatch(self, position.place, game, 0)
        state = game.initial_state()
        joint_move: tuple[Move, ...] | None = None
        moves: list[str | None] = []
        while not game.is_terminal(state) and len(moves) < position.move_limit:
            move = match.choose(state, joint_move)
            moves.append(None if move is None else str(move))
            joint_move = match.joint_move(state, move)
            state = game.next_state(state, joint_move)
        match.player.stop(joint_move)
        return moves, game.goal(state, match.role)


class _PositionMatch:
    """A started match from a position: counts faults and replaces missing moves by random ones."""

    def __init__(self, asker: Asker, place: Place, game: Game[Any], number: int) -> None:
        self.asker, self.place, self.game = asker, place, game
        self.role = next(role for role in game.roles if str(role) == place.role)
        terms, seed = asker.terms, derived_seed(asker.terms.seed, f"{place.id}/{number}")
        self.chance = random.Random(seed)
        self.player = asker.make_player()
        clocks = terms.start_clock_seconds, terms.play_clock_seconds
        match_id = f"{place.id}.{number}.{seed % 10**8}"
        setup = MatchSetup(match_id, game, self.role, *clocks, seed, grace_seconds=terms.grace_seconds)
        self.player.get_ready()
        try:
            self.player.start(setup, asker.clock() + terms.start_clock_seconds)
        except PlayerFaultError as fault:
            asker.faults.note(fault, f"{place.id}: START", is_start=True)

    def choose(self, state: Hashable, joint_move: tuple[Move, ...] | None) -> Move | None:
        self.asker.move_count += 1
        limit = self.asker.terms.play_clock_seconds
        self.player.get_ready()
        begin = self.asker.clock()
        try:
            move = self.player.choose(state, begin + limit, joint_move)
            if move not in self.game.legal_moves(state, self.role):
                raise PlayerFaultError(Illegal(str(move)))
            late = self.asker.clock() - begin - limit
            if late > self.asker.terms.grace_seconds and not self.player.keeps_time:
                raise PlayerFaultError(Late())
        except PlayerFaultError as fault:
            self.asker.faults.note(fault, self.place.id)
            return None
        return move

    def joint_move(self, state: Hashable, move: Move | None) -> tuple[Move, ...]:
        """Complete `move` (if None, a random one) by random moves of the other roles."""
        return tuple(
            move
            if move is not None and role == self.role
            else self.chance.choice(self.game.legal_moves(state, role))
            for role in self.game.roles
        )
