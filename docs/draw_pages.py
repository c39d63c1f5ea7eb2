"""Draw the pictures of the pages in docs/pictures: `python docs/draw_pages.py` (extra `e2e`, Chromium).

The browser is `chromium` of the system, or the one that GGP_CHROMIUM names.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import Browser, Page, expect, sync_playwright

PICTURES = Path(__file__).resolve().parent / "pictures"
PORT = 8791
TOKEN = "pictures-of-the-pages"
ADDRESS = f"http://127.0.0.1:{PORT}"
WAIT_MS = 120_000


def draw_match(page: Page, path: Path) -> None:
    """Two searches in the middle of a match of connect four."""
    page.click('[data-game="connectfour"]')
    for index in (0, 1):
        page.locator("#seats select").nth(index).select_option("mcts")
    page.click("#start")
    expect(page.locator("#step-text")).to_have_text("12 of 12", timeout=WAIT_MS)
    page.screenshot(path=path)


def draw_workbench(page: Page, path: Path) -> None:
    """A sheet with a typing error."""
    page.goto(f"{ADDRESS}/workbench")
    expect(page.locator("#findings")).to_contain_text("No findings", timeout=WAIT_MS)
    rules = page.locator("#rules")
    rules.fill(rules.input_value().replace("(true (heap ?n)) (minus", "(true (heap ?n) (minus", 1))
    expect(page.locator("#findings .error").first).to_be_visible(timeout=WAIT_MS)
    page.screenshot(path=path)


def draw_all(browser: Browser) -> None:
    """Both pages, in the light and in the dark."""
    for name, draw in (("match", draw_match), ("workbench", draw_workbench)):
        for scheme in ("light", "dark"):
            context = browser.new_context(
                color_scheme="dark" if scheme == "dark" else "light",
                viewport={"width": 1180, "height": 860},
            )
            page = context.new_page()
            page.goto(f"{ADDRESS}/?token={TOKEN}")
            draw(page, PICTURES / f"browser_{name}_{scheme}.png")
            context.close()


def main() -> None:
    """Start a server, draw, and stop it."""
    chromium = os.environ.get("GGP_CHROMIUM") or shutil.which("chromium")
    if chromium is None:
        sys.exit("no chromium found: install it or set GGP_CHROMIUM")
    command = [sys.executable, "-m", "ggp", "serve", "--no-open", "--port", str(PORT)]
    environment = {**os.environ, "GGP_TOKEN": TOKEN, "PYTHONUNBUFFERED": "1"}
    with (
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) as server,
        sync_playwright() as playwright,
    ):
        try:
            assert server.stdout is not None
            server.stdout.readline()
            draw_all(playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"]))
        finally:
            server.terminate()


if __name__ == "__main__":
    main()
