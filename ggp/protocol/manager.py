"""The game manager: a match between players that are reached over HTTP.

The referee plays it in a thread; this event loop sends its requests, and can interrupt them. A match always
ends with a complete record, in which every fault stands. Waiting times are ggp-base's: START the start
clock, PLAY the play clock and the grace of the match, STOP the play clock, ABORT one second, connecting five.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from ggp.game import RANDOM_ROLE, Game, Role
from ggp.match.player import MatchQuitError, PlayerFaultError
from ggp.match.record import MatchRecord
from ggp.match.referee import Referee, Watcher
from ggp.match.terms import MatchTerms, derived_seed
from ggp.protocol.client import (
    INFO_SECONDS,
    NoConnectionError,
    RemotePlayer,
    Requests,
    Result,
    ask,
    parse_address,
    rules_on_wire,
)
from ggp.protocol.messages import Info, ProtocolError, is_word, parse_info_reply
from ggp.protocol.scrambling import Scrambler

STEP_LIMIT = 5000
"""Steps after which `ggp manage` aborts a match that does not end."""

LISTENING_SECONDS = 15.0
"""Time to wait for players that do not answer yet, because they were just started."""

ASK_AGAIN_SECONDS = 0.5
_UNKNOWN = "no readable status"


class NobodyThereError(Exception):
    """No connection to any player of a match could be opened."""


def take_seats(
    game: Game[Any],
    addresses: Sequence[str],
    *,
    scrambler: Scrambler | None = None,
    requests: Requests | None = None,
) -> list[RemotePlayer | None]:
    """The players of a match in rule-sheet order; None for `random`, which needs no address.

    Raises ValueError for a wrong number of players, and for what is not an address.
    """
    players = [RemotePlayer(address, scrambler=scrambler, requests=requests) for address in addresses]
    require_address_each(game.name, game.roles, addresses)
    remaining = iter(players)
    return [None if role == RANDOM_ROLE else next(remaining) for role in game.roles]


def require_address_each(name: str, roles: Sequence[Role], addresses: Sequence[str]) -> None:
    """Raises ValueError unless there is one address for each role of the game but `random`."""
    playing = [role for role in roles if role != RANDOM_ROLE]
    if len(addresses) != len(playing):
        names = " ".join(map(str, playing))
        raise ValueError(f"{name} needs {len(playing)} players ({names}), got {len(addresses)}")


def check_match_id(terms: MatchTerms) -> None:
    """Raises ValueError for a match id of more than one word; it may be empty."""
    if terms.match_id and not is_word(terms.match_id):
        raise ValueError(f"a match id is one word without parentheses, not {terms.match_id!r}")


async def wait_until_available(
    addresses: Sequence[str], *, limit_seconds: float, say: Callable[[str], None]
) -> list[str]:
    """Wait while players prepare or start to listen; returns the status of those not available.

    limit_seconds   for players that answer; others get at most `LISTENING_SECONDS`
    say             called with a line for people when waiting starts, and when a player is given up

    Old players do not answer INFO: START will decide. Raises NobodyThereError if none can be
    connected to.
    """
    statuses = await asyncio.gather(*(_wait_for(address, limit_seconds, say) for address in set(addresses)))
    if addresses and not any(statuses):
        raise NobodyThereError(f"no player listens at {' or '.join(sorted(set(addresses)))}")
    return [status for status in statuses if status != "available"]


async def _wait_for(address: str, limit_seconds: float, say: Callable[[str], None]) -> str:
    """The last status of one player: empty without a connection, `_UNKNOWN` without a readable answer."""
    begin, status, has_said = time.monotonic(), "", False
    url, fault = parse_address(address), ""
    while True:
        try:
            status = parse_info_reply(await ask(url, Info(), INFO_SECONDS)).status or "available"
        except NoConnectionError:
            pass
        except (PlayerFaultError, ProtocolError) as error:
            status, fault = status or _UNKNOWN, str(error).removeprefix(f"{url}: ")
        if status not in ("", _UNKNOWN, "busy"):
            return "available"
        why = {"": "does not answer", _UNKNOWN: f"does not answer INFO ({fault})"}.get(
            status, "is busy or preparing"
        )
        limit = limit_seconds if status == "busy" else min(LISTENING_SECONDS, limit_seconds)
        if time.monotonic() - begin >= limit:
            say(f"{address} {why} after {limit:g} s; continuing without waiting")
            return status
        if not has_said:
            say(f"{address} {why}; waiting for at most {limit:g} s")
            has_said = True
        await asyncio.sleep(ASK_AGAIN_SECONDS)


async def manage_match(
    game: Game[Any],
    addresses: Sequence[str],
    terms: MatchTerms,
    *,
    scramble: bool = False,
    watch: Watcher | None = None,
    record: Callable[[MatchRecord], None] | None = None,
) -> MatchRecord:
    """Play one match of `game` between the players at `addresses` (`host:port`, in role order).

    scramble   replace the names in the rules by unrelated words
    watch      called with every state and wait, in the referee's thread
    record     called with the record as soon as it exists; it then grows in place

    Cancelling aborts the match, notifies the players, and still raises. Raises ValueError for a wrong number
    of players, a text that is not an address, or a match id of more than one word.
    """
    check_match_id(terms)
    requests = _LoopRequests(asyncio.get_running_loop())
    scrambler = None
    if scramble:
        scrambler = Scrambler(
            rules_on_wire(game.program), random.Random(derived_seed(terms.seed, "scrambling"))
        )
    players = take_seats(game, addresses, scrambler=scrambler, requests=requests)
    await asyncio.gather(*(player.ask_name() for player in players if player is not None))
    referee = Referee(game, players, terms, watch=watch)
    referee.record.is_scrambled = scramble
    if record is not None:
        record(referee.record)
    playing = asyncio.create_task(asyncio.to_thread(referee.run))
    try:
        return await asyncio.shield(playing)
    except asyncio.CancelledError:
        requests.interrupt()
        await asyncio.wait({playing})
        raise


class _LoopRequests(Requests):
    """Runs requests of the referee's threads in the manager's event loop, until it is interrupted."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._running: set[asyncio.Task[Any]] = set()
        self._is_interrupted = False

    def interrupt(self) -> None:
        """End pending requests and all later ones but the last; call this in the event loop."""
        self._is_interrupted = True
        for task in self._running:
            task.cancel()

    def run(self, request: Coroutine[Any, Any, Result]) -> Result:
        """Raises MatchQuitError if the manager was interrupted."""
        return asyncio.run_coroutine_threadsafe(self._interruptible(request), self._loop).result()

    def run_last(self, request: Coroutine[Any, Any, Result]) -> Result:
        return asyncio.run_coroutine_threadsafe(request, self._loop).result()

    async def _interruptible(self, request: Coroutine[Any, Any, Result]) -> Result:
        task = asyncio.ensure_future(request)
        self._running.add(task)
        if self._is_interrupted:
            task.cancel()
        try:
            return await task
        except asyncio.CancelledError:
            raise MatchQuitError("stopped by the manager") from None
        finally:
            self._running.discard(task)
