"""What an HTTP player does with the messages of a match, and with odd and broken ones.

Plain sockets: what is tested is what is on the wire. A player that fails one check may pass the next; only
one that cannot be reached at all ends the examination.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from ggp.http_client import parse_address, rules_on_wire
from ggp.loading import find_own_rules, load

REPLY_SECONDS = 5.0
"""How long an answer that needs no thinking may take."""

SLACK_SECONDS = 1.0
"""How much later than its clock an answer may come."""


@dataclass(frozen=True)
class Manner:
    """One check: what is expected, whether it was met, and what was seen."""

    name: str
    expected: str
    is_met: bool
    seen: str


class NoAnswerError(Exception):
    """No reply: not connected, or none in time. The text says which."""


async def post(url: str, text: str, limit_seconds: float | None = None) -> str:
    """The body of the reply to a POST of `text`, whatever its status. Raises NoAnswerError."""
    limit_seconds = REPLY_SECONDS if limit_seconds is None else limit_seconds
    body = text.encode()
    head = (
        f"POST / HTTP/1.0\r\nAccept: text/delim\r\nSender: GAMEMASTER\r\nReceiver: PLAYER\r\n"
        f"Content-Type: text/acl\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    try:
        async with asyncio.timeout(limit_seconds):
            raw = await _exchange(url, head.encode() + body)
    except TimeoutError:
        raise NoAnswerError(f"no answer in {limit_seconds:g} s") from None
    except OSError as error:
        raise NoAnswerError(f"no connection: {error}") from None
    head_text, _, reply = raw.decode("utf-8", errors="replace").replace("\r\n", "\n").partition("\n\n")
    if not head_text.startswith("HTTP/"):
        raise NoAnswerError("an answer without HTTP headers")
    return reply.strip()


async def greet(address: str) -> str:
    """What the player at `address` answers to INFO. Raises NoAnswerError, and ValueError for no address."""
    return await post(parse_address(address), "( INFO )")


async def _exchange(url: str, data: bytes) -> bytes:
    parts = urlsplit(url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    try:
        writer.write(data)
        await writer.drain()
        return await _read_reply(reader)
    finally:
        writer.close()


async def _read_reply(reader: asyncio.StreamReader) -> bytes:
    """Headers and as much of the body as is announced, or all until the player closes."""
    raw = b""
    while chunk := await reader.read(65536):
        raw += chunk
        head, gap, body = raw.replace(b"\r\n", b"\n").partition(b"\n\n")
        length = re.search(rb"(?im)^content-length:\s*(\d+)", head)
        if gap and length and len(body) >= int(length[1]):
            break
    return raw


class Examination:
    """The checks of one player, in order."""

    def __init__(self, address: str, *, start_clock: int = 3, play_clock: int = 2) -> None:
        """Raises ValueError for what is no address."""
        self.url = parse_address(address)
        self.start_clock, self.play_clock = start_clock, play_clock
        game = load(find_own_rules("tictactoe"), "reasoner")
        self.rules = rules_on_wire(game.program)
        self.legal = {
            "".join(str(move).split()) for move in game.legal_moves(game.initial_state(), game.roles[0])
        }
        self.found: list[Manner] = []
        self._first_move = ""

    async def run(self) -> list[Manner]:
        """All checks. Raises NoAnswerError where the player cannot be reached at first."""
        await post(self.url, "( INFO )")
        await self._check("INFO", "name and status", self._info)
        await self._check("START", "ready within the start clock", lambda: self._start("manners1"))
        await self._check("INFO while it plays", "an answer", self._info_now)
        await self._check("first PLAY", "a legal move in time", lambda: self._play("manners1", "NIL"))
        await self._check("the same PLAY again", "the same move", self._repeat)
        await self._check(
            "PLAY of another match", "any answer", lambda: self._any("( PLAY nosuchmatch NIL )")
        )
        await self._check("unknown command", "any answer", lambda: self._any("( DANCE manners1 )"))
        await self._check("broken parentheses", "any answer", lambda: self._any("( PLAY manners1 ( ( mark"))
        await self._check("empty message", "any answer", lambda: self._any(""))
        await self._check("connection dropped midway", "goes on answering", self._drop)
        await self._check("STOP", "done", lambda: self._word("( STOP manners1 NIL )", "done"))
        await self._check("upper case without blanks", "ready and a legal move", self._dresden)
        await self._check("ABORT", "aborted", lambda: self._word("( ABORT MANNERS2 )", "aborted"))
        await self._check("a new match after all that", "ready and a legal move", self._again)
        return self.found

    async def _check(self, name: str, expected: str, check: Callable[[], Awaitable[str]]) -> None:
        """Note whether `check` returns, with what was seen, or fails."""
        begin = time.monotonic()
        try:
            seen, is_met = await check(), True
        except (NoAnswerError, _NotAsExpectedError) as error:
            seen, is_met = str(error), False
        seconds = time.monotonic() - begin
        self.found.append(Manner(name, expected, is_met, f"{_shorten(seen)} ({seconds:.1f} s)"))

    async def _info(self) -> str:
        reply = await post(self.url, "( INFO )")
        words = reply.lower()
        return _demand("name" in words and "status" in words, reply)

    async def _info_now(self) -> str:
        reply = await post(self.url, "( INFO )", 2.0)
        return _demand(bool(reply), reply)

    async def _start(self, match_id: str) -> str:
        message = f"( START {match_id} x ( {self.rules} ) {self.start_clock} {self.play_clock} )"
        reply = await post(self.url, message, self.start_clock + SLACK_SECONDS)
        return _demand(reply.lower() == "ready", reply)

    async def _play(self, match_id: str, moves: str) -> str:
        reply = await post(self.url, f"( PLAY {match_id} {moves} )", self.play_clock + SLACK_SECONDS)
        self._first_move = "".join(reply.lower().split())
        return _demand(self._first_move in self.legal, reply)

    async def _repeat(self) -> str:
        reply = await post(self.url, "( PLAY manners1 NIL )", self.play_clock + SLACK_SECONDS)
        return _demand("".join(reply.lower().split()) == self._first_move, reply)

    async def _any(self, message: str) -> str:
        return await post(self.url, message) or "an empty answer"

    async def _word(self, message: str, word: str) -> str:
        reply = await post(self.url, message)
        return _demand(reply.lower() == word, reply)

    async def _drop(self) -> str:
        parts = urlsplit(self.url)
        try:
            _, writer = await asyncio.open_connection(parts.hostname, parts.port)
            writer.write(b"POST / HTTP/1.0\r\nContent-Length: 1000\r\n\r\n( PLAY manners1")
            await writer.drain()
            writer.transport.abort()
        except OSError as error:
            raise NoAnswerError(f"no connection: {error}") from None
        return await self._info_now()

    async def _dresden(self) -> str:
        rules = re.sub(r"\s+", " ", self.rules).replace("( ", "(").replace(" )", ")").upper()
        message = f"(START MANNERS2 X ({rules}) {self.start_clock} {self.play_clock})"
        reply = await post(self.url, message, self.start_clock + SLACK_SECONDS)
        _demand(reply.lower() == "ready", reply)
        return await self._play("MANNERS2", "NIL")

    async def _again(self) -> str:
        await self._start("manners3")
        seen = await self._play("manners3", "NIL")
        await post(self.url, "( STOP manners3 NIL )")
        return seen


class _NotAsExpectedError(Exception):
    """The reply was another one; the text is what came."""


def _demand(is_met: bool, reply: str) -> str:
    if not is_met:
        raise _NotAsExpectedError(reply or "an empty answer")
    return reply


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 60 else line[:57] + "..."
