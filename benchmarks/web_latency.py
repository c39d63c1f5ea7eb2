"""How fast the pages answer, how soon a click is on the board, and what updates cost.

    python -m benchmarks.web_latency [--browser] [--reviews]

--browser: first boards alone, in headless Chromium (extra `e2e`), from the click on Start to the drawn board.
--reviews: reviews of matches of 41 moves alone, from the click to the last result.

Starts the web server in this process and asks it as a browser does; matches run in processes of their own.
Prints rows of a Markdown table: median, 95th percentile and worst of milliseconds, and the share of a core.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import shutil
import statistics
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from aiohttp import ClientResponse, ClientSession, CookieJar
from aiohttp.web import AppRunner, TCPSite

from ggp.web.access import Access
from ggp.web.changes import merged
from ggp.web.open_matches import ServerLimits
from ggp.web.server import WebServer

PORT = 8797
ASKED = 40
PATHS = ("/", "/workbench", "/api/games", "/api/games/othello/rules")
CLICKED = ("tictactoe", "hex_7x7", "othello", "breakthrough", "amazons")
SEARCHED = ("connectfour", "hex_7x7")
REVIEWS, REVIEWED = ("othello", "checkers", "breakthrough"), 41
CLICKS = 20
_SEARCHED_SECONDS = 0.7
_WAITING_SECONDS = 1.5
"""Until the process for the next match is ready."""
SEARCH_SECONDS = 20.0
FIRST_BOARDS = 7
_START = """sessionStorage.setItem("start", Date.now()), document.getElementById("start").click()"""
_WATCH = """new MutationObserver((_, watch) => {
    if (!document.querySelector("#state svg.board")) return;
    watch.disconnect();
    requestAnimationFrame(() => { window.drawn = Date.now(); });
}).observe(document, { subtree: true, childList: true })"""
_ELAPSED = """new Promise((done) => {
    const start = sessionStorage.getItem("start");
    const look = () => window.drawn ? done(window.drawn - start) : setTimeout(look, 5);
    look();
})"""
"""Scripts of the page: the click, what notes when the board is drawn, and the milliseconds between."""


class Browser:
    """One session with the server."""

    def __init__(self, session: ClientSession, access: Access) -> None:
        self._session, self._access = session, access
        self._root = f"http://127.0.0.1:{access.port}"

    async def get(self, path: str) -> None:
        """Read a page to its end."""
        async with self._session.get(self._root + path) as response:
            await response.read()
            assert response.status == 200, (path, response.status)

    async def post(self, path: str, body: object) -> Any:
        """The JSON that answers a request of a page."""
        async with self._session.post(
            self._root + path, json=body, headers={"Origin": self._root}
        ) as response:
            assert response.status == 200, (path, await response.text())
            return await response.json()

    def events(self, match: str) -> Any:
        """The stream of a match's events."""
        return self._session.get(f"{self._root}/api/matches/{match}/events")


def row(what: str, seconds: list[float]) -> str:
    """A row of the table."""
    ordered = sorted(1000 * each for each in seconds)
    high = ordered[int(0.95 * (len(ordered) - 1))]
    return f"| {what} | {len(ordered)} | {statistics.median(ordered):.1f} | {high:.1f} | {ordered[-1]:.1f} |"


async def measure_pages(browser: Browser) -> None:
    """Pages and what they ask for; the first request of each, which draws pictures, is not counted."""
    for path in PATHS:
        await browser.get(path)
        seconds = []
        for _ in range(ASKED):
            begin = time.perf_counter()
            await browser.get(path)
            seconds.append(time.perf_counter() - begin)
        print(row(path, seconds), flush=True)


async def measure_clicks(browser: Browser, name: str, is_searching: bool = False) -> None:
    """From the request of a click until its new state has come, with a person in every seat.

    is_searching   an analysis runs at every click; at the first one it gets ready
    """
    await browser.post(f"/api/games/{name}/prepare", {})  # as the dialog does
    await asyncio.sleep(_WAITING_SECONDS)
    seats, begin = ["person", "person"], time.perf_counter()
    opened = await browser.post("/api/matches", {"game": name, "seats": seats, "seconds": 1.0})
    match, seconds = opened["id"], list[float]()
    async with browser.events(match) as stream:
        state = await next_state(stream, {})
        if not is_searching:
            print(row(f"first board of {name}", [time.perf_counter() - begin]), flush=True)
        while len(seconds) < CLICKS and not state["is_over"]:
            if is_searching:
                wanted = {"seconds": 10.0, "step": state["step"], "line": []}
                await browser.post(f"/api/matches/{match}/think", wanted)
                await asyncio.sleep(_SEARCHED_SECONDS)
            move = state["moves"][len(state["moves"]) // 2]
            begin = time.perf_counter()
            body = {"step": state["step"], "role": state["person"], "move": move}
            await browser.post(f"/api/matches/{match}/play", body)
            state = await next_state(stream, state)
            seconds.append(time.perf_counter() - begin)
    await browser.post(f"/api/matches/{match}/close", {})
    print(row(f"click in {name}{', searching' if is_searching else ''}", seconds), flush=True)


async def measure_review(browser: Browser, name: str) -> None:
    """A review of a match of random moves between two persons, of whom one resigns at the end."""
    seats, rng = ["person", "person"], random.Random(1)
    opened = await browser.post("/api/matches", {"game": name, "seats": seats, "seconds": 1.0})
    match = opened["id"]
    async with browser.events(match) as stream:
        state = await next_state(stream, {})
        while state["step"] < REVIEWED and not state["is_over"]:
            body = {"step": state["step"], "role": state["person"], "move": rng.choice(state["moves"])}
            await browser.post(f"/api/matches/{match}/play", body)
            state = await next_state(stream, state)
            while state["person"] is None and not state["is_over"]:
                state = await next_state(stream, state)
        if not state["is_over"]:
            await browser.post(f"/api/matches/{match}/resign", {"role": state["person"]})
            state = await next_state(stream, state)
        begin, cpu, found = time.perf_counter(), processor_seconds(), list[float]()
        await browser.post(f"/api/matches/{match}/review", {})
        async for line in stream.content:
            event = json.loads(line[6:]) if line.startswith(b"data: ") else {}
            if event.get("event") == "review":
                found.append(time.perf_counter() - begin)
            elif event.get("event") == "state" and found:
                break
    cpu = processor_seconds() - cpu
    await browser.post(f"/api/matches/{match}/close", {})
    print(row(f"{name}, {state['step']} moves, {len(found)} choices: first result", found[:1]), flush=True)
    print(row(f"{name}, last result ({cpu:.1f} s of CPU time)", found[-1:]), flush=True)


def processor_seconds() -> float:
    """CPU time of this process and of those below it that are running (Linux)."""
    found: dict[int, tuple[int, float]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            numbers = path.read_text().rpartition(")")[2].split()
            ticks = int(numbers[11]) + int(numbers[12])
            found[int(path.parent.name)] = int(numbers[1]), ticks / os.sysconf("SC_CLK_TCK")
    total, pending = 0.0, [os.getpid()]
    for process in pending:
        total += found[process][1]
        pending += [each for each, (parent, _) in found.items() if parent == process]
    return total


async def next_state(stream: ClientResponse, before: Mapping[str, Any]) -> dict[str, Any]:
    """The state after the next event `state`, which carries what has changed since `before`."""
    async for line in stream.content:
        if line.startswith(b"data: "):
            event = json.loads(line[6:])
            if event["event"] == "state":
                return merged(before, event)
    raise RuntimeError("the stream has ended")


async def measure_updates(browser: Browser) -> None:
    """CPU time of the server while a search sends its reports for `SEARCH_SECONDS`."""
    opened = await browser.post(
        "/api/matches", {"game": "connectfour", "seats": ["person", "person"], "seconds": 1.0}
    )
    match = opened["id"]
    async with browser.events(match) as stream:
        await next_state(stream, {})
        await browser.post(f"/api/matches/{match}/think", {"seconds": SEARCH_SECONDS, "step": 0, "line": []})
        count, begin, cpu = 0, 0.0, 0.0
        async for line in stream.content:
            event = json.loads(line[6:]) if line.startswith(b"data: ") else {}
            if event.get("event") != "think":
                continue
            if not count:  # the kernels are compiled by now
                begin, cpu = time.perf_counter(), time.process_time()
            count += 1
            if event["is_done"]:
                break
        elapsed, used = time.perf_counter() - begin, time.process_time() - cpu
    print(
        f"\n{count} updates in {elapsed:.1f} s ({count / elapsed:.1f} per second) cost the server "
        f"{100 * used / elapsed:.2f} % of a core, this program's reading included"
    )


async def measure_first_boards(access: Access) -> None:
    """From the click on Start in the dialog until the board of a new page is drawn."""
    from playwright.async_api import async_playwright

    async with async_playwright() as playwright:
        chromium = os.environ.get("GGP_CHROMIUM") or shutil.which("chromium")
        browser = await playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = await browser.new_page()
        await page.add_init_script(_WATCH)
        await page.goto(access.address)
        for name in CLICKED:
            seconds = []
            for _ in range(FIRST_BOARDS):
                await page.goto(f"http://127.0.0.1:{access.port}/")
                await page.fill("#words", name)
                await page.click(f'#games [data-game="{name}"]')
                await asyncio.sleep(_WAITING_SECONDS)
                await page.evaluate(_START)
                await page.wait_for_selector("#state svg.board")
                seconds.append(await page.evaluate(_ELAPSED) / 1000)
            print(row(f"first board of {name} in Chromium", seconds), flush=True)
        await browser.close()


async def main() -> None:
    """Run the server and ask it."""
    access = Access("127.0.0.1", PORT)
    server = WebServer(access, ServerLimits())
    runner = AppRunner(server.make_app(), access_log=None)
    await runner.setup()
    await TCPSite(runner, "127.0.0.1", PORT).start()
    try:
        async with ClientSession(cookie_jar=CookieJar(unsafe=True)) as session:
            browser = Browser(session, access)
            await browser.get(f"/?token={access.token}")
            print("| what | times | median ms | 95 % ms | worst ms |\n|---|---:|---:|---:|---:|")
            if "--browser" in sys.argv[1:]:
                await measure_first_boards(access)
                return
            if "--reviews" in sys.argv[1:]:
                for name in REVIEWS:
                    await measure_review(browser, name)
                return
            await measure_pages(browser)
            for name in CLICKED:
                await measure_clicks(browser, name)
            for name in SEARCHED:
                await measure_clicks(browser, name, is_searching=True)
            await measure_updates(browser)
    finally:
        await runner.cleanup()


if __name__ == "__main__":
    asyncio.run(main())
