"""The game manager: referees a match between players that are reached over HTTP.

It keeps the true state, asks all players at once, replaces what is late, missing or illegal by a move drawn
beforehand, and goes on: a match always ends with a complete record, in which every fault stands. Waiting
times are ggp-base's: START the start clock, PLAY the play clock and one second, STOP the play
clock, ABORT one second, connecting five.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from collections.abc import Awaitable, Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from gdl.errors import GdlError
from gdl.terms import Term
from ggp.game import RANDOM_ROLE, Game, GameError, Move, Role
from ggp.http_client import (
    PLAY_GRACE_SECONDS,
    ask,
    ask_move,
    parse_address,
    rules_on_wire,
    shorten,
)
from ggp.match import (
    MatchRecord,
    Moment,
    Watcher,
    derived_seed,
    goals_or_none,
    new_match_id,
    new_record,
    now_ms,
)
from ggp.players import PlayerFaultError
from ggp.protocol import Abort, Info, Message, Play, ProtocolError, Start, Stop, is_word, parse_info_reply
from ggp.scrambling import Scrambler
from ggp.tracking import has_percepts

INFO_SECONDS = 2.0
ABORT_SECONDS = 1.0
STEP_LIMIT = 5000
"""Steps after which a match that does not end is aborted."""

OnError = Literal["first", "random"]


@dataclass(frozen=True)
class MatchTerms:
    """What a match is played under.

    on_error    what replaces a missing or illegal move: a random legal one (ggp-base) or the first (Dresden)
    scramble    whether players get the rules with unrelated words
    """

    start_clock_seconds: float = 30.0
    play_clock_seconds: float = 10.0
    on_error: OnError = "random"
    scramble: bool = False
    seed: int = 0
    match_id: str = ""
    step_limit: int = STEP_LIMIT


@dataclass(frozen=True)
class Seat:
    """A role and the player that takes it. `url` is None for `random`, which the manager plays."""

    index: int
    role: Role
    url: str | None


@dataclass
class Answers:
    """What came back from one round of requests, one entry per role."""

    moves: list[Move | None] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    seconds: list[float | None] = field(default_factory=list)


def take_seats(game: Game[Any], addresses: Sequence[str]) -> list[Seat]:
    """Roles with their players, in rule-sheet order; `random` needs none. Raises ValueError."""
    urls = [parse_address(address) for address in addresses]
    playing = [role for role in game.roles if role != RANDOM_ROLE]
    if len(urls) != len(playing):
        names = " ".join(map(str, playing))
        raise ValueError(f"{game.name} needs {len(playing)} players ({names}), got {len(urls)}")
    remaining = iter(urls)
    return [
        Seat(index, role, None if role == RANDOM_ROLE else next(remaining))
        for index, role in enumerate(game.roles)
    ]


async def manage_match(
    game: Game[Any],
    addresses: Sequence[str],
    terms: MatchTerms,
    *,
    watch: Watcher | None = None,
    record: Callable[[MatchRecord], None] | None = None,
) -> MatchRecord:
    """Play one match of `game` between the players at `addresses` (`host:port`, in role order).

    watch    shown every state, and every wait
    record   given the record as soon as it exists; it then grows in place

    Always returns a record; cancelling aborts the match, tells the players, and still raises.
    Raises ValueError for a wrong number of players, what is no address, or a match id of more than one word.
    """
    if terms.match_id and not is_word(terms.match_id):
        raise ValueError(f"a match id is one word without parentheses, not {terms.match_id!r}")
    seats = take_seats(game, addresses)
    names = await asyncio.gather(*map(_player_name, seats))
    match_record = new_record(
        game,
        match_id=terms.match_id or new_match_id(game.name),
        start_clock_seconds=terms.start_clock_seconds,
        play_clock_seconds=terms.play_clock_seconds,
        player_names=names,
        seed=terms.seed,
        is_scrambled=terms.scramble,
    )
    if record is not None:
        record(match_record)
    return await _ManagedMatch(game, seats, terms, match_record, watch).run()


async def _player_name(seat: Seat) -> str:
    """What the player calls itself, with its address; not answering INFO is no fault."""
    if seat.url is None:
        return "random"
    address = seat.url.removeprefix("http://")
    with contextlib.suppress(PlayerFaultError, ProtocolError):
        name = parse_info_reply(await ask(seat.url, Info(), INFO_SECONDS)).name
        if name:
            return f"{name}@{address}"
    return address


class _ManagedMatch:
    """One match while it lasts."""

    def __init__(
        self,
        game: Game[Any],
        seats: Sequence[Seat],
        terms: MatchTerms,
        record: MatchRecord,
        watch: Watcher | None,
    ) -> None:
        self.game, self.seats, self.terms, self.record, self.watch = game, seats, terms, record, watch
        self.chance = random.Random(derived_seed(terms.seed, "chance"))
        self.rules = rules_on_wire(game.program)
        self.scrambler: Scrambler | None = None
        if terms.scramble:
            self.scrambler = Scrambler(self.rules, random.Random(derived_seed(terms.seed, "scrambling")))
        self.is_told_percepts = has_percepts(game)
        self.state: Hashable = None
        self.step = 0
        self.joint_move: tuple[Move, ...] | None = None
        self.news: list[tuple[Term, ...] | None] = [None] * len(seats)

    async def run(self) -> MatchRecord:
        try:
            self.state = await asyncio.to_thread(self.game.initial_state)
            await self._note_state()
            await self._start_players()
            while not await asyncio.to_thread(self.game.is_terminal, self.state):
                if self.step >= self.terms.step_limit:
                    raise GameError("no end, the limit of steps is reached")
                await self._make_step()
            self.record.complete(await asyncio.to_thread(goals_or_none, self.game, self.state))
            await self._tell_all(lambda seat: self._stop_message(seat), self.terms.play_clock_seconds)
        except GameError as error:
            await self._abort(str(error.at_step(self.step)))
        except (GdlError, RecursionError, MemoryError) as error:
            await self._abort(f"step {self.step}: {error or type(error).__name__}")
        except asyncio.CancelledError:
            await self._abort("stopped by the manager")
            raise
        except Exception as error:
            await self._abort(f"step {self.step}: fault of the manager: {error!r}")
            raise
        finally:
            self._show(is_over=True)
        return self.record

    async def _abort(self, reason: str) -> None:
        self.record.abort(reason)
        await self._tell_all(lambda seat: Abort(self.record.match_id), ABORT_SECONDS)

    # --- rounds of requests ---------------------------------------------------------------------

    async def _start_players(self) -> None:
        rules = self.rules if self.scrambler is None else self.scrambler.scramble_text(self.rules)
        terms = self.terms

        async def start(seat: Seat, url: str) -> None:
            message = Start(
                self.record.match_id,
                self._scramble(seat.role),
                rules,
                terms.start_clock_seconds,
                terms.play_clock_seconds,
            )
            reply = await ask(url, message, terms.start_clock_seconds, receiver=str(seat.role))
            if reply.lower() != "ready":
                raise PlayerFaultError(f"IL {shorten(reply)}")

        self._show(self._thinker(), terms.start_clock_seconds)
        answers = await self._ask_all(start)
        self.record.errors.append(answers.errors)
        self.record.move_seconds.append(answers.seconds)

    async def _make_step(self) -> None:
        legal = await asyncio.to_thread(self._legal_moves)
        # Drawn before anybody is asked: chance depends on the seed alone, not on who is late.
        drawn = [self.chance.choice(moves) for moves in legal]
        answers = await self._ask_moves(legal)
        joint_move = tuple(
            move if move is not None else self._substitute(seat, legal[seat.index], drawn[seat.index])
            for seat, move in zip(self.seats, answers.moves, strict=True)
        )
        await asyncio.to_thread(self._advance, joint_move)
        self.record.moves.append([str(move) for move in joint_move])
        self.record.errors.append(answers.errors)
        self.record.move_seconds.append(answers.seconds)
        await self._note_state()

    def _legal_moves(self) -> list[tuple[Move, ...]]:
        return [self.game.legal_moves(self.state, role) for role in self.game.roles]

    def _substitute(self, seat: Seat, legal: Sequence[Move], drawn: Move) -> Move:
        return legal[0] if self.terms.on_error == "first" and seat.url is not None else drawn

    async def _ask_moves(self, legal: Sequence[Sequence[Move]]) -> Answers:
        async def move(seat: Seat, url: str) -> Move:
            message = Play(self.record.match_id, self.news[seat.index])
            limit = self.terms.play_clock_seconds + PLAY_GRACE_SECONDS
            answer = await ask_move(url, message, limit, receiver=str(seat.role))
            chosen = answer if self.scrambler is None else self.scrambler.unscramble(answer)
            if chosen not in legal[seat.index]:
                raise PlayerFaultError(f"IL {shorten(str(chosen))}")
            return chosen

        self._show(self._thinker(legal), self.terms.play_clock_seconds)
        return await self._ask_all(move)

    async def _ask_all(self, request: Callable[[Seat, str], Awaitable[Move | None]]) -> Answers:
        """Ask every player at the same time; `random` and players at fault give None."""

        async def timed(seat: Seat) -> tuple[Move | None, str, float | None]:
            if seat.url is None:
                return None, "", None
            begin = time.monotonic()
            try:
                move, code = await request(seat, seat.url), ""
            except PlayerFaultError as fault:
                move, code = None, fault.code
            return move, code, round(time.monotonic() - begin, 4)

        results = await asyncio.gather(*map(timed, self.seats))
        return Answers(
            [move for move, _, _ in results],
            [code for _, code, _ in results],
            [seconds for _, _, seconds in results],
        )

    async def _tell_all(self, message_for: Callable[[Seat], Message], limit_seconds: float) -> None:
        """Send STOP or ABORT; nothing that comes back matters."""

        async def tell(seat: Seat, url: str) -> None:
            await ask(url, message_for(seat), max(ABORT_SECONDS, limit_seconds), receiver=str(seat.role))

        await self._ask_all(tell)

    def _stop_message(self, seat: Seat) -> Message:
        return Stop(self.record.match_id, self.news[seat.index])

    # --- state ----------------------------------------------------------------------------------

    def _advance(self, joint_move: tuple[Move, ...]) -> None:
        """Make the joint move, and prepare what each player will be told of it."""
        if self.is_told_percepts:
            seen = [self.game.percepts(self.state, joint_move, role) for role in self.game.roles]
        else:
            seen = [joint_move] * len(self.seats)
        self.state = self.game.next_state(self.state, joint_move)
        self.news = [tuple(map(self._scramble, told)) for told in seen]
        self.joint_move = joint_move
        self.step += 1

    def _scramble(self, term: Term) -> Term:
        return term if self.scrambler is None else self.scrambler.scramble(term)

    async def _note_state(self) -> None:
        facts = await asyncio.to_thread(self.game.facts, self.state)
        self.record.add_state(facts, now_ms())
        self._show()

    def _thinker(self, legal: Sequence[Sequence[Move]] | None = None) -> Role | None:
        """The first player with something to decide, to be shown; everybody is asked at the same time."""
        players = [seat for seat in self.seats if seat.url is not None]
        deciding = [seat for seat in players if legal is None or len(legal[seat.index]) > 1]
        return next((seat.role for seat in [*deciding, *players]), None)

    def _show(
        self, thinking: Role | None = None, clock_seconds: float = 0.0, *, is_over: bool = False
    ) -> None:
        if self.watch is None:
            return
        deadline = None if thinking is None else time.monotonic() + clock_seconds
        self.watch(
            Moment(
                self.record,
                self.game,
                self.state,
                self.step,
                self.joint_move,
                thinking=thinking,
                deadline=deadline,
                is_over=is_over,
            )
        )
