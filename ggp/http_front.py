"""A small HTTP server for one request per connection, as forgiving as GGP peers need it.

Managers in the wild send HTTP/1.0 without Content-Length, lines that end in LF only, no Host, and wrong
charsets. Strict servers, aiohttp's among them, answer those with 400, so the player listens with this
instead: bytes in, one `Request` to the handler, bytes out, connection closed. Everything is bounded: time
to send a request, size of headers and body, connections at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from urllib.parse import unquote_plus

from gdl.parser import decode
from ggp.incoming_expression import IncomingExpression

log = logging.getLogger("ggp.http")

_REASONS = {
    200: "OK",
    400: "Bad Request",
    405: "Method Not Allowed",
    408: "Request Timeout",
    413: "Content Too Large",
    431: "Request Header Fields Too Large",
    500: "Internal Server Error",
    503: "Service Unavailable",
}
_MAX_HEADER_BYTES = 64 * 1024
_CHUNK_BYTES = 64 * 1024
_DRAIN_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class FrontLimits:
    """Bounds on what a peer may cost: bytes, seconds, connections.

    connections   how many requests may be on their way in, and how many in the handler's hands
    """

    body_bytes: int = 8 * 1024 * 1024
    request_seconds: float = 30.0
    quiet_seconds: float = 2.0
    connections: int = 64


@dataclass(frozen=True, slots=True)
class Request:
    """One message as it came in.

    text      the decoded body, or the URL-decoded path of a GET
    peer      host and port of the sender, for log lines
    arrival   time.monotonic() seconds at its first byte: what clocks count from
    """

    text: str
    peer: str
    arrival: float


@dataclass(frozen=True, slots=True)
class Response:
    """What goes back: a status and a short text."""

    text: str
    status: int = 200


_TOO_MANY = Response("error too many requests", 503)

Handler = Callable[[Request], Awaitable[Response]]


class BadRequest(Exception):  # noqa: N818 - an HTTP word
    """Bytes that are no request, or one beyond the limits; answered with `status` and the text."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class HttpFront:
    """Listens on one port and hands every message to `handler`."""

    def __init__(self, handler: Handler, limits: FrontLimits | None = None) -> None:
        self._handler = handler
        self._limits = limits or FrontLimits()
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._unread: dict[asyncio.Task[None], asyncio.StreamWriter] = {}
        """Connections without a whole request so far, the oldest first."""

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
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self._unread[task] = writer
        if len(self._unread) > self._limits.connections:
            self._end_oldest_unread()
        try:
            request = await self._hear(reader, writer)
            self._unread.pop(task, None)
            if request is not None:
                await _send(writer, await self._answer(request))
        except (OSError, asyncio.CancelledError):
            pass  # the peer has gone, or does not read its answer, or we stop
        except Exception:
            log.exception("connection failed")
        finally:
            self._tasks.discard(task)
            self._unread.pop(task, None)
            writer.close()
            with contextlib.suppress(Exception, asyncio.CancelledError):
                await asyncio.wait_for(writer.wait_closed(), 1.0)

    def _end_oldest_unread(self) -> None:
        """End who has been sending a request for longest, so that nobody keeps others out by sending none."""
        oldest, writer = next(iter(self._unread.items()))
        del self._unread[oldest]
        _write(writer, _TOO_MANY)
        oldest.cancel()

    async def _hear(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Request | None:
        """The request of one connection; None where there is nothing to answer any more."""
        peer = _peer_name(writer)
        try:
            async with asyncio.timeout(self._limits.request_seconds):
                return await self._read_request(reader, writer, peer)
        except TimeoutError:
            await _send(writer, Response("error request not finished in time", 408))
        except BadRequest as error:
            log.warning("%s bad request: %s", peer, error)
            await _send(writer, Response(f"error {error}", error.status))
            await _drain(reader)
        return None

    async def _answer(self, request: Request) -> Response:
        if len(self._tasks) - len(self._unread) > self._limits.connections:
            return _TOO_MANY
        try:
            return await self._handler(request)
        except Exception:
            log.exception("%s handler failed", request.peer)
            return Response("error internal", 500)

    async def _read_request(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, peer: str
    ) -> Request | None:
        """The message of one connection; None where it needed no handler (OPTIONS) or never came."""
        head, arrival = await _read_head(reader)
        if not head:
            return None
        method, target, headers = _parse_head(head)
        if method == "OPTIONS":
            await _send(writer, Response(""))
            return None
        if method == "GET":
            return Request(unquote_plus(target.removeprefix("/"), errors="replace"), peer, arrival)
        if method != "POST":
            raise BadRequest(405, "method not allowed")
        if headers.get("expect", "").lower() == "100-continue":
            writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        body = await self._read_body(reader, headers)
        # not by the charset announced: those are wrong in the wild
        return Request(decode(body), peer, arrival)

    async def _read_body(self, reader: asyncio.StreamReader, headers: dict[str, str]) -> bytes:
        if "chunked" in headers.get("transfer-encoding", "").lower():
            return await self._read_chunked(reader)
        length = headers.get("content-length", "").strip()
        if not length:
            return await self._read_until_complete(reader, self._limits.body_bytes + 1)
        if not (length.isascii() and length.isdigit()):
            raise BadRequest(400, "bad Content-Length")
        if len(length) > 12 or int(length) > self._limits.body_bytes:
            raise BadRequest(413, "body too large")
        return await self._read_until_complete(reader, int(length), by_length=True)

    async def _read_until_complete(
        self, reader: asyncio.StreamReader, size: int, *, by_length: bool = False
    ) -> bytes:
        """`size` bytes; fewer when the peer stops sending, or where no length was announced and the
        expression is closed."""
        body, expression = bytearray(), IncomingExpression()
        while len(body) < size:
            try:
                async with asyncio.timeout(self._limits.quiet_seconds):
                    chunk = await reader.read(min(_CHUNK_BYTES, size - len(body)))
            except TimeoutError:
                # Wrong lengths exist; what came may be whole all the same, else the parser objects.
                break
            if not chunk:
                break
            body += chunk
            if not by_length and expression.take(chunk):
                break
        if len(body) > self._limits.body_bytes:
            raise BadRequest(413, "body too large")
        return bytes(body)

    async def _read_chunked(self, reader: asyncio.StreamReader) -> bytes:
        body = bytearray()
        while True:
            try:
                size = int((await reader.readline()).split(b";")[0].strip(), 16)
            except ValueError:
                raise BadRequest(400, "bad chunk") from None
            if size <= 0:
                return bytes(body)
            if len(body) + size > self._limits.body_bytes:
                raise BadRequest(413, "body too large")
            try:
                body += await reader.readexactly(size)
            except asyncio.IncompleteReadError:
                raise BadRequest(400, "bad chunk") from None
            with contextlib.suppress(ValueError):
                await reader.readline()


async def _read_head(reader: asyncio.StreamReader) -> tuple[list[str], float]:
    """Request line and header lines, without line ends, up to the blank line or the end of the stream."""
    lines: list[str] = []
    arrival, size = 0.0, 0
    while True:
        if not arrival:
            first = await reader.read(1)
            arrival = time.monotonic()
        else:
            first = b""
        try:
            line = first + (b"" if first == b"\n" else await reader.readline())
        except ValueError:
            raise BadRequest(431, "headers too large") from None
        size += len(line)
        if size > _MAX_HEADER_BYTES:
            raise BadRequest(431, "headers too large")
        text = line.decode("latin-1").strip()
        if text:
            lines.append(text)
        elif lines or not line:
            return lines, arrival


def _parse_head(lines: list[str]) -> tuple[str, str, dict[str, str]]:
    """Method, target and headers (names in lower case). Header lines without a colon are ignored."""
    method, _, rest = lines[0].partition(" ")
    target, _, version = rest.strip().rpartition(" ")
    if not version.upper().startswith("HTTP/"):
        target = rest.strip()
    if not method.isalpha() or not method.isascii():
        raise BadRequest(400, "not HTTP")
    headers: dict[str, str] = {}
    for line in lines[1:]:
        name, colon, value = line.partition(":")
        if colon:
            headers.setdefault(name.strip().lower(), value.strip())
    return method.upper(), target, headers


async def _send(writer: asyncio.StreamWriter, response: Response) -> None:
    _write(writer, response)
    async with asyncio.timeout(10):
        await writer.drain()
    if writer.can_write_eof():
        writer.write_eof()


def _write(writer: asyncio.StreamWriter, response: Response) -> None:
    body = response.text.encode("utf-8", errors="replace")
    head = (
        f"HTTP/1.1 {response.status} {_REASONS.get(response.status, 'Error')}\r\n"
        "Content-Type: text/acl\r\n"
        f"Content-Length: {len(body)}\r\n"
        "Access-Control-Allow-Origin: *\r\n"
        "Access-Control-Allow-Methods: POST, GET, OPTIONS\r\n"
        "Access-Control-Allow-Headers: Content-Type, Sender, Receiver\r\n"
        "Access-Control-Max-Age: 86400\r\n"
        "Connection: close\r\n\r\n"
    )
    writer.write(head.encode("ascii") + body)


async def _drain(reader: asyncio.StreamReader) -> None:
    """Forget what a refused peer still sends, for a while; closing on unread data would spoil the answer."""
    with contextlib.suppress(TimeoutError, ConnectionError):
        async with asyncio.timeout(_DRAIN_SECONDS):
            while await reader.read(_CHUNK_BYTES):
                pass


def _peer_name(writer: asyncio.StreamWriter) -> str:
    address = writer.get_extra_info("peername")
    return f"{address[0]}:{address[1]}" if isinstance(address, tuple) else "?"
