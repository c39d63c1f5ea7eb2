"""Limits on connections: their number, the number per peer, and how long one may be silent.

asyncio accepts all that come; once the process has no file descriptor left it answers nothing and fills the
log with errors. Here connections are accepted one at a time; beyond a limit the oldest that waits for no
answer ends for the new one, so that silent ones keep no peer out.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import time
from collections.abc import Callable, Iterator

log = logging.getLogger("ggp.web")
_SWEEP_SECONDS = 1.0
_RETRY_SECONDS = 1.0
_BACKLOG = 128
_MAX_CONNECTIONS = 256
"""At the same time, half of them from one address; fewer if the process may open few files."""
_REQUEST_SECONDS, _IDLE_SECONDS = 20.0, 75.0
"""Until the end of a request, from the start of the connection and from the answer before."""


class Connections:
    """The open connections of a server."""

    def __init__(self) -> None:
        self._deadline: dict[asyncio.BaseTransport, float | None] = {}
        """Connection → deadline of its next request, the oldest first; None while a request is answered."""

    async def accept(self, listener: socket.socket, make: Callable[[], asyncio.BaseProtocol]) -> None:
        """Accept connections until cancelled. `make` is called for each one's protocol."""
        loop = asyncio.get_running_loop()
        while True:
            try:
                peer, address = await loop.sock_accept(listener)
            except ConnectionError:
                continue  # it is closed already
            except OSError as error:
                log.warning("connections have to wait: %s", error.strerror or error)
                await asyncio.sleep(_RETRY_SECONDS)
                continue
            if not self._make_room(address[0]):
                peer.close()
                continue
            try:
                transport, _ = await loop.connect_accepted_socket(make, peer)
            except OSError:
                peer.close()
                continue
            self._deadline[transport] = time.monotonic() + _REQUEST_SECONDS

    def _make_room(self, address: str) -> bool:
        """If there are too many connections, end the oldest idle one; return whether there is room."""
        self._forget_closed()
        # Files and child processes need descriptors too.
        most = min(_MAX_CONNECTIONS, max(2, _descriptors() // 3))
        of_peer = [each for each in self._deadline if _address(each) == address]
        for group, limit in ((of_peer, most // 2), (list(self._deadline), most)):
            if len(group) >= limit:
                oldest = next((each for each in group if self._deadline.get(each) is not None), None)
                if oldest is None:
                    return False
                self._end(oldest)
                return True
        return True

    def _forget_closed(self) -> None:
        for each in [each for each in self._deadline if each.is_closing()]:
            del self._deadline[each]

    def _end(self, transport: asyncio.BaseTransport) -> None:
        del self._deadline[transport]
        assert isinstance(transport, asyncio.Transport)
        transport.abort()  # not close(), which waits for a peer that does not read

    @contextlib.contextmanager
    def answering(self, transport: asyncio.BaseTransport | None) -> Iterator[None]:
        """Exempt a connection from the deadline while its request is answered."""
        if transport is None or transport not in self._deadline:
            yield
            return
        self._deadline[transport] = None
        try:
            yield
        finally:
            if self._deadline.pop(transport, 0.0) is None:
                self._deadline[transport] = time.monotonic() + _IDLE_SECONDS

    async def end_silent(self) -> None:
        """End connections that have waited too long for a request, until cancelled."""
        while True:
            await asyncio.sleep(_SWEEP_SECONDS)
            self._forget_closed()
            now = time.monotonic()
            for transport, deadline in list(self._deadline.items()):
                if deadline is not None and deadline < now:
                    self._end(transport)


def listeners(host: str, port: int) -> list[socket.socket]:
    """Listening sockets, one for each address of `host`. Raises OSError."""
    found = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    with contextlib.ExitStack() as opened:
        sockets = []
        for family, address in dict.fromkeys((family, address) for family, *_, address in found):
            place = (str(address[0]), int(address[1]))
            listener = socket.create_server(place, family=family, backlog=_BACKLOG)
            listener.setblocking(False)
            sockets.append(opened.enter_context(listener))
        opened.pop_all()
    return sockets


def _descriptors() -> int:
    """Maximum number of open files of this process."""
    try:
        import resource
    except ImportError:
        return 1024
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 2**20 if soft == resource.RLIM_INFINITY else soft


def _address(transport: asyncio.BaseTransport) -> str:
    name = transport.get_extra_info("peername")
    return str(name[0]) if isinstance(name, tuple) else ""
