"""The page from a file in headless Chromium (extra `e2e`): by keyboard, in both schemes, past axe."""

import os
import shutil

import pytest

from ggp.engines.loading import load
from ggp.explain import explain_page

playwright_api = pytest.importorskip("playwright.sync_api", reason="needs the extra e2e")
CHROMIUM = os.environ.get("GGP_CHROMIUM") or shutil.which("chromium")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no chromium found: install it or set GGP_CHROMIUM"),
]
TREE = "[[3,12,8],[2,4,6],[14,5,2]]"


@pytest.fixture(scope="module")
def browser():
    with playwright_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(params=["light", "dark"])
def opened(request, browser, tmp_path):
    """Opens a page from a file; it may ask for nothing else, and its scripts may not fail."""
    page = browser.new_page(color_scheme=request.param)
    errors, asked = [], []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    path = tmp_path / "page.html"

    def open_page(html):
        path.write_text(html)
        page.goto(path.as_uri())
        return page

    yield open_page
    page.close()
    assert not errors
    assert asked == [path.as_uri()]


def test_keys_lead_through_the_steps(opened):
    page = opened(explain_page(TREE))
    now = page.locator("#now")
    expect = playwright_api.expect
    expect(now).to_have_text("Before the search")
    for key, text in [
        ("ArrowRight", "root: max chooses, window [−∞, ∞]"),
        ("PageDown", "c: min chooses, window [3, ∞]"),
        ("ArrowLeft", "b is ≤ 2"),
        ("End", "root is 3"),
        ("Home", "Before the search"),
    ]:
        page.keyboard.press(key)
        expect(now).to_have_text(text)
    page.keyboard.press("End")
    assert page.locator(".node.struck .note").all_text_contents() == ["2 ≤ α = 3"] * 2
    assert page.locator(".node.best").count() == 2
    page.locator("#steps li").nth(2).click()
    expect(now).to_have_text("a.a = 3, so a ≤ 3")
    assert page.locator(".node.struck").count() == 0
    assert page.locator("#n1 .value").text_content() == "≤ 3"


def test_tables_and_positions_follow_the_steps(opened):
    page = opened(explain_page(load("tictactoe", "reasoner"), "mast", simulations=12))
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    playwright_api.expect(page.locator("#tables caption").first).to_have_text("MAST of x")
    page.keyboard.press("ArrowLeft")
    assert "o to move" in page.locator("#position").inner_text()
    page.set_viewport_size({"width": 360, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth") == 360


@pytest.mark.parametrize("by", ["alphabeta", "mcts"])
def test_axe_finds_no_fault(opened, by):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs the extra e2e")
    page = opened(explain_page(TREE, by))
    for key in ("ArrowRight", "PageDown", "End"):
        page.keyboard.press(key)
        faults = axe.Axe().run(page).response["violations"]
        assert [(fault["id"], fault["nodes"][0]["html"]) for fault in faults] == []
