"""The web server: pages, and the JSON that their scripts ask for; see `WebServer.make_app` for the routes.

POST /api/matches opens a match: of a `game` or of `rules`, with `seats` and `seconds`; or of a `record`. The
events of a match are server-sent: the whole state first, then what has changed (`ggp.web.changes`). Programs
send the token with each request, as `Authorization: Bearer TOKEN`.

Errors are `{"error": sentence}`, and a page with the sentence for a browser that asked for a page, with a
status: 400 the request, 403 token or origin, 404 not found, 408 too slow, 410 the process has ended, 413 too
large, 415 compressed, 500 an internal error, 503 no process could be started.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import hashlib
import html
import json
import logging
import math
import mimetypes
import os
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from functools import lru_cache, partial
from pathlib import Path
from string import Template
from typing import Any, NoReturn
from urllib.parse import parse_qsl

from aiohttp import web

from gdl.syntax.parser import decode
from ggp.analysis.sheet_comment import read_comment
from ggp.files import PACKAGE
from ggp.game import RANDOM_ROLE
from ggp.processes.child import ChildError, ChildGoneError, ChildStartError
from ggp.web.access import COOKIE, HEADERS, LOGIN, Access, redirection
from ggp.web.catalog import featured_scenes, known_games, sheets, size_of
from ggp.web.connections import Connections, listeners
from ggp.web.kept_matches import KeptMatches
from ggp.web.open_matches import OpenMatch, OpenMatches, ServerLimits
from ggp.web.seats import PERSON, described_agents

log = logging.getLogger("ggp.web")

STATIC = PACKAGE / "web" / "static"
_SWEEP_SECONDS = 30.0
_PARTS: Mapping[str, str] = {"<!-- setup -->": "setup.html"}
"""Marks in pages → the file of `static` that stands there."""
_OPENING = "<!-- opening -->"
_BOARD = '<div id="state">'
"""Mark in the page of a match: what the page would ask for first."""
_LISTED = 6
"""Maximum number of running matches that the front page lists."""
_KEEP_ALIVE_SECONDS = 15.0
_PICTURE_SECONDS = 5.0
_EXPLANATION_SECONDS = 30.0
_BODY_SECONDS = 20.0
_WRITE_SECONDS = 30.0
"""Time to write an event; a page that has stopped reading is disconnected."""
_TYPES = mimetypes.MimeTypes()
CONNECTIONS = web.AppKey("connections", Connections)
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

_OWN_PATH = re.compile(r"/[\w/.-]*", re.ASCII)
_SHEET_REQUESTS: Mapping[str, float | None] = {
    "check": None,
    "format": None,
    "prove": 60.0,
    "conclude": 60.0,
    "scene": _PICTURE_SECONDS,
}
"""Requests about a sheet → time limit in seconds; None: the default."""

_MATCH_REQUESTS: Mapping[str, Mapping[str, type]] = {
    "view": {"step": int},
    "explore": {"step": int, "line": list},
    "play": {"step": int, "role": str, "move": str},
    "resign": {"role": str},
    "undo": {},
    "think": {"seconds": float, "step": int, "line": list},
    "rest": {},
    "review": {},
    "record": {},
}
"""Requests of a page about a match → fields with their types."""

_SENTENCES: Mapping[int, str] = {
    404: "not found: no page has this address",
    405: "this address does not accept such requests",
}
_NO_MATCH = "no match has this address: it has ended, or there never was one"
_UNREAD = (408, 413, 415)
"""Statuses of requests whose body is not read completely, so that their connections are closed."""


class WebServer:
    """The handlers of all routes.

    clock   seconds, for idle matches
    kept    folder for matches, so that they outlive their processes and the server; None: they are forgotten
    """

    def __init__(
        self,
        access: Access,
        limits: ServerLimits,
        clock: Callable[[], float] = time.monotonic,
        kept: Path | None = None,
    ) -> None:
        self.access = access
        self.limits = limits
        self.open_matches = OpenMatches(limits, clock, self._keep_soon)
        self._kept = KeptMatches(kept)
        self._reviving, self._writing = asyncio.Lock(), asyncio.Lock()
        self._keeping: set[asyncio.Task[None]] = set()
        self._scenes: dict[str, asyncio.Task[Any]] = {}

    def make_app(self) -> web.Application:
        app = web.Application(middlewares=[self.guard], client_max_size=self.limits.sheet_bytes)
        app.cleanup_ctx.append(self.run_sweeper)
        app.router.add_get("/", self.front)
        app.router.add_get("/match/{id}", self.match_page)
        app.router.add_get("/match/{id}/explanation", self.explanation)
        app.router.add_get("/workbench", self.workbench)
        app.router.add_post("/workbench/explanation", self.explained_sheet)
        # Pages ask for files with their version, others may leave it out.
        app.router.add_get("/static/{name}", static_file)
        app.router.add_get("/static/{version}/{name}", static_file)
        app.router.add_get("/api/games", self.games)
        app.router.add_get("/api/games/{name}/rules", self.rules)
        app.router.add_get("/api/games/{name}/scene", self.scene)
        app.router.add_post("/api/games/{name}/prepare", self.prepare)
        app.router.add_get("/api/players", self.players)
        app.router.add_get("/api/matches", self.matches)
        app.router.add_post("/api/matches", self.open_match)
        app.router.add_get("/api/matches/{id}", self.match)
        app.router.add_get("/api/matches/{id}/events", self.events)
        app.router.add_post("/api/matches/{id}/again", self.open_again)
        app.router.add_post("/api/matches/{id}/close", self.close_match)
        app.router.add_post("/api/matches/{id}/{do}", self.ask_match)
        app.router.add_post("/api/sheet/{do}", self.ask_sheet)
        return app

    async def run_sweeper(self, app: web.Application) -> AsyncIterator[None]:
        """End idle matches while the application runs, and all processes at its end."""

        async def sweep() -> None:
            while True:
                await asyncio.sleep(_SWEEP_SECONDS)
                await self.open_matches.end_idle()

        task = asyncio.create_task(sweep())
        yield
        task.cancel()
        await self.open_matches.close()
        await asyncio.gather(*self._keeping)

    @web.middleware
    async def guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Refuse requests without access; turn errors into sentences."""
        response: web.StreamResponse
        try:
            response = await self._admit(request, handler)
        except Exception as error:  # unexpected errors get an answer too
            response = _error(request, *self._refusal(error))
            if response.status in _UNREAD:
                response.force_close()
        if not response.prepared:
            for name, value in HEADERS.items():
                response.headers.setdefault(name, value)
        return response

    def _refusal(self, error: Exception) -> tuple[int, str]:
        """Status and sentence for an error; unexpected errors are logged."""
        match error:
            case ChildStartError():
                return 503, str(error)
            case ChildGoneError():
                why = str(error)
                return 410, why if why.startswith(("stopped", "this", "the")) else f"stopped: {why}"
            case ChildError():
                return 400, str(error)
            case web.HTTPRequestEntityTooLarge():
                return 413, f"too large: at most {self.limits.sheet_bytes:,} bytes"
            case web.HTTPException():
                is_own = error.text and not error.text.startswith(str(error.status))
                return error.status, str(error.text) if is_own else _SENTENCES.get(error.status, error.reason)
            case TimeoutError():
                return 408, f"the request did not arrive within {_BODY_SECONDS:g} s"
        log.error("request failed", exc_info=error)
        return 500, "internal error; the server's log has the details"

    async def _admit(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        if not self.access.is_own_host(request.headers.get("Host", "")):
            raise web.HTTPForbidden(text="this server does not serve that host name")
        if self._is_program(request):
            return await self._answer(request, handler)
        origin, host = request.headers.get("Origin"), request.headers["Host"]
        if request.method not in ("GET", "HEAD") and not self.access.is_own_origin(origin, host):
            raise web.HTTPForbidden(text="requests from other pages are refused")
        if "token" in request.query and not request.path.startswith(("/api/", "/static/")):
            return self._log_in(request)
        if not request.path.startswith("/static/"):
            self._require_cookie(request)
        return await self._answer(request, handler)

    async def _answer(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Read the request, then answer it: a connection counts as busy only when its request is complete."""
        if request.method == "POST":
            await _receive(request)
        connections = request.app.get(CONNECTIONS)
        with connections.answering(request.transport) if connections else contextlib.nullcontext():
            return await handler(request)

    def _is_program(self, request: web.Request) -> bool:
        """Whether the request has the token itself; only the API may be asked so."""
        header = request.headers.get("Authorization")
        return request.path.startswith("/api/") and self.access.is_bearer(header)

    @property
    def _cookie(self) -> str:
        """The name of the cookie: cookies ignore ports, so two servers on one machine need two names."""
        return f"{COOKIE}-{self.access.port}"

    def _log_in(self, request: web.Request) -> web.StreamResponse:
        """Exchange the token for a cookie; it does not stay in the address bar."""
        if not self.access.is_token(request.query["token"]):
            raise web.HTTPForbidden(text="wrong token: open the address that the server printed last")
        path = f"/{request.path.lstrip('/')}"
        target = path if _OWN_PATH.fullmatch(path) else "/"  # browsers read "\\" as "/"
        if path == LOGIN:
            response = web.Response(text=redirection("/"), content_type="text/html")
        else:
            response = web.Response(status=302, headers={"Location": target})
        self.open_matches.keep_ready()
        response.set_cookie(self._cookie, self.access.cookie, httponly=True, samesite="Strict", path="/")
        return response

    async def games(self, request: web.Request) -> web.Response:
        return web.json_response(await asyncio.to_thread(known_games))

    async def rules(self, request: web.Request) -> web.Response:
        return web.Response(text=await asyncio.to_thread(read_rules, request.match_info["name"]))

    async def front(self, request: web.Request) -> web.StreamResponse:
        """The front page, with the pictures that are drawn already."""
        drawn = {name: task.result() for name, task in self._scenes.items() if _has_succeeded(task)}
        return _page("games", json.dumps({name: drawn[name] for name in featured_scenes() if name in drawn}))

    async def workbench(self, request: web.Request) -> web.StreamResponse:
        return _page("workbench")

    async def scene(self, request: web.Request) -> web.Response:
        """The board in the middle of a match, drawn as in matches."""
        drawing = self._scene(request.match_info["name"], _PICTURE_SECONDS)
        return web.json_response(await asyncio.shield(drawing))

    def _scene(self, name: str, seconds: float) -> asyncio.Task[Any]:
        """The picture of a game, which is drawn once unless that fails."""

        async def draw() -> Any:
            text, moves = await asyncio.to_thread(read_rules, name), featured_scenes().get(name)
            return await self.open_matches.ask_sheets("scene", text, seconds, moves=moves)

        known = self._scenes.get(name)
        if known is None or (known.done() and not _has_succeeded(known)):
            self._scenes[name] = known = asyncio.create_task(draw())
        return known

    async def draw_featured(self) -> None:
        """Draw the pictures of the front page before a browser asks for it: the imports take seconds."""
        drawings = [self._scene(name, self.limits.answer_seconds) for name in featured_scenes()]
        await asyncio.gather(*drawings, return_exceptions=True)

    async def prepare(self, request: web.Request) -> web.Response:
        """Load a bundled game in the process that waits: its match will probably be opened."""
        name = request.match_info["name"]
        self.open_matches.prepare(await asyncio.to_thread(read_rules, name), name)
        return web.json_response(None)

    async def players(self, request: web.Request) -> web.Response:
        """The kinds of players that may take a seat, with their options."""
        return web.json_response(await asyncio.to_thread(described_agents))

    async def matches(self, request: web.Request) -> web.Response:
        """The matches that are not over, the newest first: those that run, then those that wait."""
        found = {
            each.name: _summary(each)
            for each in reversed(self.open_matches.matches.values())
            if each.opened and each.about and not each.state.get("is_over")
        }
        kept = await asyncio.to_thread(self._kept.going_on, _LISTED)
        found |= {name: summary for name, summary in kept.items() if name not in self.open_matches.matches}
        return web.json_response([{**summary, "id": name} for name, summary in found.items()][:_LISTED])

    async def open_match(self, request: web.Request) -> web.Response:
        data = await _json(request)
        if "record" in data:
            return await self._open("replay", {"text": _field(data, "record", str)})
        if "game" in data:
            name = _field(data, "game", str)
            text = await asyncio.to_thread(read_rules, name)
        else:
            text = _field(data, "rules", str)
            name = (read_comment(text).title or "your game")[:80]
        return await self._open("open", _opening(data, text, name))

    async def open_again(self, request: web.Request) -> web.Response:
        """Play the same again; `is_swapped`: everyone on the next seat."""
        await self._revive(request)
        match = self._find(request)
        opened, about = match.opened, match.about
        if not opened:
            raise web.HTTPBadRequest(text="a record cannot be played again")
        sitting = zip(about["roles"], about["seats"], strict=True)
        seats = [seat for role, seat in sitting if role != str(RANDOM_ROLE)]
        if _field(await _json(request), "is_swapped", bool, False):
            seats = [*seats[-1:], *seats[:-1]]
        return await self._open("open", {**opened, "seats": seats, "seed": _new_seed()})

    async def _open(self, do: str, arguments: Mapping[str, Any]) -> web.Response:
        match = await self.open_matches.open(do, arguments)
        if do == "replay":
            text = json.dumps({"record": arguments["text"]})
            await asyncio.to_thread(self._kept.keep, match.name, text)
        return web.json_response({"id": match.name})

    def _keep_soon(self, match: OpenMatch) -> None:
        task = asyncio.create_task(self._keep(match))
        self._keeping.add(task)
        task.add_done_callback(self._keeping.discard)

    async def _keep(self, match: OpenMatch) -> None:
        """Write what is needed to resume a match that is played here; players elsewhere cannot resume one."""
        async with self._writing:  # so that the newest state is written last
            is_open = not match.state.get("is_over")
            if match.opened and not (is_open and match.about.get("has_remote_players")):
                summary = {"summary": _summary(match)} if is_open and match.about else {}
                text = json.dumps({**match.opened, **summary, "progress": match.progress})
                await asyncio.to_thread(self._kept.keep, match.name, text)

    async def _revive(self, request: web.Request) -> None:
        """Open a match that was kept, and whose process has ended, at its old address."""
        name = request.match_info["id"]
        if self._is_running(name):
            return
        async with self._reviving:
            text = await asyncio.to_thread(self._kept.text, name)
            if text is None or self._is_running(name):
                return
            if (ended := self.open_matches.find(name)) is not None:
                await self.open_matches.close_match(ended)
            try:
                do, arguments = _revival(text)
                await self.open_matches.open(do, arguments, name)
            except (ChildStartError, ChildGoneError):
                raise
            except (ChildError, web.HTTPBadRequest, ValueError, RecursionError) as error:
                why = error.text if isinstance(error, web.HTTPBadRequest) else error
                log.warning("the kept match %s is damaged and left out: %s", name, str(why).splitlines()[0])

    def _is_running(self, name: str) -> bool:
        """Whether a match is open, or being opened."""
        match = self.open_matches.find(name)
        return match is not None and (match.child is None or not match.child.is_gone)

    async def match_page(self, request: web.Request) -> web.StreamResponse:
        await self._revive(request)
        match = self._find(request)
        state, digest = match.whole_state()
        about = match.about
        if not state:
            return _page("match")
        persons = {role for role, seat in zip(about["roles"], about["seats"], strict=True) if seat == PERSON}
        board = "" if persons & {*about["turned"]} else match.state.get("board") or ""
        return _page(
            "match", f'{{"about": {json.dumps(about)}, "state": {state}, "digest": "{digest}"}}', board
        )

    async def explanation(self, request: web.Request) -> web.Response:
        """A search from a position of a match as a page of its own: `by`, `step`, and `line` as JSON.

        It computes, so pages of other sites may not link to it.
        """
        if request.headers.get("Sec-Fetch-Site", "none") not in ("same-origin", "none"):
            raise web.HTTPForbidden(text="requests from other pages are refused")
        await self._revive(request)
        match, query = self._find(request), request.query
        try:
            place = {"step": int(query.get("step", "")), "line": json.loads(query.get("line", "[]"))}
        except (ValueError, RecursionError):
            raise web.HTTPBadRequest(text="step and line are missing or damaged") from None
        if not isinstance(place["line"], list):
            raise web.HTTPBadRequest(text="line is a list of moves")
        found = await match.ask("position", place, self.limits.answer_seconds)
        return await self._explained(by=query.get("by", ""), **found)

    async def explained_sheet(self, request: web.Request) -> web.Response:
        """The same from the initial state of a sheet: the fields `rules` and `by` of a form."""
        try:
            form = dict(parse_qsl((await request.read()).decode(), max_num_fields=4))
        except ValueError:
            raise web.HTTPBadRequest(text="not a form in UTF-8") from None
        rules, by = (_field(form, name, str) for name in ("rules", "by"))
        return await self._explained(rules, name="sheet", facts=None, by=by)

    async def _explained(self, rules: str, **given: Any) -> web.Response:
        page = await self.open_matches.ask_sheets("explain", rules, _EXPLANATION_SECONDS, **given)
        policy = {"Content-Security-Policy": page["policy"]}
        return web.Response(text=page["page"], content_type="text/html", headers=policy)

    async def match(self, request: web.Request) -> web.Response:
        await self._revive(request)
        return web.json_response(self._find(request).about)

    async def close_match(self, request: web.Request) -> web.Response:
        match = self._find(request)
        if match.opened and not match.state.get("is_over"):
            async with self._writing:
                match.opened = {}  # not kept again
                await asyncio.to_thread(self._kept.forget, match.name)
        await self.open_matches.close_match(match)
        return web.json_response(None)

    async def ask_match(self, request: web.Request) -> web.Response:
        match, do = self._find(request), request.match_info["do"]
        if do not in _MATCH_REQUESTS:
            raise web.HTTPNotFound(text=f"unknown request {do!r}")
        data = await _json(request)
        arguments = {name: _field(data, name, kind) for name, kind in _MATCH_REQUESTS[do].items()}
        return web.json_response(await match.ask(do, arguments, self.limits.answer_seconds))

    async def ask_sheet(self, request: web.Request) -> web.Response:
        do = request.match_info["do"]
        if do not in _SHEET_REQUESTS:
            raise web.HTTPNotFound(text=f"unknown request {do!r}")
        seconds = _SHEET_REQUESTS[do] or self.limits.answer_seconds
        rules = _field(await _json(request), "rules", str)
        return web.json_response(await self.open_matches.ask_sheets(do, rules, seconds))

    async def events(self, request: web.Request) -> web.StreamResponse:
        """Send the events of a match until the page is gone; `known`: the digest of the state that it has."""
        match = self._find(request)
        response = web.StreamResponse(headers={**HEADERS, "Content-Type": "text/event-stream"})
        follower = match.follow(request.query.get("known", ""))
        try:
            await response.prepare(request)
            while True:
                line = b": still here\n\n"
                with contextlib.suppress(TimeoutError):
                    event = await asyncio.wait_for(follower.get(), _KEEP_ALIVE_SECONDS)
                    if event is None:
                        break
                    line = f"data: {event}\n\n".encode()
                async with asyncio.timeout(_WRITE_SECONDS):
                    await response.write(line)
        except TimeoutError:
            assert request.transport is not None
            request.transport.abort()
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            match.followers.discard(follower)
        return response

    def _require_cookie(self, request: web.Request) -> None:
        if self.access.is_cookie(request.cookies.get(self._cookie, "")):
            return
        address = "open the address with the token that the server printed at the start"
        is_page = not request.path.startswith("/api/")
        text = f"{address}; then this one works" if is_page else f"reload this page, or {address}"
        raise web.HTTPForbidden(text=text)

    def _find(self, request: web.Request) -> OpenMatch:
        match = self.open_matches.find(request.match_info["id"])
        if match is None or not match.about:  # it is being opened
            raise web.HTTPNotFound(text=_NO_MATCH)
        return match


def _has_succeeded(task: asyncio.Task[Any]) -> bool:
    return task.done() and not task.cancelled() and task.exception() is None


def _summary(match: OpenMatch) -> dict[str, Any]:
    """What the front page says of a match that is not over."""
    about, state = match.about, match.state
    return {
        "short": about.get("short", ""),
        "size": size_of(str(about.get("name")), str(about.get("title"))),
        "seats": dict(zip(about.get("roles", ()), about.get("seats", ()), strict=True)),
        "step": state.get("step", 0),
        "person": state.get("person"),
    }


def read_rules(name: str) -> str:
    """The sheet of a game known by name; never another file. Raises HTTPNotFound."""
    path = sheets().get(name)
    if path is None:
        raise web.HTTPNotFound(text="unknown game")
    return decode(path.read_bytes())


async def static_file(request: web.Request) -> web.StreamResponse:
    """A file of `static`; no request reaches another one. Browsers keep a file with its version forever."""
    path = {each.name: each for each in STATIC.iterdir()}.get(request.match_info["name"])
    version = request.match_info.get("version")
    if path is None or version not in (None, static_version()):
        raise web.HTTPNotFound
    # Not with sendfile(), which logs an error if the connection is closed meanwhile.
    kind = _TYPES.guess_type(path.name)[0]
    answer = web.Response(body=path.read_bytes(), content_type=kind, charset="utf-8")
    if version is not None:
        answer.headers["Cache-Control"] = "private, max-age=31536000, immutable"
    return answer


def static_version() -> str:
    """A name of all present files of `static`: no page mixes scripts from before and after an update."""
    with os.scandir(STATIC) as entries:
        found = [(entry.path, entry.stat().st_mtime_ns, entry.stat().st_size) for entry in entries]
    return _version_of(tuple(sorted(found)))


@lru_cache(maxsize=4)
def _version_of(files: tuple[tuple[str, int, int], ...]) -> str:
    """A digest of the files at these paths, with their times and sizes."""
    digest = hashlib.blake2b(digest_size=8)
    for path, *_ in files:
        digest.update(Path(path).read_bytes())
    return digest.hexdigest()


def _page(name: str, opening: str = "", board: str = "") -> web.Response:
    """A page of `static`.

    opening   JSON for its script, which needs not ask for it then
    board     SVG that is seen before the script has come
    """
    # In a script "</script" ends the data early, and "<!--<script" keeps it open beyond its end.
    data = opening.replace("<", "\\u003c")
    script = f'<script type="application/json" id="opening">{data}</script>' if opening else ""
    text = _markup(name).replace(_BOARD, f"{_BOARD}{board}").replace(_OPENING, script)
    return web.Response(text=text, content_type="text/html")


def _markup(name: str) -> str:
    """The HTML of a page, with the version in the addresses of scripts and styles."""
    text = (STATIC / f"{name}.html").read_text(encoding="utf-8")
    for mark, part in _PARTS.items():
        if mark in text:
            text = text.replace(mark, (STATIC / part).read_text(encoding="utf-8"))
    return text.replace('"/static/', f'"/static/{static_version()}/')


async def _receive(request: web.Request) -> None:
    """Read the body of a request, which caches it. Raises HTTPException, TimeoutError."""
    if request.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise web.HTTPUnsupportedMediaType(text="send the request uncompressed")
    async with asyncio.timeout(_BODY_SECONDS):
        try:
            await request.read()
        # RuntimeError: the connection was closed meanwhile
        except (web.RequestPayloadError, ConnectionError, RuntimeError):
            raise web.HTTPBadRequest(text="the body of the request is damaged") from None


async def _json(request: web.Request) -> dict[str, Any]:
    """The JSON object of a request. Raises HTTPBadRequest.

    The charset of the client is ignored: some of Python's codecs are slow, and some are not for text.
    """
    try:
        data = json.loads((await request.read()).decode(), parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise web.HTTPBadRequest(text="not JSON in UTF-8") from None
    if not isinstance(data, dict):
        raise web.HTTPBadRequest(text="expected a JSON object")
    try:
        json.dumps(data, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise web.HTTPBadRequest(text="a text contains half a character (a lone surrogate)") from None
    return data


def _field(data: dict[str, Any], name: str, kind: type, default: Any = None) -> Any:
    """A field of a request, of the right type. Raises HTTPBadRequest."""
    value = data.get(name, default)
    kinds = (int, float) if kind is float else kind
    if not isinstance(value, kinds) or (isinstance(value, bool) and kind is not bool):
        raise web.HTTPBadRequest(text=f"{name!r} is missing or of another type")
    if isinstance(value, float) and not math.isfinite(value):
        raise web.HTTPBadRequest(text=f"{name!r} is not a finite number")
    return value


def _opening(data: dict[str, Any], rules: str, name: str) -> dict[str, Any]:
    """The arguments that open a match which is played here. Raises HTTPBadRequest."""
    seats = _field(data, "seats", list, [])
    if not all(isinstance(seat, str) and len(seat) <= 200 for seat in seats):
        raise web.HTTPBadRequest(text="seats are texts")
    seconds, seed = _field(data, "seconds", float, 1.0), _field(data, "seed", int, _new_seed())
    return {"rules": rules, "name": name, "seats": seats, "seconds": seconds, "seed": seed}


def _revival(text: str) -> tuple[str, dict[str, Any]]:
    """The request that opens a match from its file. Raises HTTPBadRequest, ValueError, RecursionError.

    Chance gets a new seed: it would repeat the match from its start.
    """
    content = json.loads(text, parse_constant=_refuse_constant)
    if not isinstance(content, dict):
        raise ValueError("not a JSON object")
    if "record" in content:
        return "replay", {"text": _field(content, "record", str)}
    rules, name = _field(content, "rules", str), _field(content, "name", str)
    opening = _opening({**content, "seed": _new_seed()}, rules, name)
    return "open", {**opening, "progress": _field(content, "progress", dict)}


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _new_seed() -> int:
    return time.time_ns() % 2**31


class _Protocol(web.RequestHandler):
    """One connection; malformed HTTP gets our error page and is not logged, to keep the log small."""

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """The answer to malformed HTTP, or to an error outside of every handler."""
        if status >= 500:
            log.error("request failed", exc_info=exc)
        if request.writer.output_size > 0:
            raise ConnectionError("half an answer is sent")
        response = _error(request, status, "not an HTTP request" if status < 500 else "internal error")
        response.force_close()
        return response


def _error(request: web.BaseRequest, status: int, text: str) -> web.Response:
    """The answer to a request that failed: a page for a browser that asked for one, JSON for all others."""
    if request.path.startswith("/api/") or "text/html" not in request.headers.get("Accept", ""):
        return web.json_response({"error": text}, status=status)
    sentence = html.escape(f"{text[:1].upper()}{text[1:]}.")
    filled = Template(_markup("error")).substitute(text=sentence)
    return web.Response(text=filled, status=status, content_type="text/html")


async def run_app(
    app: web.Application,
    access: Access,
    on_ready: Callable[[], None],
    prepare: Callable[[], Awaitable[None]] | None = None,
) -> None:
    """Serve `app` until cancelled; `prepare` runs at the same time. Raises OSError if the port is taken."""
    runner = web.AppRunner(app, shutdown_timeout=1.0)
    connections = app[CONNECTIONS] = Connections()
    await runner.setup()
    try:
        with contextlib.ExitStack() as opened:
            sockets = [opened.enter_context(each) for each in listeners(access.host, access.port)]
            gc.freeze()  # imports stay alive: collecting them would take longer than a click may
            on_ready()
            assert runner.server is not None
            # Bodies are not decompressed: a small one could be a bomb.
            loop = asyncio.get_running_loop()
            protocol = partial(_Protocol, runner.server, loop=loop, auto_decompress=False)
            tasks = [connections.accept(each, protocol) for each in sockets]
            preparing = [] if prepare is None else [prepare()]
            await asyncio.gather(connections.end_silent(), *tasks, *preparing)
    finally:
        await runner.cleanup()
