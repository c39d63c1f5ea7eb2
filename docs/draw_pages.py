"""Draw the pictures of the pages (extra `e2e`, Chromium).

    python docs/draw_pages.py [FOLDER [WIDTH]]

Every view in both themes, into docs/pictures and as wide as a small laptop if nothing else is given. The
browser is `chromium` of the system, or the one that GGP_CHROMIUM names.
"""

from __future__ import annotations

import atexit
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Literal

from PIL import Image
from playwright.sync_api import Browser, Page, expect, sync_playwright

from ggp.tournament.store import Store

PICTURES = Path(__file__).resolve().parent / "pictures"
PORT = 8791
TOKEN = "pictures-of-the-pages"
ADDRESS = f"http://127.0.0.1:{PORT}"
WAIT_MS = 120_000
WIDTH, HEIGHT = 1280, 800
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
COLORS = 128


def show_games(page: Page) -> None:
    """The front page."""
    page.goto(ADDRESS)
    expect(page.locator("#featured svg.board")).to_have_count(8, timeout=WAIT_MS)
    expect(page.locator("#hero-board svg")).to_be_visible(timeout=WAIT_MS)


def open_match(page: Page, game: str, seats: Sequence[str]) -> None:
    """A match of `game` between `seats`."""
    page.goto(ADDRESS)
    page.click(f'[data-game="{game}"]')
    for index, seat in enumerate(seats):
        page.locator("#seats select").nth(index).select_option(seat)
    page.click("#start")
    page.wait_for_url("**/match/*")


def show_play(page: Page) -> None:
    """A person at Othello who has the search look at the position."""
    open_match(page, "othello_6x6", ("person", "mcts"))
    for _ in range(3):
        expect(page.locator("#status")).to_contain_text("it is your move", timeout=WAIT_MS)
        page.locator("#state .next").first.click()
        expect(page.locator("#state .next")).to_have_count(0)
    expect(page.locator("#status")).to_contain_text("it is your move", timeout=WAIT_MS)
    page.click("#think")
    expect(page.locator("#effort")).to_contain_text("games simulated", timeout=WAIT_MS)
    expect(page.locator("#thought-title")).to_have_text("Analysis", timeout=WAIT_MS)


def show_watch(page: Page) -> None:
    """Two searches in the middle of a match of connect four."""
    open_match(page, "connectfour", ("mcts", "mcts"))
    expect(page.locator("#step-text")).to_have_text("12 of 12", timeout=WAIT_MS)


def show_tournament(page: Page) -> None:
    """The tables of a tournament."""
    page.goto((tournament() / "pages" / "index.html").as_uri())


def show_replay(page: Page) -> None:
    """A match of that tournament, in its middle."""
    with Store(tournament() / "tournament.sqlite") as store:
        run = store.run()
        ids = [match.id for match in store.matches(run) if match.game == "connectfour_4x5"]
        record = store.record(run, next(each for each in ids if "random" not in each)).to_json()
    page.goto(ADDRESS)
    ask = "body => fetch('/api/matches', { method: 'POST', body }).then((response) => response.json())"
    opened = page.evaluate(ask, json.dumps({"record": record}))
    page.goto(f"{ADDRESS}/match/{opened['id']}")
    expect(page.locator("#chart-box")).to_be_visible(timeout=WAIT_MS)
    page.locator("#log li button").nth(8).click()
    expect(page.locator("#status")).to_contain_text("Position after step 9", timeout=WAIT_MS)
    page.click("#think")
    expect(page.locator("#thought-title")).to_contain_text("step 9", timeout=WAIT_MS)


def show_workbench(page: Page) -> None:
    """A small game, and who wins it."""
    page.goto(ADDRESS)
    page.click("#write")
    expect(page.locator("#sentence")).to_have_text("White wins for certain", timeout=WAIT_MS)


VIEWS = (show_games, show_play, show_watch, show_replay, show_tournament, show_workbench)


def draw_all(browser: Browser, folder: Path, width: int) -> None:
    """Every view, in the light and in the dark."""
    context = browser.new_context(viewport={"width": width, "height": HEIGHT})
    page = context.new_page()
    page.goto(f"{ADDRESS}/?token={TOKEN}")
    for show in VIEWS:
        show(page)
        for scheme in SCHEMES:
            page.emulate_media(color_scheme=scheme)
            name = show.__name__.removeprefix("show_")
            write_small(page.screenshot(), folder / f"browser_{name}_{scheme}.png")
    context.close()


def write_small(png: bytes, path: Path) -> None:
    """Write a picture with a palette, which needs a third of the space."""
    with Image.open(io.BytesIO(png)) as image:
        image.convert("RGB").quantize(COLORS, dither=Image.Dither.NONE).save(path, optimize=True)


@cache
def tournament() -> Path:
    """The folder of a small tournament to show, with its pages."""
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder)
    tool, store = [sys.executable, "-m", "ggp", "tournament"], str(folder / "tournament.sqlite")
    command = [*tool, "run", "--store", store, "--run", "openings"]
    command += ["--game", "breakthrough_4x4", "connectfour_4x5", "--repetitions", "2", "--set", "seed=1"]
    agents = ("mcts:simulations=500", "mcts:simulations=50", "random")
    subprocess.run([*command, "--agents", *agents], check=True, stdout=subprocess.DEVNULL)
    write = [*tool, "show", store, "--html", str(folder / "pages")]
    subprocess.run(write, check=True, stdout=subprocess.DEVNULL)
    return folder


def main(folder: Path, width: int) -> None:
    """Start a server, draw, and stop it."""
    chromium = os.environ.get("GGP_CHROMIUM") or shutil.which("chromium")
    if chromium is None:
        sys.exit("no chromium found: install it or set GGP_CHROMIUM")
    environment = {**os.environ, "GGP_TOKEN": TOKEN, "PYTHONUNBUFFERED": "1"}
    command = [sys.executable, "-m", "ggp", "serve", "--no-open", "--port", str(PORT)]
    with (
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) as server,
        sync_playwright() as playwright,
    ):
        try:
            assert server.stdout is not None
            server.stdout.readline()
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            draw_all(browser, folder, width)
        finally:
            server.terminate()


if __name__ == "__main__":
    given = sys.argv[1:]
    main(Path(given[0]) if given else PICTURES, int(given[1]) if given[1:] else WIDTH)
