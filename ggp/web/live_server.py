"""The page of matches played by other processes of this machine: `python -m ggp.web.live_server`.

`live_page` starts it for `ggp manage --page` and `ggp player --page`. The first request is `listen`, with a
`port`; it is answered with the address of the page. All others have the number of a `match` and no answer:

    open                             rules, name, seats and role, as `ShownMatch.follow`
    step, wait, stop                 as these methods of `ShownMatch`
    think                            role, report, is_done, move: how a search stands

Pages only look: no request reaches the match itself. The process has the lowest priority, so that it takes no
time from a search.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import os
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

from aiohttp import web

from ggp.processes.child import Child, ChildError
from ggp.processes.child_end import Parent, limit_memory
from ggp.web.access import Access
from ggp.web.server import WebServer, add_static, page, run_app
from ggp.web.sessions import MATCH_MODULE, OpenMatch, SessionLimits

_KEPT_MATCHES = 8
"""Maximum number of matches shown; the oldest finished one is dropped first."""
_WAITING_EVENTS = 2000
"""Maximum number of events waiting for the process of a match; beyond that the page drops the match."""
_STEP_SECONDS = 60.0
_MEBIBYTES = 2048
_NICENESS = 19
_LIMITS = SessionLimits(sessions=16, matches=0, mebibytes=1024, idle_seconds=math.inf)


class LiveMatch:
    """A followed match: its process, and the events that wait for it.

    on_open   called once the rules are loaded

    `problem`: why the page no longer follows the match.
    """

    def __init__(self, number: int, opening: Mapping[str, Any], on_open: Callable[[OpenMatch], None]) -> None:
        self.match = OpenMatch(str(number))
        self._on_open = on_open
        self.is_over = False
        self.problem = ""
        self._opening = dict(opening)
        self._events: asyncio.Queue[tuple[str, dict[str, Any]]] = asyncio.Queue(_WAITING_EVENTS)
        self._task = asyncio.create_task(self._run())

    def summary(self) -> dict[str, Any]:
        """Number, name, role, step and end of the match; `is_shown`: it has a page."""
        about, state = self.match.about, self.match.state
        end = state.get("outcome") or self.problem or state.get("note")
        return {
            "id": self.match.name,
            "name": self._opening["name"],
            "role": about.get("own_role"),
            "step": state.get("step", 0),
            "text": end or ("over" if self.is_over else "running"),
            "is_shown": bool(about),
        }

    def put(self, do: str, event: dict[str, Any]) -> None:
        """Queue an event. A match that cannot keep up first loses its search reports, and then ends."""
        self.is_over = self.is_over or do == "stop"
        if do == "think" and self._events.qsize() > _WAITING_EVENTS // 2 and not event["is_done"]:
            return
        try:
            self._events.put_nowait((do, event))
        except asyncio.QueueFull:
            self.problem = "no longer shown: the page does not keep up with the match"
            self._task.cancel()

    async def _run(self) -> None:
        match = self.match
        try:
            child = Child(MATCH_MODULE, str(_LIMITS.mebibytes))
            await match.open(child, "follow", self._opening, _STEP_SECONDS)
            self._on_open(match)
            while True:
                await self._pass_on(*await self._events.get())
        except ChildError as error:
            self.problem = f"cannot be shown: {error}"
        finally:
            self.is_over = True
            match.receive({"event": "gone"}, '{"event": "gone"}')
            await match.close()

    async def _pass_on(self, do: str, event: dict[str, Any]) -> None:
        if do != "think":
            await self.match.ask(do, event, _STEP_SECONDS)
            return
        step = self.match.state.get("step", 0)
        thought = {"event": "think", "step": step, "is_yours": False, **event}
        self.match.receive(thought, json.dumps(thought))
        goal = event["report"].get("expectation")
        if event["is_done"] and goal is not None:
            await self.match.ask("expect", {"role": event["role"], "goal": goal}, _STEP_SECONDS)

    async def close(self) -> None:
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task


class LiveServer:
    """The handlers, and the matches by number."""

    def __init__(self, access: Access) -> None:
        self._server = WebServer(access, _LIMITS)
        self._matches: dict[int, LiveMatch] = {}
        self._closing: set[asyncio.Task[None]] = set()

    def make_app(self) -> web.Application:
        server = self._server
        app = web.Application(middlewares=[server.guard])
        app.cleanup_ctx.extend((server.run_sweeper, self._end_matches))
        app.router.add_get("/", page("live"))
        app.router.add_get("/match/{id}", page("match"))
        add_static(app)
        app.router.add_get("/api/live", self.matches)
        app.router.add_get("/api/matches/{id}", server.match)
        app.router.add_get("/api/matches/{id}/events", server.events)
        app.router.add_post("/api/matches/{id}/{do:view|explore|record|animation}", server.ask_match)
        return app

    async def _end_matches(self, app: web.Application) -> AsyncIterator[None]:
        yield
        await asyncio.gather(*(match.close() for match in self._matches.values()), return_exceptions=True)

    def take(self, event: dict[str, Any]) -> None:
        """Handle an event; call this in the event loop."""
        do, number = event.pop("do"), event.pop("match")
        if do == "open":
            self._make_room()
            shared = self._server.sessions.shared
            self._matches[number] = LiveMatch(number, event, lambda match: shared.update({match.name: match}))
        elif number in self._matches:
            self._matches[number].put(do, event)

    def _make_room(self) -> None:
        while len(self._matches) >= _KEPT_MATCHES:
            oldest = min(self._matches, key=lambda number: (not self._matches[number].is_over, number))
            match = self._matches.pop(oldest)
            self._server.sessions.shared.pop(match.match.name, None)
            task = asyncio.create_task(match.close())
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)

    async def matches(self, request: web.Request) -> web.Response:
        newest = sorted(self._matches.items(), reverse=True)
        shown = [match.summary() for _, match in newest if match.match.about or match.problem]
        return web.json_response(shown)


def main() -> None:
    parent = Parent()
    limit_memory(_MEBIBYTES)
    if hasattr(os, "nice"):
        os.nice(_NICENESS)
    listen = parent.next()
    access = Access("127.0.0.1", listen["port"])
    try:
        asyncio.run(_serve(access, parent, listen["number"]))
    except OSError as error:
        why = f"cannot listen on {access.host}:{access.port}: {error.strerror or error}"
        parent.send({"number": listen["number"], "error": why})


async def _serve(access: Access, parent: Parent, number: int) -> None:
    server, loop = LiveServer(access), asyncio.get_running_loop()

    def receive() -> None:
        while True:
            loop.call_soon_threadsafe(server.take, parent.next())

    def begin() -> None:
        parent.send({"number": number, "result": access.address})
        threading.Thread(target=receive, daemon=True).start()

    await run_app(server.make_app(), access, begin)


if __name__ == "__main__":
    main()
