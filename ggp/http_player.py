"""The HTTP player: answers any GGP game manager, always, and in time.

`PlayerServer` decides what each message means and keeps the matches; bytes are `ggp.http_front`'s
business, the wire text `ggp.protocol`'s, and one match `ggp.player_match`'s.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import ipaddress
import logging
import os
import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ggp.http_front import FrontLimits, HttpFront, Request, Response
from ggp.player_match import PlayerMatch, SearchOptions, StartError
from ggp.player_worker import load_rules
from ggp.players import PlayerSpecError, make_player
from ggp.protocol import (
    Abort,
    Info,
    Message,
    Play,
    Preview,
    ProtocolError,
    Start,
    Stop,
    format_info_reply,
    parse_message,
    printable,
)
from ggp.worker_link import prepare_agent

log = logging.getLogger("ggp.player")

_WATCH_SECONDS = 0.2

_SMALL_MEBIBYTES = 300
"""Below this size of the process all garbage is collected in a few hundredths of a second."""

_SMALLEST_RULES = "(role x) (legal x noop) (init p) (next p) (goal x 0) (<= terminal (not (true p)))"

_LARGE_TEXT = 100_000
"""Messages longer than this many characters are parsed outside the event loop."""


@dataclass(frozen=True)
class PlayerOptions:
    """How a player listens and plays.

    margin_seconds, start_margin_seconds
        What is left of each clock for the way of the answer. None: 1 s and 2 s, but 0.2 s and 0.3 s
        for managers on the same machine. Never more than half the clock.
    keeper_mebibytes
        How much this process may grow; the states of a match that needs more are given up.
    on_answer
        Called in the event loop with every move that is answered, as JSON-able data.
    """

    host: str = "127.0.0.1"
    port: int = 9147
    name: str = "ggp-lanes"
    margin_seconds: float | None = None
    start_margin_seconds: float | None = None
    max_matches: int = 4
    keeper_mebibytes: int = 1024
    search: SearchOptions = field(default_factory=SearchOptions)
    limits: FrontLimits = field(default_factory=FrontLimits)
    on_answer: Callable[[Mapping[str, Any]], None] | None = None


class PlayerServer:
    """A player that listens; any number of matches up to its limit, none while `is_preparing`."""

    def __init__(self, options: PlayerOptions) -> None:
        self.options = options
        self.port = 0
        self.is_preparing = False
        self.matches: dict[str, PlayerMatch] = {}
        self._front = HttpFront(self._handle, options.limits)
        self._closing: set[asyncio.Task[None]] = set()
        self._watching: asyncio.Task[None] | None = None

    async def listen(self) -> int:
        """Start to listen; returns the port. Raises OSError."""
        # Whatever is imported on first use is imported now: keepers must not (see ggp.keeper).
        await asyncio.to_thread(load_rules, _SMALLEST_RULES, engine=self.options.search.keeper_engine)
        self.port = await self._front.listen(self.options.host, self.options.port)
        self._watching = asyncio.create_task(self._watch_memory())
        return self.port

    async def close(self) -> None:
        """Stop listening, end all matches, kill all workers."""
        if self._watching is not None:
            self._watching.cancel()
        for match_id in list(self.matches):
            self._end(match_id, None, grace_seconds=0.0)
        if self._closing:
            await asyncio.wait(self._closing, timeout=3.0)
        await self._front.close()

    async def _watch_memory(self) -> None:
        """Stop the keeper that works longest whenever this process has grown too much."""
        limit = resident_mebibytes() + self.options.keeper_mebibytes
        while True:
            await asyncio.sleep(_WATCH_SECONDS)
            if resident_mebibytes() <= limit or not self.matches:
                continue
            match = max(self.matches.values(), key=lambda match: match.keeper_busy_seconds)
            if match.keeper_busy_seconds > 0:
                log.error("match %s: its states take too much memory; search only", match.match_id)
                match.give_up_state()
                # What it held is freed a little later.
                await asyncio.sleep(1.0)

    # --- messages -------------------------------------------------------------------------------

    async def _handle(self, request: Request) -> Response:
        """Answer one message and log it in one line."""
        try:
            if len(request.text) > _LARGE_TEXT:
                message = await asyncio.to_thread(parse_message, request.text)
            else:
                message = parse_message(request.text)
        except ProtocolError as error:
            log.warning("%s unreadable message (%s) -> 400", request.peer, printable(str(error)))
            return Response(f"error {error}", 400)
        reply, note = await self._dispatch(message, request)
        seconds = time.monotonic() - request.arrival
        log.info(
            "%s %s -> %s in %.3f s%s", request.peer, _describe(message), reply, seconds, note and f" ({note})"
        )
        return Response(reply)

    async def _dispatch(self, message: Message, request: Request) -> tuple[str, str]:
        """Reply and a note for the log."""
        match message:
            case Info():
                status = "available" if self._has_room() else "busy"
                return format_info_reply(self.options.name, status), ""
            case Start():
                return await self._start(message, request)
            case Play():
                return await self._play(message, request)
            case Stop() | Abort():
                if message.match_id.lower() not in self.matches:
                    return "busy", "no such match"
                is_stop = isinstance(message, Stop)
                self._end(message.match_id.lower(), message if is_stop else None)
                return ("done" if is_stop else "aborted"), ""
            case Preview():
                return "ready", ""

    async def _start(self, message: Start, request: Request) -> tuple[str, str]:
        key = message.match_id.lower()
        running = self.matches.get(key)
        if running is not None:
            if running.is_repeated_start(message):
                return "ready", "repeated"
            if running.role != message.role and not running.is_stale():
                return "busy", "this match has another role here"
            self._end(key, None)
        if not self._has_room():
            return "busy", "no room for another match"
        match = self.matches[key] = PlayerMatch(message, self.options.search)
        deadline = self._deadline(
            request, message.start_clock_seconds, self.options.start_margin_seconds, local=0.3, remote=2.0
        )
        try:
            return "ready", await match.start(deadline)
        except StartError as error:
            self._drop(key, match)
            return "busy", f"cannot play: {_summary(str(error))}"
        except Exception as error:
            log.exception("match %s: START failed", message.match_id)
            self._drop(key, match)
            return "busy", f"cannot play: {error!r}"

    async def _play(self, message: Play, request: Request) -> tuple[str, str]:
        match = self.matches.get(message.match_id.lower())
        if match is None:
            return "busy", "no such match"
        deadline = self._deadline(
            request, match.play_clock_seconds, self.options.margin_seconds, local=0.2, remote=1.0
        )
        answer = await match.play(message, deadline)
        if self.options.on_answer is not None and answer.how != "repeated":
            seconds = time.monotonic() - request.arrival
            self.options.on_answer(
                {
                    "match": match.match_id,
                    "role": str(match.role),
                    "step": answer.step,
                    "move": answer.text,
                    "how": answer.how,
                    "seconds": round(seconds, 4),
                    "report": answer.report,
                }
            )
        return answer.text, answer.note()

    def _has_room(self) -> bool:
        if self.is_preparing:
            return False
        if len(self.matches) >= self.options.max_matches:
            for match_id, match in list(self.matches.items()):
                if match.is_stale():
                    log.warning("match %s: the manager is gone; dropped", match_id)
                    self._end(match_id, None)
        return len(self.matches) < self.options.max_matches

    def _drop(self, key: str, match: PlayerMatch) -> None:
        """End `match` unless an ABORT has done so, or a new match has its place."""
        if self.matches.get(key) is match:
            self._end(key, None)

    def _end(self, match_id: str, message: Stop | Abort | None, grace_seconds: float = 1.0) -> None:
        match = self.matches.pop(match_id)
        match.stop(message if isinstance(message, Stop) else None)
        task = asyncio.create_task(self._release(match, grace_seconds if isinstance(message, Stop) else 0.0))
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    async def _release(self, match: PlayerMatch, grace_seconds: float) -> None:
        await match.close(grace_seconds)
        if resident_mebibytes() < _SMALL_MEBIBYTES:
            gc.collect()

    def _deadline(
        self, request: Request, clock_seconds: float, margin: float | None, *, local: float, remote: float
    ) -> float:
        """When the answer must leave, `time.monotonic()` seconds, counted from the request's arrival."""
        if margin is None:
            margin = local if _is_local(request.peer) else remote
        return request.arrival + clock_seconds - min(margin, clock_seconds / 2)


def resident_mebibytes() -> int:
    """Memory that this process has in use; 0 where the system does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") // 1024**2
    except (OSError, ValueError):
        return 0


def _is_local(peer: str) -> bool:
    try:
        return ipaddress.ip_address(peer.rpartition(":")[0]).is_loopback
    except ValueError:
        return False


def _summary(diagnostics: str) -> str:
    """The first of several diagnostics, without the lines that show the place: logs have one line each."""
    lines = [line for line in diagnostics.splitlines() if line and not line.startswith(" ")]
    first = printable(lines[0] if lines else diagnostics)
    return first if len(lines) < 2 else f"{first} (and {len(lines) - 1} more)"


def _describe(message: Message) -> str:
    """A message in a few words, for the log."""
    words = [type(message).__name__.upper()]
    if isinstance(message, Start | Play | Stop | Abort):
        words.append(message.match_id)
    if isinstance(message, Start):
        words.append(f"{message.role} {message.start_clock_seconds:g} {message.play_clock_seconds:g}")
    if isinstance(message, Play | Stop):
        terms = "NIL" if message.terms is None else f"({' '.join(map(str, message.terms))})"
        words.append(terms)
    return printable(" ".join(words))


def check_options(options: PlayerOptions) -> None:
    """Raises PlayerSpecError where the agent cannot play over HTTP, ValueError for a senseless number."""
    agent = options.search.agent
    if agent.startswith("http://") or agent.partition(":")[0] == "human":
        raise PlayerSpecError(f"agent {agent!r} cannot play behind the HTTP player")
    make_player(agent)
    if options.max_matches < 1:
        raise ValueError("--max-matches must be at least 1")
    if options.search.memory_mebibytes < 256:
        raise ValueError("--memory must be at least 256 MiB")


def run_player(options: PlayerOptions) -> int:
    """Serve until Ctrl-C or SIGTERM. Returns the exit code: 0, or 1 where the port cannot be had."""
    check_options(options)
    # A full collection stops all threads, for seconds where a keeper holds millions of terms: it is
    # made when a match ends, hardly ever by itself.
    gc.set_threshold(10_000, 50, 1_000)
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
    preparing = asyncio.create_task(prepare_agent(options.search.agent))
    stopping = asyncio.create_task(stop.wait())
    await asyncio.wait({preparing, stopping}, return_when=asyncio.FIRST_COMPLETED)
    if preparing.done():
        server.is_preparing = False
        log.info("%s (%s) listens on http://%s:%d", options.name, options.search.agent, options.host, port)
    preparing.cancel()
    await stop.wait()
    log.info("stopping")
    await server.close()
    return 0
