"""Asking a player over HTTP: one request per connection, and `RemotePlayer` for local matches.

Players in the wild answer without Content-Length, with LF-only lines, without a reason phrase and with any
status; whatever the status, the body is the answer. What aiohttp cannot read at all, such as a reply
without headers, counts as a connection error.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Hashable
from urllib.parse import urlsplit

import aiohttp

from gdl.parser import decode
from gdl.printer import to_kif
from gdl.program import Program
from gdl.terms import Term
from ggp.game import Move
from ggp.players import MatchSetup, PlayerFaultError
from ggp.protocol import (
    Abort,
    Message,
    Play,
    ProtocolError,
    Start,
    Stop,
    format_message,
    parse_move_reply,
)
from ggp.tracking import has_percepts

CONNECT_SECONDS = 5.0
PLAY_GRACE_SECONDS = 1.0
"""How much longer than the play clock ggp-base, and we, wait for a move."""

_MAX_REPLY_BYTES = 256 * 1024
_SHOWN_CHARACTERS = 200


def parse_address(text: str) -> str:
    """The URL of a player written `host:port`, `http://host:port` or `host` (port 9147).

    Raises ValueError.
    """
    parts = urlsplit(text if "//" in text else f"http://{text}")
    try:
        port = parts.port or 9147
    except ValueError:
        raise ValueError(f"bad port in {text!r}") from None
    if parts.scheme != "http" or not parts.hostname or parts.path not in ("", "/") or parts.query:
        raise ValueError(f"{text!r} is no player address; write host:port")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"http://{host}:{port}"


async def ask(url: str, message: Message, limit_seconds: float, *, receiver: str = "") -> str:
    """The text that the player at `url` answers to `message` within `limit_seconds`.

    Raises PlayerFaultError: "TO" late, "CE" no connection or an unreadable reply.
    """
    timeout = aiohttp.ClientTimeout(total=limit_seconds, sock_connect=CONNECT_SECONDS)
    headers = {"Content-Type": "text/acl", "Sender": "GAMEMASTER", "Receiver": receiver or "PLAYER"}
    body = format_message(message).encode()
    try:
        async with (
            aiohttp.ClientSession(auto_decompress=False, timeout=timeout) as session,
            session.post(url, data=body, headers=headers, allow_redirects=False) as response,
        ):
            reply = await _read_reply(response)
    except aiohttp.ConnectionTimeoutError as error:
        raise PlayerFaultError("CE", f"{url}: {error}") from None
    except TimeoutError:
        raise PlayerFaultError("TO", f"{url}: no answer in {limit_seconds:g} s") from None
    except (aiohttp.ClientError, OSError, ValueError) as error:
        raise PlayerFaultError("CE", f"{url}: {error}") from None
    return decode(reply).strip()


async def _read_reply(response: aiohttp.ClientResponse) -> bytes:
    reply = bytearray()
    # A body shorter than announced is still an answer.
    with contextlib.suppress(aiohttp.ClientPayloadError):
        async for chunk in response.content.iter_chunked(8192):
            reply += chunk
            if len(reply) > _MAX_REPLY_BYTES:
                break
    return bytes(reply)


async def ask_move(url: str, message: Play, limit_seconds: float, *, receiver: str = "") -> Move:
    """The move that the player at `url` answers. Raises PlayerFaultError, also "IL <text>"."""
    reply = await ask(url, message, limit_seconds, receiver=receiver)
    try:
        return parse_move_reply(reply)
    except ProtocolError:
        raise PlayerFaultError(f"IL {shorten(reply)}", f"{url}: no move in {shorten(reply)!r}") from None


def shorten(reply: str) -> str:
    """A reply for a record or a log line: one line, not too long."""
    text = " ".join(reply.split())
    return text if len(text) <= _SHOWN_CHARACTERS else text[: _SHOWN_CHARACTERS - 3] + "..."


def rules_on_wire(program: Program) -> str:
    """The rules as START carries them: one line, canonical, without comments, for the simplest readers."""
    return " ".join(to_kif(program).split())


class RemotePlayer:
    """A seat of a local match that is taken by a player over HTTP.

    Each call blocks until the player answers or its time is up, and must be made in a thread without a
    running event loop.
    """

    is_remote = True

    def __init__(self, address: str) -> None:
        """Raises ValueError for what is no address."""
        self.url = parse_address(address)
        self.name = self.url.removeprefix("http://")
        self._setup: MatchSetup | None = None
        self._last_state: Hashable = None

    def start(self, setup: MatchSetup, deadline: float) -> None:
        self._setup = setup
        message = Start(
            setup.match_id,
            setup.role,
            rules_on_wire(setup.game.program),
            setup.start_clock_seconds,
            setup.play_clock_seconds,
        )
        reply = asyncio.run(ask(self.url, message, _remaining(deadline), receiver=self.name))
        if reply.lower() != "ready":
            raise PlayerFaultError(
                f"IL {shorten(reply)}", f"{self.url} answers START with {shorten(reply)!r}"
            )

    def choose(self, state: Hashable, deadline: float, joint_move: tuple[Move, ...] | None) -> Move:
        assert self._setup is not None, "choose before start"
        message = Play(self._setup.match_id, self._news(state, joint_move))
        limit_seconds = _remaining(deadline) + PLAY_GRACE_SECONDS
        return asyncio.run(ask_move(self.url, message, limit_seconds, receiver=self.name))

    def stop(self, joint_move: tuple[Move, ...] | None) -> None:
        if self._setup is None:
            return
        match_id, clock = self._setup.match_id, max(1.0, self._setup.play_clock_seconds)
        message = Abort(match_id) if joint_move is None else Stop(match_id, self._news(None, joint_move))
        with contextlib.suppress(PlayerFaultError):
            asyncio.run(ask(self.url, message, clock, receiver=self.name))
        self._setup = None

    def _news(self, state: Hashable, joint_move: tuple[Move, ...] | None) -> tuple[Term, ...] | None:
        """What the role is told: the joint move, or in GDL-II its percepts."""
        assert self._setup is not None
        before, self._last_state = self._last_state, state
        if joint_move is None or not has_percepts(self._setup.game):
            return joint_move
        return self._setup.game.percepts(before, joint_move, self._setup.role)


def _remaining(deadline: float) -> float:
    return max(0.1, deadline - time.monotonic())
