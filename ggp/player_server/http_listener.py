"""A small HTTP server for one request per connection, as tolerant as GGP managers require.

Managers in the wild send HTTP/1.0 without Content-Length, lines that end in LF only, no Host, and wrong
charsets. Strict servers such as aiohttp's answer those with 400, so the player listens with this instead:
bytes in, one `HttpRequest` to the handler, bytes out, connection closed. Everything is bounded: time to send
a request, size of headers and body, simultaneous connections.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import unquote_to_bytes

from ggp.player_server.web_pages import OriginRules
from ggp.protocol.http_reply import CUT_SECONDS, is_cut, parse_headers
from ggp.protocol.messages import message_text, printable

log = logging.getLogger("ggp.http")

_MAX_HEADER_BYTES = 64 * 1024
_CHUNK_BYTES = 64 * 1024
_SCANNED_BYTES = 8 * 1024
"""Bytes of a body without a length that are scanned per turn of the event loop: about 1 ms."""
_DRAIN_SECONDS = 2.0

# The relevant tokens of `ggp.protocol.messages`: ASCII bytes, the same in UTF-8 and latin-1.
_TOKEN = re.compile(rb'[();"]|[^\s();]+')
_WORD_REST = re.compile(rb"[^\s();]*")
_REST = {b";": re.compile(rb"[\n\r]"), b'"': re.compile(rb'"')}


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """Bounds on a peer's use of bytes, seconds and connections.

    connections   maximum number of requests being received, and of requests in the handler
    """

    body_bytes: int = 4 * 1024 * 1024
    request_seconds: float = 30.0
    quiet_seconds: float = 2.0
    connections: int = 64


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """One message as received.

    text      the decoded body, or the URL-decoded path of a GET
    peer      host and port of the sender, for log lines
    arrival   time.monotonic() seconds at its first byte; clocks count from here
    is_peer_gone   whether the peer no longer sends, and so has probably closed the connection
    """

    text: str
    peer: str
    arrival: float
    is_peer_gone: Callable[[], bool] = lambda: False

    @property
    def host(self) -> str:
        return self.peer.rpartition(":")[0]


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """The reply: a status and a short text. `headers`: printable names and values."""

    text: str
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()


_TOO_MANY = HttpResponse("error too many requests", 503)
Handler = Callable[[HttpRequest], Awaitable[HttpResponse]]


class BadRequest(Exception):  # noqa: N818 - an HTTP word
    """Bytes that are not a request, or one beyond the limits; answered with `status` and the text."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class IncomingExpression:
    """Detects the end of a message without a length; counts parentheses and stores no text.

    Old managers announce no length and wait for the answer with the connection open. Every byte is scanned
    once, however the message is split.

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


class HttpListener:
    """Listens on one port and passes every message to `handler`."""

    def __init__(
        self, handler: Handler, limits: RequestLimits | None = None, origins: OriginRules | None = None
    ) -> None:
        self._handler = handler
        self._origins = origins or OriginRules()
        self._limits = limits or RequestLimits()
        self._server: asyncio.Server | None = None
        self._scanning = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()
        self._unread: dict[asyncio.Task[None], _Connection] = {}
        """Connections without a complete request so far, the oldest first."""

    async def listen(self, host: str, port: int) -> int:
        """Start listening; 0 picks a free port. Returns the port. Raises OSError."""
        self._server = await asyncio.start_server(self._connected, host, port, limit=_MAX_HEADER_BYTES)
        return int(self._server.sockets[0].getsockname()[1])

    async def close(self) -> None:
        """Stop listening and drop open connections."""
        if self._server is not None:
            self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task, connection = asyncio.current_task(), _Connection(reader, writer)
        assert task is not None
        self._tasks.add(task)
        self._unread[task] = connection
        if len(self._unread) > self._limits.connections:
            # Drop the oldest incomplete request, so that idle connections cannot keep others out.
            oldest = next(iter(self._unread))
            self._unread.pop(oldest).write(_TOO_MANY)
            oldest.cancel()
        try:
            request = await self._receive(connection)
            self._unread.pop(task, None)
            if request is not None:
                await connection.send(await self._answer(request))
        except (OSError, asyncio.CancelledError):
            pass  # the peer is gone or does not read its answer, or the server stops
        except Exception:
            log.exception("connection failed")
        finally:
            self._tasks.discard(task)
            self._unread.pop(task, None)
            writer.close()
            with contextlib.suppress(Exception, asyncio.CancelledError):
                await asyncio.wait_for(writer.wait_closed(), 1.0)

    async def _receive(self, connection: _Connection) -> HttpRequest | None:
        """The request of one connection; None if nothing is left to answer."""
        try:
            async with asyncio.timeout(self._limits.request_seconds):
                return await self._read_request(connection)
        except TimeoutError:
            await connection.send(HttpResponse("error request not finished in time", 408))
        except BadRequest as error:
            log.warning("%s bad request: %s", connection.peer, error)
            await connection.send(HttpResponse(f"error {error}", error.status))
            await connection.drain()
        return None

    async def _answer(self, request: HttpRequest) -> HttpResponse:
        if len(self._tasks) - len(self._unread) > self._limits.connections:
            return _TOO_MANY
        try:
            return await self._handler(request)
        except Exception:
            log.exception("%s handler failed", request.peer)
            return HttpResponse("error internal", 500)

    async def _read_request(self, connection: _Connection) -> HttpRequest | None:
        """The message of one connection; None if it needs no handler (OPTIONS) or never arrived."""
        reader = connection.reader
        head, arrival = await _read_head(reader)
        if not head:
            return None
        method, target, headers = _parse_head(head)
        if fault := self._origins.fault(headers, connection.local_address):
            raise BadRequest(403, fault)
        connection.origin = headers.get("origin", "")
        match method:
            case "OPTIONS":
                await connection.send(HttpResponse(""))
                return None
            case "GET":
                data = unquote_to_bytes(target.removeprefix("/").replace("+", " "))
            case "POST":
                if headers.get("expect", "").lower() == "100-continue":
                    connection.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
                data = await self._read_body(reader, headers)
            case _:
                raise BadRequest(405, "method not allowed")
        # The announced charset is ignored: it is often wrong.
        return HttpRequest(message_text(data), connection.peer, arrival, reader.at_eof)

    async def _read_body(self, reader: asyncio.StreamReader, headers: dict[str, str]) -> bytes:
        if "chunked" in headers.get("transfer-encoding", "").lower():
            return await self._read_chunked(reader)
        length = headers.get("content-length", "").strip()
        if not (length.isascii() and length.isdigit()):
            return await self._read_until_complete(reader, self._limits.body_bytes + 1)
        if len(length) > 12 or int(length) > self._limits.body_bytes:
            raise BadRequest(413, "body too large")
        return await self._read_until_complete(reader, int(length), by_length=True)

    async def _read_until_complete(
        self, reader: asyncio.StreamReader, size: int, *, by_length: bool = False
    ) -> bytes:
        """Read `size` bytes; fewer if the peer stops sending, more if the last expression is longer.

        Without an announced length, the end of the expression ends the body too.
        """
        body, expression = bytearray(), IncomingExpression()
        most = _CHUNK_BYTES if by_length else _SCANNED_BYTES
        while len(body) < size:
            try:
                async with asyncio.timeout(self._limits.quiet_seconds):
                    chunk = await reader.read(min(most, size - len(body)))
            except TimeoutError:
                if is_cut(body):
                    continue  # on a busy machine a sender may pause for longer
                # Announced lengths may be wrong: the message may be complete, else the parser reports it.
                break
            body += chunk
            if not chunk or (not by_length and await self._is_end(expression, chunk)):
                break
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(CUT_SECONDS):
                # Peers that count characters announce too short a length.
                while by_length and is_cut(body) and len(body) <= self._limits.body_bytes:
                    if not (chunk := await reader.read(_CHUNK_BYTES)):
                        break
                    body += chunk
        if len(body) > self._limits.body_bytes:
            raise BadRequest(413, "body too large")
        return bytes(body)

    async def _is_end(self, expression: IncomingExpression, chunk: bytes) -> bool:
        """Whether `chunk` ends the expression; one connection's chunk per turn of the event loop."""
        async with self._scanning:
            is_end = expression.take(chunk)
            await asyncio.sleep(0)
        return is_end

    async def _read_chunked(self, reader: asyncio.StreamReader) -> bytes:
        body = bytearray()
        while True:
            try:
                size = int((await reader.readline()).split(b";")[0].strip(), 16)
                if size <= 0:
                    return bytes(body)
                if len(body) + size > self._limits.body_bytes:
                    raise BadRequest(413, "body too large")
                body += await reader.readexactly(size)
            except (ValueError, asyncio.IncompleteReadError) as error:
                body += getattr(error, "partial", b"")
                if not body or is_cut(body):
                    raise BadRequest(400, "bad chunk") from None
                return bytes(body)  # only the end of the framing is missing
            with contextlib.suppress(ValueError):
                await reader.readline()


class _Connection:
    """One connection. `origin`: of the allowed web page that opened it; mostly empty."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer
        address = writer.get_extra_info("peername")
        self.peer = f"{address[0]}:{address[1]}" if isinstance(address, tuple) else "?"
        self.local_address = str((writer.get_extra_info("sockname") or ("",))[0])
        self.origin = ""

    async def send(self, response: HttpResponse) -> None:
        self.write(response)
        await self.writer.drain()

    def write(self, response: HttpResponse) -> None:
        """Write a response, readable only by web pages of `origin`."""
        body = response.text.encode("utf-8", errors="replace")
        lines = [
            f"HTTP/1.1 {response.status} {HTTPStatus(response.status).phrase}",
            "Content-Type: text/acl",
            f"Content-Length: {len(body)}",
        ]
        if self.origin:
            lines += [
                f"Access-Control-Allow-Origin: {printable(self.origin)}",
                "Access-Control-Allow-Methods: POST, GET, OPTIONS",
                "Access-Control-Allow-Headers: Content-Type, Sender, Receiver",
                "Access-Control-Max-Age: 86400",
                "Vary: Origin",
            ]
        lines += [*(f"{name}: {value}" for name, value in response.headers), "Connection: close", "", ""]
        self.writer.write("\r\n".join(lines).encode("ascii", errors="replace") + body)

    async def drain(self) -> None:
        """Discard further data of a refused peer; closing with unread data would reset the connection."""
        with contextlib.suppress(TimeoutError, ConnectionError):
            async with asyncio.timeout(_DRAIN_SECONDS):
                while await self.reader.read(_CHUNK_BYTES):
                    pass


async def _read_head(reader: asyncio.StreamReader) -> tuple[list[str], float]:
    """Request line and header lines without line ends, and their time of arrival."""
    lines: list[str] = []
    first = await reader.read(1)
    arrival, size = time.monotonic(), 0
    while True:
        try:
            line = first if first == b"\n" else first + await reader.readline()
        except ValueError:
            raise BadRequest(431, "headers too large") from None
        first, size = b"", size + len(line)
        if size > _MAX_HEADER_BYTES:
            raise BadRequest(431, "headers too large")
        if text := line.decode("latin-1").strip():
            lines.append(text)
        elif lines or not line:
            return lines, arrival


def _parse_head(lines: list[str]) -> tuple[str, str, dict[str, str]]:
    """Method, target and headers (names in lower case)."""
    method, _, rest = lines[0].partition(" ")
    target, _, version = rest.strip().rpartition(" ")
    if not version.upper().startswith("HTTP/"):
        target = rest.strip()
    if not method.isalpha() or not method.isascii():
        raise BadRequest(400, "not HTTP")
    return method.upper(), target, parse_headers(lines[1:])
