"""Real loopback connections for tests: a player server, and scripted players for the manager."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    asynccontextmanager,
    contextmanager,
)
from dataclasses import replace
from typing import Any, TypeVar

from ggp.player_server.http_listener import HttpListener, HttpRequest, HttpResponse
from ggp.player_server.match import SearchOptions
from ggp.player_server.server import PlayerOptions, PlayerServer
from ggp.protocol.messages import Info, Message, Play, Start, format_info_reply, parse_message

QUICK = PlayerOptions(port=0, margin_seconds=0.2, search=SearchOptions(agent="legal", seed=1))


@asynccontextmanager
async def running_player(**changes: object) -> AsyncIterator[PlayerServer]:
    """A player on a free port."""
    server = PlayerServer(replace(QUICK, **changes))  # type: ignore[arg-type]
    await server.listen()
    try:
        yield server
    finally:
        await server.close()


def inside(open_: Callable[[], AbstractAsyncContextManager[Any]], *names: str) -> Callable[[Any], Any]:
    """Decorate a coroutine as a test: `names` are given what `open_()` opens, other names are fixtures."""

    def decorate(scenario: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
        def test(**fixtures: Any) -> None:
            async def run() -> None:
                async with open_() as opened:
                    values = opened if len(names) > 1 else (opened,)
                    await scenario(**dict(zip(names, values, strict=True)), **fixtures)

            asyncio.run(run())

        parameters = list(inspect.signature(scenario).parameters.values())
        fixtures = [each for each in parameters if each.name not in names]
        test.__name__, test.__doc__, test.__module__ = (
            scenario.__name__,
            scenario.__doc__,
            scenario.__module__,
        )
        test.__signature__ = inspect.Signature(fixtures)  # type: ignore[attr-defined]
        return test

    return decorate


def with_player(**changes: object) -> Callable[[Any], Any]:
    """Decorate a coroutine as a test of the running player `server`."""
    return inside(lambda: running_player(**changes), "server")


async def exchange(port: int, data: bytes, *, half_close: bool = False) -> bytes:
    """Send raw bytes; returns the whole reply."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(data)
    await writer.drain()
    if half_close:
        writer.write_eof()
    reply = await reader.read()
    writer.close()
    return reply


async def post(port: int, text: str) -> str:
    """The body of the answer to a plain POST; `"<status> <body>"` if the status is not 200."""
    body = text.encode()
    head = f"POST / HTTP/1.0\r\nContent-Type: text/acl\r\nContent-Length: {len(body)}\r\n\r\n"
    reply = await exchange(port, head.encode() + body)
    headers, _, answer = reply.decode().partition("\r\n\r\n")
    status = headers.split()[1]
    return answer if status == "200" else f"{status} {answer}"


Script = Callable[[Message], Awaitable[str]]


@asynccontextmanager
async def scripted_player(script: Script, name: str = "script") -> AsyncIterator[tuple[str, list[Message]]]:
    """A player that answers INFO itself and the rest by `script`; yields its address and messages."""
    heard: list[Message] = []

    async def handle(request: HttpRequest) -> HttpResponse:
        message = parse_message(request.text)
        if isinstance(message, Info):
            return HttpResponse(format_info_reply(name, "available"))
        heard.append(message)
        return HttpResponse(await script(message))

    listener = HttpListener(handle)
    port = await listener.listen("127.0.0.1", 0)
    try:
        yield f"127.0.0.1:{port}", heard
    finally:
        await listener.close()


Result = TypeVar("Result")
Answer = TypeVar("Answer")


@contextmanager
def in_thread(manager: AbstractAsyncContextManager[Result]) -> Iterator[Result]:
    """What `manager` opens, in an event loop of a thread of its own, for callers that block."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    def call(coroutine: Coroutine[Any, Any, Answer]) -> Answer:
        return asyncio.run_coroutine_threadsafe(coroutine, loop).result(10)

    async def close() -> None:
        await manager.__aexit__(None, None, None)

    async def enter() -> Result:
        return await manager.__aenter__()

    try:
        yield call(enter())
    finally:
        call(close())
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def scripted_player_in_thread(script: Script) -> AbstractContextManager[tuple[str, list[Message]]]:
    """`scripted_player` in a thread, for tests of callers that block."""
    return in_thread(scripted_player(script))


def answering(*moves: str) -> Script:
    """A script that answers `ready`, then `moves` one by one, then repeats the last one."""
    remaining = list(moves)

    async def script(message: Message) -> str:
        if isinstance(message, Start):
            return "ready"
        if isinstance(message, Play):
            return remaining.pop(0) if len(remaining) > 1 else remaining[0]
        return "done"

    return script
