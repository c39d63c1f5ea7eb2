"""Detects the end of a message's first expression while its bytes arrive.

Old managers announce no length and wait for the answer with the connection open, so the listener must detect
the end itself. Every byte is scanned once, however the message is split.
"""

from __future__ import annotations

import re

# The relevant tokens of `ggp.protocol.messages`: ASCII bytes, the same in UTF-8 and latin-1.
_TOKEN = re.compile(rb'[();"]|[^\s();]+')
_WORD_REST = re.compile(rb"[^\s();]*")
_REST = {b";": re.compile(rb"[\n\r]"), b'"': re.compile(rb'"')}


class IncomingExpression:
    """Counts parentheses outside comments and strings; stores no text.

    A string that is never closed includes the rest, so such a message ends when its sender stops.
    """

    def __init__(self) -> None:
        self._depth = 0
        self._skip_to: re.Pattern[bytes] | None = None

    def take(self, piece: bytes) -> bool:
        """Whether `piece` closes an expression in parentheses, or one that was never opened.

        >>> expression = IncomingExpression()
        >>> expression.take(b"( PLAY m "), expression.take(b"NIL )")
        (False, True)
        """
        position = 0
        while found := (self._skip_to or _TOKEN).search(piece, position):
            position = found.end()
            if self._skip_to is not None:
                # The rest of a word may come with the next piece; a quote in it opens no string.
                if self._skip_to is _WORD_REST and position == len(piece):
                    return False
                self._skip_to = None
                continue
            token = found[0]
            self._depth += (token == b"(") - (token == b")")
            if token == b")" and self._depth <= 0:
                return True
            self._skip_to = _REST.get(token)
            if position == len(piece) and token not in (b"(", b")", b";", b'"'):
                self._skip_to = _WORD_REST
        return False
