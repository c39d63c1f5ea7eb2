"""The HTTP player: answers every message of any GGP game manager, in time.

`PlayerServer` holds the matches and dispatches messages to them. Bytes are handled by
`ggp.player_server.http_listener`, the text of messages by `ggp.protocol.messages`, a match by
`ggp.player_server.match`.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from ggp.player_server.http_listener import BadRequest, HttpListener, HttpRequest, HttpResponse, RequestLimits
from ggp.player_server.margins import PLAY_MARGIN, START_MARGIN, LoopLag, Margin, answer_deadline
from ggp.player_server.match import PlayerMatch, SearchOptions, StartError
from ggp.player_server.message_reader import MessageReader
from ggp.player_server.process_pools import StatePool, WorkerPool
from ggp.player_server.web_pages import OriginRules
from ggp.players.factory import check_player, require_kind
from ggp.protocol.messages import (
    FAULT_HEADER,
    Abort,
    Info,
    Message,
    Play,
    Preview,
    ProtocolError,
    Start,
    Stop,
    format_info_reply,
    format_message,
    printable,
)

log = logging.getLogger("ggp.player")

_CLOSING_SECONDS = 1.0
"""Time for ended matches to release their processes when the server stops."""


@dataclass(frozen=True)
class PlayerOptions:
    """Options of listening and playing.

    margin_seconds
        Part of each clock reserved for sending the answer; None: see `ggp.player_server.margins`.
    allowed_origins
        Web pages that may use the player, as `http://example.org`; `*` for all.
    """

    host: str = "127.0.0.1"
    port: int = 9147
    name: str = "ggp-lanes"
    margin_seconds: float | None = None
    max_matches: int = 4
    search: SearchOptions = field(default_factory=SearchOptions)
    limits: RequestLimits = field(default_factory=RequestLimits)
    allowed_origins: tuple[str, ...] = ()


class PlayerServer:
    """A listening player: up to `max_matches` matches at once, none while `is_preparing`."""

    def __init__(self, options: PlayerOptions) -> None:
        self.options = options
        self.port = 0
        self.is_preparing = False
        self.matches: dict[str, PlayerMatch] = {}
        self._to_move: list[PlayerMatch] = []
        self._replacing: set[str] = set()
        origins = OriginRules(options.host, options.allowed_origins)
        self._listener = HttpListener(self._handle, options.limits, origins)
        self._reader = MessageReader()
        self._states = StatePool()
        self._workers = WorkerPool(options.search.agent, options.max_matches)
        self._keeps_spare = False
        self._lag = LoopLag()
        self._watching: asyncio.Task[None] | None = None
        self._closing: set[asyncio.Task[None]] = set()

    async def listen(self) -> int:
        """Start listening; returns the port. Raises OSError."""
        self._watching = asyncio.create_task(self._lag.watch())
        self.port = await self._listener.listen(self.options.host, self.options.port)
        await self._states.open()
        return self.port

    async def close(self) -> None:
        if self._watching is not None:
            self._watching.cancel()
        await self._workers.close()
        for match_id in list(self.matches):
            self._end(match_id, None)
        if self._closing:
            await asyncio.wait(self._closing, timeout=_CLOSING_SECONDS)
        await self._listener.close()
        await self._states.close()

    async def prepare(self) -> None:
        """Compile the kernels of the agent, and from now on keep a warm search process for the next match."""
        self._keeps_spare = True
        self.is_preparing = True
        await self._workers.fill()
        self.is_preparing = False

    # --- messages -------------------------------------------------------------------------------

    async def _handle(self, request: HttpRequest) -> HttpResponse:
        try:
            message = await self._reader.read(request.text, request.host)
        except BadRequest as error:
            log.warning("%s %s -> %d", request.peer, error, error.status)
            return HttpResponse(f"error {error}", error.status)
        except ProtocolError as error:
            log.warning("%s unreadable message (%s) -> 400", request.peer, printable(str(error)))
            return HttpResponse(f"error {error}", 400)
        reply, note = await self._dispatch(message, request)
        response = HttpResponse(reply) if isinstance(reply, str) else reply
        seconds, about = time.monotonic() - request.arrival, note and f" ({note})"
        log.info("%s %s -> %s in %.3f s%s", request.peer, _describe(message), response.text, seconds, about)
        return response

    async def _dispatch(self, message: Message, request: HttpRequest) -> tuple[HttpResponse | str, str]:
        """The reply, and a note for the log."""
        if isinstance(message, Play | Stop | Abort) and message.match_id.lower() not in self.matches:
            await self._reader.catch_up(request.host)  # its START may not be read yet
        match message:
            case Info():
                is_behind = self._reader.is_behind or any(match.is_behind for match in self.matches.values())
                is_available = self._has_room() and not is_behind
                return format_info_reply(self.options.name, "available" if is_available else "busy"), ""
            case Start():
                return await self._start(message, request)
            case Play():
                return await self._play(message, request)
            case Stop() | Abort():
                if message.match_id.lower() not in self.matches:
                    return "busy", "no such match"
                stop = message if isinstance(message, Stop) else None
                self._end(message.match_id.lower(), stop)
                return ("aborted" if stop is None else "done"), ""
            case Preview():
                return "ready", ""

    async def _start(self, message: Start, request: HttpRequest) -> tuple[str, str]:
        key = message.match_id.lower()
        deadline = self._deadline(request, message.start_clock_seconds, START_MARGIN)
        running = self.matches.get(key)
        if running is not None:
            if running.is_repeated_start(message):
                return "ready", "repeated"
            if not running.is_stale():
                return await self._replace(running, message, request, deadline)
            self._end(key, None)
        if self.is_preparing:
            return "busy", "preparing: compiling kernels"
        if not self._has_room():
            return "busy", "no room for another match"
        match = self.matches[key] = self._new_match(message, request)
        try:
            with self._to_itself(match):
                return "ready", await match.start(deadline, request.is_peer_gone)
        except StartError as error:
            why = _summary(str(error))
        except Exception as error:
            log.exception("match %s: START failed", message.match_id)
            why = repr(error)
        if self.matches.get(key) is match:  # not ended by an ABORT, nor replaced
            self._end(key, None)
        return "busy", f"cannot play: {why}"

    async def _replace(
        self, running: PlayerMatch, message: Start, request: HttpRequest, deadline: float
    ) -> tuple[str, str]:
        """Answer a START with the id of a running match.

        The running match is kept unless its own manager, recognized by its address, sends valid rules.
        """
        key = message.match_id.lower()
        if running.role != message.role:
            return "busy", "this player has another role in this match"
        if running.manager != request.host:
            return "busy", "another manager's match has this id"
        if key in self._replacing:
            return "busy", "another START with this id is being read"
        self._replacing.add(key)
        match = self._new_match(message, request)
        is_good = False
        try:
            with self._to_itself(match):
                note = await match.start(deadline, request.is_peer_gone)
            is_good = match.is_loaded and self.matches.get(key) is running
        except StartError as error:
            note = f"cannot play: {_summary(str(error))}"
        finally:
            self._replacing.discard(key)
            if not is_good:
                self._release_later(match, None)
        if not is_good:
            return "busy", note or "the match has ended meanwhile"
        self._end(key, None)
        self.matches[key] = match
        return "ready", note or "instead of the match with this id"

    def _new_match(self, message: Start, request: HttpRequest) -> PlayerMatch:
        return PlayerMatch(message, self.options.search, self._states, self._workers, request.host)

    async def _play(self, message: Play, request: HttpRequest) -> tuple[HttpResponse | str, str]:
        match = self.matches.get(message.match_id.lower())
        if match is None:
            return "busy", "no such match"
        deadline = self._deadline(request, match.play_clock_seconds, PLAY_MARGIN)
        latest = (deadline + request.arrival + match.play_clock_seconds) / 2  # half of the margin
        with self._to_itself(match):
            answer = await match.play(message, deadline, latest, request.is_peer_gone)
        headers = ((FAULT_HEADER, answer.fault),) if answer.fault else ()
        return HttpResponse(answer.text, 500 if answer.how == "none" else 200, headers), answer.note()

    def _deadline(self, request: HttpRequest, clock_seconds: float, margin: Margin) -> float:
        """When the answer must be sent, `time.monotonic()` seconds; earlier if the loop was late."""
        begin = request.arrival - self._lag.seconds(clock_seconds)
        return answer_deadline(begin, clock_seconds, margin, self.options.margin_seconds, request.peer)

    @contextlib.contextmanager
    def _to_itself(self, match: PlayerMatch) -> Iterator[None]:
        """Stop other matches from pondering while `match` starts or is to move: it needs the cores."""
        self._to_move.append(match)
        self._share_cores()
        try:
            yield
        finally:
            self._to_move.remove(match)
            self._share_cores()

    def _share_cores(self) -> None:
        for match in self.matches.values():
            match.allow_pondering(all(other is match for other in self._to_move))

    def _has_room(self) -> bool:
        if self.is_preparing:
            return False
        if len(self.matches) >= self.options.max_matches:
            for match_id, match in list(self.matches.items()):
                if match.is_stale():
                    log.warning("match %s: manager gone; match dropped", match_id)
                    self._end(match_id, None)
        return len(self.matches) < self.options.max_matches

    def _end(self, key: str, message: Stop | None) -> None:
        self._release_later(self.matches.pop(key), message)

    def _release_later(self, match: PlayerMatch, message: Stop | None) -> None:
        match.stop(message)
        task = asyncio.create_task(self._release(match))
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    async def _release(self, match: PlayerMatch) -> None:
        await match.close()
        if self._keeps_spare:
            await self._workers.fill()


def _summary(diagnostics: str) -> str:
    """The first of several diagnostics without its source excerpt, as one log line."""
    lines = [line for line in diagnostics.splitlines() if line and not line.startswith(" ")]
    first = printable(lines[0] if lines else diagnostics)
    return first if len(lines) < 2 else f"{first} (and {len(lines) - 1} more)"


def _describe(message: Message) -> str:
    if isinstance(message, Start | Preview):
        message = replace(message, rules="")
    return printable(" ".join(format_message(message).split()))


def check_options(options: PlayerOptions) -> None:
    """Raises PlayerSpecError if the agent cannot play over HTTP."""
    agent = options.search.agent
    require_kind(agent, refused=("human", "http"))
    check_player(agent)


def run_player(options: PlayerOptions) -> int:
    """Serve until Ctrl-C or SIGTERM. Returns the exit code: 0, or 1 if the port is not available."""
    check_options(options)
    try:
        return asyncio.run(_serve_until_signal(options))
    except KeyboardInterrupt:
        return 0


async def _serve_until_signal(options: PlayerOptions) -> int:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError, ValueError):
            loop.add_signal_handler(number, stop.set)
    server = PlayerServer(options)
    server.is_preparing = True
    try:
        port = await server.listen()
    except OSError as error:
        log.error("cannot listen on %s:%d: %s", options.host, options.port, error.strerror or error)
        return 1
    preparing = asyncio.create_task(server.prepare())
    stopping = asyncio.create_task(stop.wait())
    await asyncio.wait({preparing, stopping}, return_when=asyncio.FIRST_COMPLETED)
    if preparing.done():
        log.info("%s (%s) listens on http://%s:%d", options.name, options.search.agent, options.host, port)
    preparing.cancel()
    await stop.wait()
    log.info("stopping")
    await server.close()
    return 0
