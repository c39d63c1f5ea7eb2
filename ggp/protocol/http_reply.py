"""A tolerant parser of HTTP replies.

Players in the wild answer without Content-Length or with one that counts characters, with LF-only lines,
header lines without a colon, no reason phrase and any status; whatever the status, the body is the answer.
Only the blank line after a head that begins with `HTTP/` is required.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import zlib
from collections.abc import Iterable

MAX_REPLY_BYTES = 256 * 1024
CUT_SECONDS = 0.1
"""Time to wait for the rest of a body whose length ends within an expression."""
_OPEN_SECONDS = 0.5
"""Silence after which a body without a length, or shorter than its length, counts as complete."""

_HTTP = b"HTTP/"
_HEAD_END = re.compile(rb"\r?\n[ \t]*\r?\n")
_INTERIM = re.compile(rb"HTTP/\S+[ \t]+1\d\d\b", re.IGNORECASE)
_CHUNK_SIZE = re.compile(rb"\s*([0-9a-fA-F]{1,8})[^\n]*\n")


class NotHttpError(Exception):
    """The bytes are not an HTTP reply."""


class HttpReply(asyncio.Protocol):
    """The reply on one connection, as far as it has arrived.

    headers   names in lower case; empty before the head is complete
    """

    def __init__(self) -> None:
        self._data = bytearray()
        self.headers: dict[str, str] = {}
        self._body_begin: int | None = None
        self._is_over = False
        self._changed = asyncio.Event()

    def data_received(self, data: bytes) -> None:
        self._data += data
        self._is_over |= len(self._data) > MAX_REPLY_BYTES
        self._changed.set()

    def connection_lost(self, error: Exception | None) -> None:
        # A peer that resets the connection after its answer has answered.
        self._is_over = True
        self._changed.set()

    @property
    def is_complete(self) -> bool:
        """Whether nothing more is expected. Raises NotHttpError."""
        return self._patience() == 0.0

    async def read(self) -> bytes:
        """The body, as soon as it is complete. Raises NotHttpError; ConnectionError if nothing has come."""
        while (patience := self._patience()) != 0.0:
            self._changed.clear()
            try:
                await asyncio.wait_for(self._changed.wait(), patience)
            except TimeoutError:
                break
        if not self._data:
            raise ConnectionError
        if not self._data.upper().startswith(_HTTP):
            raise NotHttpError
        return _decompressed(self._body()[0])

    def _patience(self) -> float | None:
        """Seconds to wait for more bytes: 0 for a complete reply, None for as long as the clock allows."""
        if self._is_over:
            return 0.0
        if self._body_begin is None:
            self._read_head()
        if self._body_begin is None:
            return None
        body, is_last = self._body()
        if is_last is not None:
            return 0.0 if is_last else None
        length = announced_length(self.headers)
        if length is not None and len(body) >= length:
            return CUT_SECONDS if length and (is_cut(body) or b"(" not in body) else 0.0
        return _OPEN_SECONDS if body.strip() and not is_cut(body) else None

    def _read_head(self) -> None:
        """Take the head if it is complete. Raises NotHttpError."""
        if len(self._data) >= len(_HTTP) and not self._data.upper().startswith(_HTTP):
            raise NotHttpError
        begin = 0
        while end := _HEAD_END.search(self._data, begin):
            if not _INTERIM.match(self._data, begin):
                lines = self._data[begin : end.start()].decode("latin-1").splitlines()
                self.headers, self._body_begin = parse_headers(lines[1:]), end.end()
                return
            begin = end.end()

    def _body(self) -> tuple[bytes, bool | None]:
        """The body so far; and whether its last chunk has arrived, None if it has no chunks."""
        body = bytes(self._data[self._body_begin or len(self._data) :][:MAX_REPLY_BYTES])
        if "chunked" in self.headers.get("transfer-encoding", "").lower():
            return _joined_chunks(body)
        return body, None


def parse_headers(lines: Iterable[str]) -> dict[str, str]:
    """Headers, names in lower case; the first of a name counts, lines without a colon are ignored.

    >>> parse_headers(["Content-Length : 8", "no colon", "content-length: 9"])
    {'content-length': '8'}
    """
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if colon:
            headers.setdefault(name.strip().lower(), value.strip())
    return headers


def announced_length(headers: dict[str, str]) -> int | None:
    """Content-Length, None if there is none or it is not a number.

    >>> announced_length({"content-length": "12"}), announced_length({"content-length": "many"})
    (12, None)
    """
    text = headers.get("content-length", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 12 else None


def is_cut(body: bytes | bytearray) -> bool:
    r"""Whether an expression in `body` is not closed; a quick test that also counts comments and strings.

    Peers that count characters instead of bytes announce too short a length.

    >>> is_cut("( ( name Müller ) )".encode()[:-1]), is_cut(b"(a (b))\r\n")
    (True, False)
    """
    return body.count(b"(") > body.count(b")")


def _joined_chunks(data: bytes) -> tuple[bytes, bool]:
    """The chunks in `data`, and whether the last one is there; broken ones end the body too."""
    body, position = bytearray(), 0
    while size := _CHUNK_SIZE.match(data, position):
        count = int(size[1], 16)
        body += data[size.end() : size.end() + count]
        position = size.end() + count
        if count == 0:
            return bytes(body), True
        if position > len(data):
            return bytes(body), False
    is_broken = bool(data[position:].strip()) and b"\n" in data[position:].lstrip()
    return bytes(body), is_broken


def _decompressed(body: bytes) -> bytes:
    """`body` unpacked if it is gzip: a request that names no encodings allows all of them."""
    if body.startswith(b"\x1f\x8b"):
        with contextlib.suppress(zlib.error):
            return zlib.decompressobj(wbits=31).decompress(body, MAX_REPLY_BYTES)
    return body
