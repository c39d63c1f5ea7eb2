"""Requests to a player over HTTP, one per connection, and `RemotePlayer`, its seat in a match.

Requests are HTTP/1.0, which every peer speaks and answers by closing the connection. A reply that
`ggp.protocol.http_reply` cannot read, such as one without a head, counts as a connection error.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import string
import time
from collections.abc import Coroutine, Hashable
from typing import Any, TypeVar
from urllib.parse import urlsplit

from gdl.program import Program
from gdl.syntax.printer import to_kif
from gdl.terms import Term
from ggp.beliefs.observation import Observation
from ggp.game import Move
from ggp.match.faults import Illegal, Late, Unreachable, parse_fault, shorten
from ggp.match.player import MatchSetup, Player, PlayerFaultError
from ggp.protocol.http_reply import HttpReply, NotHttpError
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
    message_text,
    parse_info_reply,
    parse_move_reply,
    printable,
)
from ggp.protocol.scrambling import Scrambler

CONNECT_SECONDS = 5.0
INFO_SECONDS = 2.0
ABORT_SECONDS = 1.0

Result = TypeVar("Result")


class NoConnectionError(PlayerFaultError):
    """No connection to a player could be opened."""

    def __init__(self, message: str) -> None:
        super().__init__(Unreachable(), message)


def parse_address(text: str) -> str:
    """The URL of a player written `host:port`, `http://host:port` or `host` (port 9147). Raises ValueError.

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
    """As `ask`, with the fault if the move is not the agent's own; mostly empty."""
    deadline = time.monotonic() + limit_seconds
    connect_seconds = min(CONNECT_SECONDS, limit_seconds)
    try:
        async with asyncio.timeout(connect_seconds):
            transport, reply = await _connect(url)
    except TimeoutError:
        raise NoConnectionError(f"{url}: no connection in {connect_seconds:g} s") from None
    except OSError as error:
        raise NoConnectionError(f"{url}: {_reason(error)}") from None
    try:
        transport.write(_request(url, format_message(message).encode(), receiver or "PLAYER"))
        reading = asyncio.ensure_future(reply.read())
        await asyncio.wait({reading}, timeout=max(0.0, deadline - time.monotonic()))
        if not (reading.done() or reply.is_complete):
            reading.cancel()
            raise TimeoutError
        # If this process itself was delayed, a reply that has arrived by now is not late.
        text = message_text(await reading)
    except TimeoutError:
        raise PlayerFaultError(Late(), f"{url}: no answer in {limit_seconds:g} s") from None
    except ConnectionError:
        raise PlayerFaultError(Unreachable(), f"{url}: connection closed without an answer") from None
    except NotHttpError:
        raise PlayerFaultError(Unreachable(), f"{url}: the answer is not HTTP") from None
    finally:
        transport.abort() if transport.get_write_buffer_size() else transport.close()
    return text, printable(shorten(reply.headers.get(FAULT_HEADER.lower(), "")))


async def _connect(url: str) -> tuple[asyncio.Transport, HttpReply]:
    """Open a connection to the first address of the host that accepts it. Raises OSError."""
    loop, parts = asyncio.get_running_loop(), urlsplit(url)
    error = OSError()
    for family, *_, address in await loop.getaddrinfo(parts.hostname, parts.port, type=socket.SOCK_STREAM):
        try:
            return await loop.create_connection(HttpReply, *address[:2], family=family)
        except OSError as refusal:
            error = refusal
    raise error


def _request(url: str, body: bytes, receiver: str) -> bytes:
    head = (
        f"POST / HTTP/1.0\r\nHost: {urlsplit(url).netloc}\r\nAccept: */*\r\n"
        f"Sender: GAMEMASTER\r\nReceiver: {printable(receiver)}\r\n"
        f"Content-Type: text/acl\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def _reason(error: OSError) -> str:
    if isinstance(error, socket.gaierror):
        return "unknown host"
    if isinstance(error, ConnectionRefusedError):
        return "no player is listening there (connection refused)"
    return os.strerror(error.errno).lower() if error.errno else "no connection"


def rules_on_wire(program: Program) -> str:
    """The rules as START carries them: one canonical line without comments, for the simplest parsers."""
    return " ".join(to_kif(program).split())


class Requests:
    """Runs requests for waiting threads, each in a separate event loop."""

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

    scrambler   hides the meaning of names from this player; None: it receives the original rules
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
        rules = rules if self.scrambler is None else self.scrambler.scramble_text(rules)
        clocks = setup.start_clock_seconds, setup.play_clock_seconds
        message = Start(setup.match_id, self._scramble(setup.role), rules, *clocks)
        reply, _ = self.requests.run(self._ask(message, _remaining(deadline)))
        if reply.strip(string.punctuation + string.whitespace).lower() != "ready":
            raise PlayerFaultError(
                Illegal(shorten(reply)), f"{self.url} answers START with {shorten(reply)!r}"
            )

    def choose(self, state: Hashable, deadline: float, joint_move: tuple[Move, ...] | None) -> Move:
        return self._play(joint_move, deadline)

    def observe(self, observation: Observation, deadline: float) -> None:
        self._percepts = observation.percepts

    def choose_by_observations(self, deadline: float) -> Move:
        return self._play(self._percepts, deadline)

    def _play(self, terms: tuple[Term, ...] | None, deadline: float) -> Move:
        """The player's answer to PLAY. terms: the last joint move, or the role's percepts of it."""
        message = Play(self.setup.match_id, self._scramble_all(terms))
        limit = _remaining(deadline) + self.setup.grace_seconds
        reply, stated = self.requests.run(self._ask(message, limit))
        move, fault = None, parse_fault(stated)
        try:
            move = parse_move_reply(reply)
        except ProtocolError as error:
            fault = fault or Illegal(shorten(reply))
            problem = f"not a move ({error})"
        else:
            problem = "not its agent's move"
        if move is not None and self.scrambler is not None:
            move = self.scrambler.unscramble(move)
        if move is None or fault is not None:
            raise PlayerFaultError(fault or Illegal(""), f"{self.url}: {problem}: {shorten(reply)!r}", move)
        return move

    def stop(self, terms: tuple[Term, ...] | None) -> None:
        if self._setup is None:
            return
        match_id = self.setup.match_id
        if terms is None:
            request = self._ask(Abort(match_id), ABORT_SECONDS)
        else:
            message = Stop(match_id, self._scramble_all(terms))
            request = self._ask(message, max(ABORT_SECONDS, self.setup.play_clock_seconds))
        with contextlib.suppress(PlayerFaultError):
            self.requests.run_last(request)
        super().stop(terms)

    def require_listener(self) -> None:
        """Raises NoConnectionError if no connection opens; the player need not support INFO or be quick."""
        try:
            self.requests.run(ask(self.url, Info(), INFO_SECONDS))
        except NoConnectionError:
            raise
        except PlayerFaultError:
            return

    async def ask_name(self) -> None:
        """Set the name from the INFO reply and the address; without a reply the name stays."""
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
