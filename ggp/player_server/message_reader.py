"""Reads the text of messages without holding up the event loop.

Short messages, nearly all of a match, are parsed where they arrive, one per turn of the loop. Long ones are
parsed by a process of low priority, one at a time for each peer, within a few seconds.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections import Counter
from typing import Any

from ggp.player_server.state_link import StateError, StateLink, StateLost
from ggp.protocol.messages import (
    Abort,
    Info,
    Message,
    Play,
    Preview,
    ProtocolError,
    Start,
    Stop,
    parse_message,
    parse_term,
    parse_term_or_name,
)

log = logging.getLogger("ggp.player")

MAX_CHARACTERS = 2_200_000
"""Of a message: the longest rules that gdl reads, and the rest of a START."""

MAX_MOVES_CHARACTERS = 32_000
"""Of a message without rules: hundreds of moves or percepts."""

SHORT_CHARACTERS = 4_000
"""Messages of at most this length are parsed in the event loop, in some milliseconds."""

_READING_SECONDS = 10.0
_MAX_WAITING = 16
"""Long messages of one peer that are being read or wait for it."""

_MEBIBYTES = 1024
_NICENESS = 10
_HAS_RULES = re.compile(r"(?:\s|;[^\r\n]*[\r\n])*\(\s*(?:start|preview)\b", re.IGNORECASE)


class TooMuch(Exception):  # noqa: N818 - an HTTP answer
    """A message beyond the limits; `status` and the text are the answer."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class MessageReader:
    """Turns texts into messages, fairly among peers."""

    def __init__(self) -> None:
        self._link: StateLink | None = None
        self._loop_turn = asyncio.Lock()
        self._process_turn = asyncio.Lock()
        self._peer_turns: dict[str, asyncio.Lock] = {}
        self._waiting: Counter[str] = Counter()

    async def open(self) -> None:
        """Start the process that reads long messages. Raises OSError."""
        link = StateLink(_MEBIBYTES, _NICENESS)
        try:
            await link.start()
        except (TimeoutError, StateLost, StateError):
            link.kill()
            raise OSError("the process that reads messages does not start") from None
        self._link = link

    async def close(self) -> None:
        """End the process."""
        if self._link is not None:
            await self._link.close()

    async def read(self, text: str, peer: str) -> Message:
        """The message in `text`. Raises ProtocolError, and TooMuch for what is too long or too often."""
        if len(text) <= SHORT_CHARACTERS:
            async with self._loop_turn:
                message = parse_message(text)
                await asyncio.sleep(0)
                return message
        if len(text) > (MAX_CHARACTERS if _HAS_RULES.match(text) else MAX_MOVES_CHARACTERS):
            raise TooMuch(413, "message too long")
        if self._waiting[peer] >= _MAX_WAITING:
            raise TooMuch(503, "too many long messages at once")
        self._waiting[peer] += 1
        turn = self._peer_turns.setdefault(peer, asyncio.Lock())
        try:
            async with turn, self._process_turn:
                return await self._read_long(text)
        finally:
            self._waiting[peer] -= 1
            if not self._waiting[peer]:
                del self._waiting[peer], self._peer_turns[peer]

    async def _read_long(self, text: str) -> Message:
        try:
            if self._link is None or self._link.pid is None:
                await self.open()
            assert self._link is not None
            async with asyncio.timeout(_READING_SECONDS):
                return _message(await self._link.ask("read", text=text))
        except StateError as error:
            raise ProtocolError(str(error)) from None
        except (TimeoutError, asyncio.CancelledError, StateLost, OSError) as error:
            if self._link is not None:
                self._link.kill()
            if isinstance(error, asyncio.CancelledError):
                raise
            raise TooMuch(413, "message takes too long to read") from None


def _message(values: dict[str, Any]) -> Message:
    """The inverse of `ggp.player_server.state_process.read`."""
    match values.pop("kind"):
        case "start":
            return Start(**{**values, "role": parse_term(values["role"])})
        case "play" | "stop" as kind:
            terms, last_move = values["terms"], values["last_move"]
            values["terms"] = None if terms is None else tuple(map(parse_term_or_name, terms))
            values["last_move"] = None if last_move is None else parse_term_or_name(last_move)
            return Play(**values) if kind == "play" else Stop(**values)
        case "abort":
            return Abort(**values)
        case "preview":
            return Preview(**values)
        case _:
            return Info()
