"""Asking a player over HTTP: one request per connection, and `RemotePlayer`, its seat in a match.

Players in the wild answer without Content-Length, with LF-only lines, without a reason phrase and with any
status; whatever the status, the body is the answer. A reply that aiohttp cannot read at all, such as one
without headers, counts as a connection error.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import Coroutine, Hashable
from typing import Any, TypeVar
from urllib.parse import urlsplit

import aiohttp

from gdl.program import Program
from gdl.syntax.parser import decode
from gdl.syntax.printer import to_kif
from gdl.terms import Term
from ggp.beliefs.observation import Observation
from ggp.game import Move
from ggp.match.faults import Illegal, Late, Unreachable, parse_fault, shorten
from ggp.match.player import MatchSetup, Player, PlayerFaultError
from ggp.protocol.messages import (
    FAULT_HEADER,
    Abort,
    Info,
    Message,
    Play,
    ProtocolError,
    Start,
    Stop,
    format_message,
    parse_info_reply,
    parse_move_reply,
    printable,
)
from ggp.protocol.scrambling import Scrambler

CONNECT_SECONDS = 5.0
INFO_SECONDS = 2.0
ABORT_SECONDS = 1.0
_MAX_REPLY_BYTES = 256 * 1024

Result = TypeVar("Result")


class NoConnectionError(PlayerFaultError):
    """Nobody listens at the address of a player."""

    def __init__(self, message: str) -> None:
        super().__init__(Unreachable(), message)


def parse_address(text: str) -> str:
    """The URL of a player written `host:port`, `http://host:port` or `host` (port 9147).

    Raises ValueError.

    >>> parse_address("localhost")
    'http://localhost:9147'
    """
    parts = urlsplit(text if "//" in text else f"http://{text}")
    try:
        port = parts.port or 9147
    except ValueError:
        raise ValueError(f"bad port in {text!r}") from None
    if parts.scheme != "http" or not parts.hostname or parts.path not in ("", "/") or parts.query:
        raise ValueError(f"{text!r} is not a player address: expected host:port")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"http://{host}:{port}"


async def ask(url: str, message: Message, limit_seconds: float, *, receiver: str = "") -> str:
    """Send `message` to the player at `url`; returns its reply within `limit_seconds`.

    Raises NoConnectionError, and PlayerFaultError: Late, or Unreachable for an unreadable reply too.
    """
    return (await ask_for_fault(url, message, limit_seconds, receiver=receiver))[0]


async def ask_for_fault(
    url: str, message: Message, limit_seconds: float, *, receiver: str = ""
) -> tuple[str, str]:
    """`ask`, and the fault by which the reply is not that of the player's agent; mostly empty."""
    timeout = aiohttp.ClientTimeout(total=limit_seconds, sock_connect=CONNECT_SECONDS)
    headers = {"Content-Type": "text/acl", "Sender": "GAMEMASTER", "Receiver": receiver or "PLAYER"}
    body = format_message(message).encode()
    try:
        async with (
            aiohttp.ClientSession(auto_decompress=False, timeout=timeout) as session,
            session.post(url, data=body, headers=headers, allow_redirects=False) as response,
        ):
            reply = await _read_reply(response)
            fault = printable(shorten(response.headers.get(FAULT_HEADER, "")))
    except aiohttp.ConnectionTimeoutError:
        raise NoConnectionError(f"{url}: no connection in {CONNECT_SECONDS:g} s") from None
    except aiohttp.ClientConnectorError as error:
        raise NoConnectionError(f"{url}: {_reason(error)}") from None
    except TimeoutError:
        raise PlayerFaultError(Late(), f"{url}: no answer in {limit_seconds:g} s") from None
    except (aiohttp.ClientError, OSError, ValueError) as error:
        raise PlayerFaultError(Unreachable(), f"{url}: {_reason(error)}") from None
    return decode(reply).strip(), fault


def _reason(error: Exception) -> str:
    """Why there is no answer, in words for the user."""
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return "unknown host"
    if isinstance(error, aiohttp.ServerDisconnectedError):
        return "connection closed without an answer"
    if isinstance(error, aiohttp.ClientConnectorError):
        error = error.os_error
    if isinstance(error, ConnectionRefusedError):
        return "nobody is listening there (connection refused)"
    if isinstance(error, OSError) and error.errno:
        return os.strerror(error.errno).lower()
    return "the answer is not HTTP"


async def _read_reply(response: aiohttp.ClientResponse) -> bytes:
    reply = bytearray()
    # A body shorter than announced is still an answer.
    with contextlib.suppress(aiohttp.ClientPayloadError):
        async for chunk in response.content.iter_chunked(8192):
            reply += chunk
            if len(reply) > _MAX_REPLY_BYTES:
                break
    return bytes(reply)


def rules_on_wire(program: Program) -> str:
    """The rules as START carries them: one canonical line without comments, for the simplest parsers."""
    return " ".join(to_kif(program).split())


class Requests:
    """Runs requests for threads that wait for the answer, each in an event loop of its own."""

    def run(self, request: Coroutine[Any, Any, Result]) -> Result:
        """Run one request and return its answer; raises what it raises."""
        return asyncio.run(request)

    def run_last(self, request: Coroutine[Any, Any, Result]) -> Result:
        """Run the request that ends a match."""
        return asyncio.run(request)


class RemotePlayer(Player):
    """The seat of a player that is reached over HTTP.

    Each call blocks until the player answers or its time is up, and must be made in a thread without a
    running event loop.

    scrambler   hides the meaning of names from this player; None tells it the rules as they are
    requests    runs what is sent
    """

    is_remote = True
    keeps_time = True

    def __init__(
        self, address: str, *, scrambler: Scrambler | None = None, requests: Requests | None = None
    ) -> None:
        """Raises ValueError for a text that is not an address."""
        self.url = parse_address(address)
        self.name = self.address = self.url.removeprefix("http://")
        self.scrambler = scrambler
        self.requests = requests or Requests()
        self._percepts: tuple[Term, ...] | None = None

    def start(self, setup: MatchSetup, deadline: float) -> None:
        super().start(setup, deadline)
        self._percepts = None
        rules = rules_on_wire(setup.game.program)
        message = Start(
            setup.match_id,
            self._scramble(setup.role),
            rules if self.scrambler is None else self.scrambler.scramble_text(rules),
            setup.start_clock_seconds,
            setup.play_clock_seconds,
        )
        reply, _ = self.requests.run(self._ask(message, _remaining(deadline)))
        if reply.lower() != "ready":
            raise PlayerFaultError(
                Illegal(shorten(reply)), f"{self.url} answers START with {shorten(reply)!r}"
            )

    def choose(self, state: Hashable, deadline: float, joint_move: tuple[Move, ...] | None) -> Move:
        return self._play(joint_move, deadline)

    def observe(self, observation: Observation, deadline: float) -> None:
        self._percepts = observation.percepts

    def choose_by_observations(self, deadline: float) -> Move:
        return self._play(self._percepts, deadline)

    def _play(self, told: tuple[Term, ...] | None, deadline: float) -> Move:
        """The player's answer to PLAY; told of the last step: the joint move or the role's percepts."""
        message = Play(self.setup.match_id, self._scramble_all(told))
        limit = _remaining(deadline) + self.setup.grace_seconds
        reply, stated = self.requests.run(self._ask(message, limit))
        move, fault = None, parse_fault(stated)
        try:
            move = parse_move_reply(reply)
        except ProtocolError:
            fault = fault or Illegal(shorten(reply))
        if move is not None and self.scrambler is not None:
            move = self.scrambler.unscramble(move)
        if move is None or fault is not None:
            raise PlayerFaultError(
                fault or Illegal(""), f"{self.url}: not its agent's move: {shorten(reply)!r}", move
            )
        return move

    def stop(self, told: tuple[Term, ...] | None) -> None:
        if self._setup is None:
            return
        match_id = self.setup.match_id
        if told is None:
            request = self._ask(Abort(match_id), ABORT_SECONDS)
        else:
            message = Stop(match_id, self._scramble_all(told))
            request = self._ask(message, max(ABORT_SECONDS, self.setup.play_clock_seconds))
        with contextlib.suppress(PlayerFaultError):
            self.requests.run_last(request)
        super().stop(told)

    def require_listener(self) -> None:
        """Raises NoConnectionError if nobody listens. Whoever does need not know INFO, nor be quick."""
        try:
            self.requests.run(ask(self.url, Info(), INFO_SECONDS))
        except NoConnectionError:
            raise
        except PlayerFaultError:
            return

    async def ask_name(self) -> None:
        """Take the name from the INFO reply, with the address; without a reply keep the name."""
        with contextlib.suppress(PlayerFaultError, ProtocolError):
            name = parse_info_reply(await ask(self.url, Info(), INFO_SECONDS)).name
            if name:
                self.name = f"{name}@{self.address}"

    async def _ask(self, message: Message, limit_seconds: float) -> tuple[str, str]:
        receiver = str(self._scramble(self.setup.role))
        return await ask_for_fault(self.url, message, limit_seconds, receiver=receiver)

    def _scramble(self, term: Term) -> Term:
        return term if self.scrambler is None else self.scrambler.scramble(term)

    def _scramble_all(self, terms: tuple[Term, ...] | None) -> tuple[Term, ...] | None:
        return None if terms is None else tuple(map(self._scramble, terms))


def _remaining(deadline: float) -> float:
    return max(0.1, deadline - time.monotonic())
