"""Reads the text of messages without holding up the event loop.

Messages are parsed one at a time in steps of about a millisecond, one per turn of the loop; long messages of
a peer are read one after the other. There is no time limit, but the maximum length takes at most two seconds
of CPU time.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections import Counter
from collections.abc import AsyncIterator

from ggp.player_server.http_listener import BadRequest
from ggp.protocol.messages import Message, parse_in_steps

MAX_CHARACTERS = 2_200_000
"""Maximum length of a message: the longest rules that gdl reads, and the rest of a START."""
_MAX_MOVES_CHARACTERS = 32_000
"""Maximum length of a message without rules: hundreds of moves or percepts."""
_SHORT_CHARACTERS = 4_000
"""Messages of at most this length do not wait for long ones."""
_MAX_WAITING = 16
"""Maximum number of unread long messages of one peer."""
_HAS_RULES = re.compile(r"(?:\s|;[^\r\n]*[\r\n])*\(\s*(?:start|preview)\b", re.IGNORECASE)


class MessageReader:
    """Turns texts into messages, fairly among peers."""

    def __init__(self) -> None:
        self._short_turn = asyncio.Lock()
        self._long_turn = asyncio.Lock()
        self._peer_turns: dict[str, asyncio.Lock] = {}
        self._waiting: Counter[str] = Counter()

    @property
    def is_behind(self) -> bool:
        """Whether a long message is being read."""
        return bool(self._waiting)

    async def read(self, text: str, peer: str) -> Message:
        """Parse `text`. Raises ProtocolError, and BadRequest for too long or too many messages."""
        if len(text) <= _SHORT_CHARACTERS:
            async with self._short_turn:
                return await _read(text)
        may_have_rules = len(text) <= MAX_CHARACTERS and _HAS_RULES.match(text, 0, _SHORT_CHARACTERS)
        if len(text) > _MAX_MOVES_CHARACTERS and not may_have_rules:
            raise BadRequest(413, "message too long")
        if self._waiting[peer] >= _MAX_WAITING:
            raise BadRequest(503, "too many long messages at once")
        async with self._turn(peer), self._long_turn:
            return await _read(text)

    async def catch_up(self, peer: str) -> None:
        """Wait until the long messages of `peer` are read."""
        if peer in self._peer_turns:
            async with self._turn(peer):
                pass

    @contextlib.asynccontextmanager
    async def _turn(self, peer: str) -> AsyncIterator[None]:
        """The lock of `peer`; its requests get it in order of arrival."""
        self._waiting[peer] += 1
        try:
            async with self._peer_turns.setdefault(peer, asyncio.Lock()):
                yield
        finally:
            self._waiting[peer] -= 1
            if not self._waiting[peer]:
                del self._waiting[peer], self._peer_turns[peer]


async def _read(text: str) -> Message:
    steps = parse_in_steps(text)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            message: Message = end.value
            return message
        await asyncio.sleep(0)
