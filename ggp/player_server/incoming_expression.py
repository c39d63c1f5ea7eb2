"""Detects the end of a message's first expression while its bytes arrive.

Old managers announce no length and wait for the answer with the connection open, so the listener must detect
the end itself. Every byte is scanned once, however the message is split.
"""

from __future__ import annotations

import re

# The relevant tokens of `ggp.protocol.messages`: ASCII bytes, the same in UTF-8 and latin-1.
_TOKEN = re.compile(rb'[();"]|[^\s();]+')
_WORD_REST = re.compile(rb"[^\s();]*")
_COMMENT_END = re.compile(rb"[\n\r]")
_STRING_END = re.compile(rb'"')


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
        while position < len(piece):
            if self._skip_to is not None:
                end = self._skip_to.search(piece, position)
                if end is None:
                    return False
                position = end.end()
                if self._skip_to is not _WORD_REST or position < len(piece):
                    self._skip_to = None
                continue
            token = _TOKEN.search(piece, position)
            if token is None:
                return False
            position = token.end()
            match piece[token.start() : token.start() + 1]:
                case b"(":
                    self._depth += 1
                case b")":
                    self._depth -= 1
                    if self._depth <= 0:
                        return True
                case b";":
                    self._skip_to = _COMMENT_END
                case b'"':
                    self._skip_to = _STRING_END
                case _:
                    # The rest of a word may come with the next piece; a quote in it opens no string.
                    self._skip_to = _WORD_REST if position == len(piece) else None
        return False
