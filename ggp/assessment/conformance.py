"""Conformance test: does an HTTP player follow the protocol, even with unusual or malformed messages?

It uses plain sockets, to test the bytes on the wire. A player that fails one check may pass
the next; only a player that cannot be reached at all ends the test.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from ggp.engines.loading import find_own_rules, load
from ggp.protocol.client import parse_address, rules_on_wire

REPLY_SECONDS = 5.0
"""Time limit for replies that need no search."""

SLACK_SECONDS = 1.0
"""How late a reply may come after the clock has run out."""


@dataclass(frozen=True)
class Check:
    """The result of one check: the expected and the actual reply."""

    name: str
    expected: str
    is_passed: bool
    seen: str


class NoAnswerError(Exception):
    """No reply: the connection failed or timed out, as the text says."""


async def post(url: str, text: str, limit_seconds: float | None = None) -> str:
    """POST `text` and return the body of the reply, whatever its status. Raises NoAnswerError."""
    limit_seconds = limit_seconds or REPLY_SECONDS
    body = text.encode()
    head = (
        f"POST / HTTP/1.0\r\nAccept: text/delim\r\nSender: GAMEMASTER\r\nReceiver: PLAYER\r\n"
        f"Content-Type: text/acl\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    try:
        async with asyncio.timeout(limit_seconds):
            parts = urlsplit(url)
            reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
            try:
                writer.write(head.encode() + body)
                await writer.drain()
                raw = await _read_reply(reader)
            finally:
                writer.close()
    except TimeoutError:
        raise NoAnswerError(f"no reply within {limit_seconds:g} s") from None
    except OSError as error:
        raise NoAnswerError(f"no connection: {error}") from None
    head_text, _, reply = raw.decode("utf-8", errors="replace").replace("\r\n", "\n").partition("\n\n")
    if not head_text.startswith("HTTP/"):
        raise NoAnswerError("reply without HTTP headers")
    return reply.strip()


async def _read_reply(reader: asyncio.StreamReader) -> bytes:
    """Read headers and Content-Length bytes of the body, or everything until the player closes."""
    raw = b""
    while chunk := await reader.read(65536):
        raw += chunk
        head, gap, body = raw.replace(b"\r\n", b"\n").partition(b"\n\n")
        length = re.search(rb"(?im)^content-length:\s*(\d+)", head)
        if gap and length and len(body) >= int(length[1]):
            break
    return raw


class ConformanceTest:
    """Runs the checks of one player, in order."""

    def __init__(self, address: str, start_clock: int = 3, play_clock: int = 2) -> None:
        """Raises ValueError if `address` is malformed."""
        self.url = parse_address(address)
        self.start_clock, self.play_clock = start_clock, play_clock
        game = load(find_own_rules("tictactoe"), "reasoner")
        self.rules = rules_on_wire(game.program)
        legal = game.legal_moves(game.initial_state(), game.roles[0])
        self.legal = {"".join(str(move).split()) for move in legal}
        self.found: list[Check] = []
        self._first_move = ""

    async def run(self) -> list[Check]:
        """Run all checks. Raises NoAnswerError if the player cannot be reached at first."""
        await post(self.url, "( INFO )")
        await self._check("INFO", "name and status", lambda: self._info(("name", "status")))
        await self._check("START", "ready within the start clock", lambda: self._start("test1"))
        await self._check("INFO during a match", "a reply", lambda: self._info(limit_seconds=2.0))
        await self._check("first PLAY", "a legal move in time", lambda: self._play("test1"))
        await self._check("PLAY repeated", "the same move", self._repeat)
        await self._check("PLAY of unknown match", "any reply", lambda: self._any("( PLAY nosuchmatch NIL )"))
        await self._check("unknown command", "any reply", lambda: self._any("( DANCE test1 )"))
        await self._check("unbalanced parentheses", "any reply", lambda: self._any("( PLAY test1 ( ( mark"))
        await self._check("empty message", "any reply", lambda: self._any(""))
        await self._check("dropped connection", "still replies", self._drop)
        await self._check("STOP", "done", lambda: self._word("( STOP test1 NIL )", "done"))
        await self._check("upper case, few blanks", "ready, then a legal move", self._dresden)
        await self._check("ABORT", "aborted", lambda: self._word("( ABORT TEST2 )", "aborted"))
        await self._check("another match", "ready, then a legal move", self._again)
        return self.found

    async def _check(self, name: str, expected: str, check: Callable[[], Awaitable[str]]) -> None:
        """Record whether `check` returns or raises, and what was seen."""
        begin = time.monotonic()
        try:
            seen, is_passed = await check(), True
        except (NoAnswerError, _UnexpectedReplyError) as error:
            seen, is_passed = str(error), False
        seconds = time.monotonic() - begin
        self.found.append(Check(name, expected, is_passed, f"{_shorten(seen)} ({seconds:.1f} s)"))

    async def _info(self, words: tuple[str, ...] = (), limit_seconds: float | None = None) -> str:
        reply = await post(self.url, "( INFO )", limit_seconds)
        return _require(bool(reply) and all(word in reply.lower() for word in words), reply)

    async def _start(self, match_id: str) -> str:
        message = f"( START {match_id} x ( {self.rules} ) {self.start_clock} {self.play_clock} )"
        return await self._word(message, "ready", self.start_clock + SLACK_SECONDS)

    async def _play(self, match_id: str) -> str:
        reply = await post(self.url, f"( PLAY {match_id} NIL )", self.play_clock + SLACK_SECONDS)
        self._first_move = "".join(reply.lower().split())
        return _require(self._first_move in self.legal, reply)

    async def _repeat(self) -> str:
        reply = await post(self.url, "( PLAY test1 NIL )", self.play_clock + SLACK_SECONDS)
        return _require("".join(reply.lower().split()) == self._first_move, reply)

    async def _any(self, message: str) -> str:
        return await post(self.url, message) or "empty reply"

    async def _word(self, message: str, word: str, limit_seconds: float | None = None) -> str:
        reply = await post(self.url, message, limit_seconds)
        return _require(reply.lower() == word, reply)

    async def _drop(self) -> str:
        parts = urlsplit(self.url)
        try:
            _, writer = await asyncio.open_connection(parts.hostname, parts.port)
            writer.write(b"POST / HTTP/1.0\r\nContent-Length: 1000\r\n\r\n( PLAY test1")
            await writer.drain()
            writer.transport.abort()
        except OSError as error:
            raise NoAnswerError(f"no connection: {error}") from None
        return await self._info(limit_seconds=2.0)

    async def _dresden(self) -> str:
        rules = re.sub(r"\s+", " ", self.rules).replace("( ", "(").replace(" )", ")").upper()
        message = f"(START TEST2 X ({rules}) {self.start_clock} {self.play_clock})"
        await self._word(message, "ready", self.start_clock + SLACK_SECONDS)
        return await self._play("TEST2")

    async def _again(self) -> str:
        await self._start("test3")
        seen = await self._play("test3")
        await post(self.url, "( STOP test3 NIL )")
        return seen


class _UnexpectedReplyError(Exception):
    """The reply differs from what was expected; the text is the reply."""


def _require(is_passed: bool, reply: str) -> str:
    if not is_passed:
        raise _UnexpectedReplyError(reply or "empty reply")
    return reply


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 60 else line[:57] + "..."
