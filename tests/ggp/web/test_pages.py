"""The pages as a person uses them: by clicks, in headless Chromium (extra `e2e`).

`GGP_CHROMIUM` names the browser; without it, `chromium` of the system is used.
"""

import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

import pytest
from aiohttp.test_utils import unused_port

from ggp.tournament.store import Store
from ggp.web.access import Access
from ggp.web.published import write_pages
from ggp.web.server import STATIC

playwright_api = pytest.importorskip("playwright.sync_api", reason="needs the extra e2e")
CHROMIUM = os.environ.get("GGP_CHROMIUM") or shutil.which("chromium")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no chromium found: install it or set GGP_CHROMIUM"),
]
TOKEN = "token-of-this-test"
WAIT_MS = 120_000
playwright_api.expect.set_options(timeout=60_000)  # a busy machine is no fault of the page


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """A tournament of two matches."""
    path = tmp_path_factory.mktemp("tournament") / "results.sqlite"
    options = (
        "--game tictactoe --run trial --agents legal random --repetitions 1 --set engine=reasoner --workers 1"
    )
    command = [sys.executable, "-m", "ggp", "tournament", "run", *options.split(), "--store", str(path)]
    subprocess.run(command, check=True, capture_output=True)
    return path


@contextlib.contextmanager
def serving(port, *options, data=None):
    """A server, until the end of the block. data: a folder of the user's that outlives it"""
    command = [sys.executable, "-m", "ggp", "serve", "--no-open", "--port", str(port), *options]
    own = tempfile.mkdtemp()
    environment = {
        **os.environ,
        "GGP_TOKEN": TOKEN,
        "PYTHONUNBUFFERED": "1",
        "XDG_DATA_HOME": str(data or own),
    }
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("open http")
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(10)
        shutil.rmtree(own, ignore_errors=True)


@pytest.fixture(scope="module")
def address():
    with serving(unused_port()) as address:
        yield address


@pytest.fixture(scope="module")
def browser():
    with playwright_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def page(browser, address):
    """A page that is logged in; errors of its scripts fail the test."""
    context = browser.new_context()
    context.set_default_timeout(WAIT_MS)
    page = context.new_page()
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(f"{address}/?token={TOKEN}")
    yield page
    context.close()
    assert not errors


def expect(locator):
    return playwright_api.expect(locator)


def open_game(page, address, name, seats):
    page.goto(f"{address}/")
    page.fill("#words", name)
    page.click(f'#games [data-game="{name}"]')
    for index, seat in enumerate(seats):
        kind, _, options = (seat, "", "") if "level=" in seat else seat.partition(":")
        page.locator("#seats select").nth(index).select_option(kind)
        if options:
            page.locator("#seats input").nth(index).fill(options)
    page.click("#start")
    page.wait_for_url("**/match/*")


def step_of(page):
    return page.locator("#step-text")


def click_cells(page, *cells):
    """Make moves of one click, the first ones of a match."""
    for number, cell in enumerate(cells, start=1):
        page.click(f'[data-cell="{cell}"]')
        expect(step_of(page)).to_have_text(f"{number} of {number}", timeout=WAIT_MS)


def play_to_end(page, move, most=22):
    """Make a move by `move` as long as it is ours; `most`: of them."""
    status = page.locator("#status")
    for _ in range(most):
        expect(status).to_have_text(re.compile("your move|wins?|lose|Draw"), timeout=WAIT_MS)
        if "your move" not in status.inner_text():
            break
        before = step_of(page).inner_text()
        move()
        expect(step_of(page)).not_to_have_text(before)
    expect(status).to_have_text(re.compile("wins?|lose|Draw"), timeout=WAIT_MS)


def test_tictactoe_is_won_by_clicks_with_undo_and_replay(page, address):
    open_game(page, address, "tictactoe", ["person", "person"])
    status = page.locator("#status")
    click_cells(page, "0,0", "1,0", "0,1", "1,1")
    page.click("#undo")
    expect(step_of(page)).to_have_text("3 of 3")
    expect(status).to_have_text("O, it is your move")
    page.click('[data-cell="2,2"]')
    expect(step_of(page)).to_have_text("4 of 4")
    page.click('[data-cell="0,2"]')
    expect(status).to_have_text("X wins")
    page.click("#first")
    expect(page.locator("#state .piece")).to_have_count(0)
    page.click("#forward")
    expect(page.locator("#state .piece")).to_have_count(1)


def test_connect_four_is_played_against_an_agent_to_the_end(page, address):
    open_game(page, address, "connectfour", ["person", "random"])
    play_to_end(page, page.locator("#state .can").first.click)


def test_breakthrough_is_played_from_source_to_target_and_its_record_replayed(page, address, tmp_path):
    open_game(page, address, "breakthrough_4x4", ["person", "random"])
    status = page.locator("#status")

    def move():
        page.locator("#state .next").first.click()
        expect(page.locator("#state .chosen")).to_have_count(1)
        page.locator("#state .next").first.click()

    play_to_end(page, move)
    steps = step_of(page).inner_text()
    page.click("#files summary")
    with page.expect_download() as download:
        page.click("#save")
    path = tmp_path / "match.json"
    download.value.save_as(path)
    page.goto(f"{address}/")
    page.set_input_files("#record", path)
    page.wait_for_url("**/match/*")
    expect(status).to_have_text(re.compile("wins"))
    expect(step_of(page)).to_have_text(steps)
    page.click("#back")
    expect(status).to_have_text(re.compile("^Position after step"))


def test_both_choices_of_a_simultaneous_game_are_shown_together(page, address):
    open_game(page, address, "rockpaperscissors", ["person", "person"])
    log = page.locator("#log li")
    page.get_by_role("button", name="show rock", exact=True).click()
    expect(page.locator("#status")).to_contain_text("it is your move")
    expect(log).to_have_count(0)
    page.get_by_role("button", name="show paper", exact=True).click()
    expect(log).to_have_count(1)
    expect(log.locator("button")).to_have_text(["show rock", "show paper"])


def test_second_of_two_fast_clicks_is_ignored(page, address):
    open_game(page, address, "tictactoe", ["person", "person"])
    expect(page.locator("#moves button").first).to_be_visible()
    page.evaluate("[...document.querySelectorAll('#moves button')].slice(0, 3).forEach(each => each.click())")
    expect(step_of(page)).to_have_text("1 of 1")
    expect(page.locator("#status")).to_have_text("O, it is your move")
    expect(page.locator("#problem")).to_have_text("")
    expect(page.locator("#variants")).to_be_hidden()
    page.click('[data-cell="1,1"]')
    expect(step_of(page)).to_have_text("2 of 2")
    sent = []
    page.route("**/play", lambda route: (sent.append(route.request.url), route.fulfill(json=None)))
    for cell in ("1,2", "2,2"):  # the second before the board shows the first
        page.click(f'[data-cell="{cell}"]')
        page.wait_for_timeout(150)
    assert len(sent) == 1


@pytest.mark.parametrize("width", [1280, 360])
def test_long_and_odd_names_are_shown_as_text_and_fit(page, address, width):
    page.set_viewport_size({"width": width, "height": 740})
    rules = (STATIC / "small.kif").read_text(encoding="utf-8").split("\n", 1)[1]
    for title, white, black in (
        ("<script>alert(1)</script>", "<img/src=x/onerror=alert>", "b" * 200),
        ("L" * 300, "🐧", "לבן"),
    ):
        sheet = f"; {title}\n{rules.replace('white', white).replace('black', black)}"
        body = {"rules": sheet, "seats": ["person", "person"]}
        opened = page.request.post(f"{address}/api/matches", data=body, headers={"Origin": address})
        page.goto(f"{address}/match/{opened.json()['id']}")
        expect(page.locator("#status")).to_have_text(f"{white}, it is your move")
        click_cells(page, "0,0", "1,1", "0,1", "2,2", "0,2")
        expect(page.locator("#status")).to_contain_text("wins")
        assert page.evaluate("document.documentElement.scrollWidth") == width
        assert page.locator("script:not([src]):not(#opening), #title *, #status *, #log img").count() == 0


def test_hanoi_is_solved_by_clicks(page, address):
    def moves(discs, start, target, spare):
        if not discs:
            return []
        first, last = moves(discs - 1, start, spare, target), moves(discs - 1, spare, target, start)
        return [*first, f"carry {discs} {target}", *last]

    open_game(page, address, "hanoi", ["person"])
    for number, move in enumerate(moves(5, "a", "c", "b")):
        expect(step_of(page)).to_have_text(f"{number} of {number}")
        page.get_by_role("button", name=move, exact=True).first.click()
    expect(page.locator("#status")).to_have_text("Player scores 100 of 100")


def test_analysis_shows_values_and_the_hint_marks_a_move(page, address):
    open_game(page, address, "tictactoe", ["person", "person"])
    places = [page.locator(each) for each in ("#state", "#thought", "#log-box")]
    expect(page.locator("#moves button").first).to_be_visible()
    before = [each.bounding_box() for each in places]
    page.click("#hint")
    expect(page.locator("#moves .best")).to_have_count(1, timeout=WAIT_MS)
    assert [each.bounding_box() for each in places] == before  # nothing jumps while a search reports
    expect(page.locator("#bar-text")).to_have_text(re.compile(r"X's chances \d+ %|X draws for certain"))
    expect(page.locator("#effort")).to_have_text(re.compile("games simulated|Proven"))
    _, tries, value = page.locator("#candidates tr").first.locator("td").all_inner_texts()
    assert re.fullmatch(r"\d+ %", value) if tries else value in ("wins", "draws", "loses")


def test_position_of_the_past_is_analyzed_and_has_an_address(page, address):
    open_game(page, address, "tictactoe", ["person", "person"])
    click_cells(page, "0,0", "1,0", "0,1", "1,1", "0,2")
    page.locator("#log button").nth(2).click()
    page.click("#think")
    expect(page.locator("#thought-title")).to_have_text("Analysis, step 3", timeout=WAIT_MS)
    expect(page.locator("#candidates .proven").first).to_be_visible(timeout=WAIT_MS)
    page.keyboard.press("ArrowLeft")  # the analysis goes along
    expect(page.locator("#thought-title")).to_have_text("Analysis, step 2", timeout=WAIT_MS)
    expect(page.locator("#bar-text")).to_have_text("X wins for certain", timeout=WAIT_MS)
    page.keyboard.press("ArrowRight")
    expect(page.locator("#status")).to_have_text("Position after step 3 of 5")
    page.reload()
    expect(page.locator("#status")).to_have_text("Position after step 3 of 5")


def test_other_line_is_tried_from_a_past_position_and_left_again(page, address):
    open_game(page, address, "tictactoe", ["person", "person"])
    click_cells(page, "0,0", "1,0", "0,1")
    page.click("#first")
    expect(page.locator("#status")).to_have_text("Position after step 0 of 3")
    page.click('[data-cell="1,1"]')
    expect(page.locator("#status")).to_contain_text("Your own line, 1 after step 0: o to move")
    page.click('[data-cell="2,2"]')
    expect(page.locator("#status")).to_contain_text("Your own line, 2 after step 0: x to move")
    page.click("#back")
    page.click('[data-cell="2,0"]')  # another answer
    expect(page.locator("#variants button")).to_have_count(3)
    expect(page.locator("#variants button").first).to_have_attribute("title", "(mark 2 2)")
    expect(page.locator("#path button").last).to_have_attribute("title", "(mark 3 1)")
    page.locator("#variants button").first.click()
    expect(page.locator("#state .piece")).to_have_count(1)
    page.click("#leave")
    expect(step_of(page)).to_have_text("3 of 3")
    expect(page.locator("#state .piece")).to_have_count(3)
    expect(page.locator("#status")).to_have_text("O, it is your move")
    page.click('[data-cell="1,1"]')
    expect(step_of(page)).to_have_text("4 of 4")
    page.click("#back")
    for count, cell in enumerate(("2,0", "0,2"), start=1):
        page.click(f'[data-cell="{cell}"]')
        expect(page.locator("#status")).to_contain_text(f"Your own line, {count} after step 3")
    expect(page.locator("#status")).to_contain_text("x wins")
    expect(page.locator("#bar-text")).to_have_text("X wins")
    expect(page.locator("#bar")).to_have_attribute("aria-valuenow", "100")


@pytest.mark.parametrize("size", [(1440, 900), (1280, 720), (360, 740)])
def test_match_fits_the_window_without_scrolling_or_jumps(page, address, size):
    width, height = size
    page.set_viewport_size({"width": width, "height": height})
    page.add_init_script(
        """window.shift = 0;
        new PerformanceObserver(list => list.getEntries().forEach(each => { window.shift += each.value; }))
            .observe({ type: "layout-shift", buffered: true });"""
    )
    open_game(page, address, "hex_5x5", ["person", "person"])
    expect(page.locator("#state .can").first).to_be_visible()
    page.wait_for_timeout(300)
    page.evaluate("window.shift = 0")
    click_cells(page, "0,0", "1,0", "2,2")
    assert page.evaluate("window.shift") < 0.02
    cut = "each => each.scrollWidth > each.clientWidth || each.scrollHeight > each.clientHeight"
    assert [page.locator(each).evaluate(cut) for each in ("#title", "#how")] == [False, False]
    needed = ["#status", "#state svg", "#step", "#undo", "#hint"]
    needed += [] if width == 360 else ["#log", "#think", "#candidates", "#effort"]
    for selector in needed:
        box = page.locator(selector).bounding_box()
        assert box["y"] >= 0, selector
        assert box["y"] + box["height"] <= height, selector
        assert box["x"] + box["width"] <= width, selector
    if width == 360:
        for control in page.locator("button:visible, select:visible, input:visible").all():
            box = control.bounding_box()
            assert min(box["width"], box["height"]) >= 40, control.get_attribute("id")
    else:
        assert page.evaluate("document.documentElement.scrollHeight") <= height


def test_click_is_on_the_board_at_once_while_a_search_runs(page, address):
    open_game(page, address, "hex_5x5", ["person", "person"])
    page.click("#think")
    expect(page.locator("#effort")).to_contain_text("games simulated", timeout=WAIT_MS)
    milliseconds = page.evaluate(
        """async () => {
            const start = performance.now();
            const cell = document.querySelector('[data-cell="2,2"]');
            const { x, y, width, height } = cell.getBoundingClientRect();
            const at = { clientX: x + width / 2, clientY: y + height / 2, bubbles: true };
            cell.dispatchEvent(new PointerEvent("pointerdown", at));
            cell.dispatchEvent(new PointerEvent("pointerup", at));
            while (!document.querySelector("#state .piece")) await new Promise(requestAnimationFrame);
            return performance.now() - start;
        }"""
    )
    assert milliseconds < 500  # 100 on an idle machine


def test_lost_match_is_reviewed_and_played_again(page, address):
    open_game(page, address, "tictactoe", ["person", "person"])
    click_cells(page, "0,0", "1,0", "2,2", "0,1", "1,1")
    expect(page.locator("#status")).to_have_text("X wins")
    page.click("#review")
    expect(page.locator("#review")).to_be_hidden(timeout=WAIT_MS)
    page.locator("#mistakes button").first.click()
    expect(page.locator("#how")).to_contain_text("the search prefers")
    assert page.locator("#state .hinted").count() == page.locator("#state .played").count() == 1
    assert page.locator("#chart path").count() == 2
    listed = re.findall(r"from (\d+) to (\d+) %", page.locator("#mistakes").inner_text())
    lost = [int(before) - int(after) for before, after in listed]
    assert lost == sorted(lost, reverse=True)
    assert len(lost) == min(3, page.locator("#log .lost").count())  # the worst ones
    page.reload()
    expect(page.locator("#mistakes button").first).to_be_visible()
    matches = "fetch('/api/matches').then(each => each.json()).then(each => each.length)"
    before = page.evaluate(matches)
    page.evaluate("for (let each = 0; each < 20; each++) document.getElementById('again').click()")
    expect(step_of(page)).to_have_text("0 of 0", timeout=WAIT_MS)
    assert page.evaluate(matches) <= before + 1


def test_single_person_is_told_whether_they_won_and_how_to_play(page, address):
    open_game(page, address, "tictactoe", ["person", "legal"])
    expect(page.locator("#seats")).to_have_text("x: you · o: legal · 1 s a move")
    expect(page.locator("#about")).to_contain_text("How to play")
    for cell, steps in (("1,1", 2), ("2,0", 4), ("0,2", 5)):  # the other takes 0,0 and 0,1
        expect(page.locator("#how")).to_contain_text("Click a marked place")
        page.click(f'[data-cell="{cell}"]')
        expect(step_of(page)).to_have_text(f"{steps} of {steps}", timeout=WAIT_MS)
    expect(page.locator("#status")).to_have_text("You win: x wins")
    page.click("#review")
    expect(page.locator("#review")).to_be_hidden(timeout=WAIT_MS)
    listed = page.locator("#mistakes").inner_text()
    assert "No single move" not in listed  # the other has lost something
    lost = [
        int(before) - int(after) for before, after in re.findall(r"O's chances from (\d+) to (\d+) %", listed)
    ]
    assert sorted(page.locator("#log .lost").all_inner_texts()) == sorted(f"−{each}" for each in lost)


def test_kuhn_poker_is_played_to_the_end_and_cards_of_others_never_reach_the_page(page, address):
    texts = []
    page.on("response", lambda reply: "/play" in reply.url and texts.append(reply.text()))
    open_game(page, address, "kuhn_poker", ["person", "random"])
    expect(page.locator("#state")).to_contain_text("you see: card")
    assert page.locator("#state svg").count() == 0
    assert page.locator("#hint").is_disabled()
    shown = []

    def move():
        shown.append(page.content())
        page.locator("#moves button").first.click()

    play_to_end(page, move, 3)
    expect(page.locator("#status")).to_have_text(re.compile("You (win|lose)"))
    expect(page.locator("#chart-box")).to_be_hidden()
    assert not any("deal" in text for text in [*shown, *texts])
    expect(page.locator("#log")).to_contain_text("deal")  # at the end everything is turned over


def test_agents_are_watched_and_an_earlier_position_stays_on_the_board(page, address):
    open_game(page, address, "connectfour_4x4", ["random", "mcts:simulations=200"])
    expect(page.locator("#thought-title")).to_have_text("Search of black", timeout=WAIT_MS)
    page.click("#first")
    expect(page.locator("#status")).to_have_text(re.compile("^Position after step 0"))
    page.click("#last")
    expect(page.locator("#status")).to_have_text(re.compile("wins|Draw"), timeout=WAIT_MS)
    assert page.locator("#choice").is_hidden()
    assert page.locator("#chart path").count() == 1
    page.reload()
    expect(page.locator("#bar:not(.none)")).to_have_attribute("title", re.compile("wins$|^Draw$"))
    page.click("#back")
    expect(page.locator("#bar")).to_have_attribute("title", re.compile(r"^Black \(mcts.*\) expects \d+ %"))


def test_piece_is_dragged_to_its_target(page, address):
    open_game(page, address, "breakthrough_4x4", ["person", "person"])
    page.locator('[data-cell="0,1"]').wait_for()
    page.locator('[data-cell="0,1"]').drag_to(page.locator('[data-cell="1,2"]'))
    expect(step_of(page)).to_have_text("1 of 1")


def test_page_of_another_origin_opens_no_match(page, address):
    replies = []
    page.on("response", lambda reply: replies.append((reply.request.method, reply.status)))
    page.goto("data:text/html,<p>elsewhere")
    page.evaluate(
        """address => fetch(`${address}/api/matches`, {
            method: "POST", mode: "no-cors", credentials: "include", body: '{"game": "nim"}'
        }).catch(() => null)""",
        address,
    )
    assert [status for method, status in replies if method == "POST"] in ([403], [])


def test_typing_error_is_found_and_mended_in_the_workbench(page, address):
    page.goto(f"{address}/workbench")
    expect(page.locator("#findings")).to_contain_text("No findings")
    rules = page.locator("#rules")
    text = rules.input_value()
    rules.fill(text.replace("(role first)", "(role first"))
    expect(page.locator("#findings .error").first).to_be_visible()
    expect(page.locator("#play")).to_be_disabled()
    rules.fill(text)
    expect(page.locator("#findings")).to_contain_text("No findings")
    page.click("#play")
    expect(page.locator("#seats select")).to_have_count(2)
    page.locator("#seats select").nth(1).select_option("random")
    page.click("#start")
    page.wait_for_url("**/match/*")
    expect(page.locator("#moves button").first).to_have_text("take 1")
    page.goto(f"{address}/workbench")
    page.locator("#rules").fill("(" * 2000)
    expect(page.locator("#findings .error").first).to_be_visible()
    page.locator("#rules").fill(text)
    expect(page.locator("#findings")).to_contain_text("No findings")


def test_one_click_leads_to_a_small_game_that_is_proven_again_after_a_change(page, address):
    expect(page.locator("#claim")).to_have_text("Write a game. It plays it, and proves who wins.")
    page.click("#write")
    expect(page.locator("#sentence")).to_have_text("White wins for certain", timeout=WAIT_MS)
    expect(page.locator("#state svg [data-cell]")).to_have_count(12)
    page.fill("#rule", "(column 1) (column 2) (column 3)")
    expect(page.locator("#sentence")).to_have_text("A draw for certain", timeout=WAIT_MS)
    expect(page.locator("#state svg [data-cell]")).to_have_count(9)
    page.click("#witness")
    page.wait_for_url("**/match/*")
    expect(page.locator("#status")).to_have_text("Draw")
    page.go_back()
    expect(page.locator("#rule")).to_have_value("(column 1) (column 2) (column 3)")
    page.click("#prove")
    expect(page.locator("#proof")).to_contain_text("white can get 100", timeout=WAIT_MS)


def test_editor_colors_matches_completes_renames_saves_and_opens(page, address, tmp_path):
    page.goto(f"{address}/workbench")
    rules = page.locator("#rules")
    expect(page.locator("#paint .keyword").first).to_have_text("role")
    rules.fill(
        "(role first)\n(init (heap 7))\n(<= (legal first ?x) (true (heap ?x)))\n(<= (legal a ?x) (b ?x))"
    )
    page.keyboard.press("Control+Home")
    expect(page.locator("#paint .matched")).to_have_count(2)
    page.keyboard.press("Control+End")
    page.keyboard.type(" (hea")
    expect(page.locator("#complete li")).to_have_text(["heap"])
    expect(page.locator("#paint .lost")).to_have_count(1)
    page.keyboard.press("Tab")
    assert rules.input_value().endswith("(b ?x)) (heap")
    page.keyboard.press("F2")
    page.fill("#new-name", "legal")  # taken, so the dialog stays
    page.keyboard.press("Enter")
    page.fill("#new-name", "pile")
    page.keyboard.press("Enter")
    text = "(role first)\n(init (pile 7))\n(<= (legal first ?x) (true (pile ?x)))\n"
    text += "(<= (legal a ?x) (b ?x)) (pile"
    expect(rules).to_have_value(text)
    page.keyboard.press("Control+z")
    expect(rules).to_have_value(text.replace("pile", "heap"))
    rules.fill(text)
    page.keyboard.press("Control+End")
    page.keyboard.type(" fi")
    expect(page.locator("#complete li")).to_have_text(["first"])  # a constant
    rules.fill(text)
    rules.evaluate("each => each.setSelectionRange(47, 47)")  # a variable: in its rule alone
    page.click("#renaming")
    page.fill("#new-name", "?n")
    page.keyboard.press("Enter")
    expect(rules).to_have_value(text.replace("first ?x) (true (pile ?x", "first ?n) (true (pile ?n"))
    with page.expect_download() as download:
        page.keyboard.press("Control+s")
    path = tmp_path / "saved.kif"
    download.value.save_as(path)
    rules.fill("")
    page.set_input_files("#file", path)
    expect(rules).to_have_value(path.read_text())


def test_long_lines_of_the_editor_wrap_as_they_are_typed(page, address):
    page.set_viewport_size({"width": 360, "height": 740})
    page.goto(f"{address}/workbench#small")
    expect(page.locator("#paint .line").first).to_be_visible()
    heights = page.evaluate("['paint', 'rules'].map(id => document.getElementById(id).scrollHeight)")
    assert abs(heights[0] - heights[1]) <= 2


COPY = """text => {
    const field = document.createElement("textarea");
    field.value = text;
    document.body.append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
}"""


def test_long_sheet_is_edited_without_colors_and_the_verdict_asks_for_correct_rules(page, address):
    page.goto(f"{address}/workbench#small")
    expect(page.locator("#sentence")).to_have_text("White wins for certain", timeout=WAIT_MS)
    page.evaluate(COPY, "(role white)\n" + "(init (cell 1 1 b))\n" * 50_000)
    page.locator("#rules").focus()
    start = time.monotonic()
    page.keyboard.press("Control+a")
    page.keyboard.press("Control+v")
    page.keyboard.type("x")
    expect(page.locator("#uncolored")).to_be_visible()
    assert time.monotonic() - start < 60  # minutes, with a colored line for every one of the sheet
    page.evaluate("document.getElementById('rules').value = ''")
    page.fill("#rules", "(role white)\n(init (cell 1 1 ?x))")
    expect(page.locator("#paint .variable")).to_have_text("?x")
    expect(page.locator("#uncolored")).to_be_hidden()
    verdicts = page.locator("#sentence"), page.locator("#detail")
    for rules, headline, what in (
        ("(role white)\n(init (cell 1 1 ?x))", "Not proven", "Correct the errors first"),
        ("(role white)\n(init (cell 1 1 b))", "Not finished", "Write what is missing"),
        ("; nothing\n", "No rules yet", "Begin with a (role …) for each player"),
    ):
        page.fill("#rules", rules)
        for place, text in zip(verdicts, (headline, what), strict=True):
            expect(place).to_contain_text(text, timeout=WAIT_MS)


def test_mistakes_come_before_what_is_still_to_be_written(page, address):
    page.goto(f"{address}/workbench")
    page.fill("#rules", "(role a)\n(init (heap 7))\n(<= (legal a ?x) (true (heap ?y)))")
    expect(page.locator("#findings .title").first).to_have_text("Still to be written")
    items = page.locator("#findings li").all_inner_texts()
    assert "GDL205" in items[0]
    assert items.index("Still to be written") < next(n for n, text in enumerate(items) if "GDL214" in text)
    page.locator("#findings button").first.click()
    assert page.evaluate("document.activeElement.id") == "rules"


def test_what_is_typed_before_the_example_has_come_stays(page, address):
    held = []
    page.route("**/example.kif", lambda route: held.append(route))
    page.goto(f"{address}/workbench", wait_until="commit")
    while not held:
        page.wait_for_timeout(20)
    page.fill("#rules", "(role a)")
    with page.expect_response("**/example.kif"):
        held[0].continue_()
    expect(page.locator("#sheets option").nth(5)).to_be_attached()  # the last that loading does
    expect(page.locator("#rules")).to_have_value("(role a)")
    page.unroute("**/example.kif")


def test_take_away_is_written_from_the_example_and_played(page, address):
    page.goto(f"{address}/workbench")
    page.select_option("#sheets", "+example")
    expect(page.locator("#findings")).to_contain_text("No findings")
    rules = page.locator("#rules")
    two = "(<= (minus ?n 2 ?m) (succ ?m ?k) (succ ?k ?n))"
    three = "(<= (minus ?n 3 ?m) (minus ?n 2 ?k) (succ ?m ?k))"
    rules.fill(rules.input_value().replace(two, f"{two}\n{three}"))
    expect(page.locator("#moves")).to_contain_text("take 3")
    page.click("#play")
    expect(page.locator("#seats select")).to_have_count(2)
    page.locator("#seats select").nth(1).select_option("random")
    page.click("#start")
    page.wait_for_url("**/match/*")
    play_to_end(page, page.locator("#moves button").last.click, 8)
    expect(page.locator("#status")).to_have_text(re.compile("You (win|lose)"))


def test_bundled_sheet_and_pasted_one_are_opened(page, address):
    page.goto(f"{address}/workbench")
    page.on("dialog", lambda dialog: dialog.accept())
    page.select_option("#sheets", "nim")
    expect(page.locator("#state")).to_contain_text("to move")
    page.goto(f"{address}/")
    page.get_by_role("button", name="puzzle", exact=True).click()
    expect(page.locator('[data-game="hanoi"]')).to_be_visible()
    assert page.locator('[data-game="hex_5x5"]').count() == 0
    page.locator("#words").blur()
    page.evaluate("""() => {
        const data = new DataTransfer();
        data.setData("text", "; Wait.\\n(role a) (init b) (legal a wait) (<= terminal (true c))");
        document.body.dispatchEvent(new ClipboardEvent("paste", {clipboardData: data, bubbles: true}));
    }""")
    expect(page.locator("#seats select")).to_have_count(1)


@pytest.mark.parametrize("width", [360, 768])
def test_no_view_is_wider_than_the_screen(page, address, store, tmp_path, width):
    page.set_viewport_size({"width": width, "height": 800})
    with Store(store, must_exist=True) as opened:
        page.goto(write_pages(opened, opened.run("trial"), tmp_path).as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    ready = {"": "#games li", "workbench": "#findings li"}
    for path, selector in ready.items():
        page.goto(f"{address}/{path}")
        page.locator(selector).first.wait_for()
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
    page.goto(f"{address}/")
    page.click('[data-game="chinesecheckers_3p"]')
    page.locator("#seats select").first.wait_for()
    assert page.locator("#setup").evaluate("each => each.scrollWidth <= each.clientWidth")
    for name in ("othello", "dicerace", "connectfour_3p"):
        open_game(page, address, name, ["person"])
        page.locator("#moves").wait_for()
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name


def test_two_persons_play_in_two_browsers(browser, page, address):
    open_game(page, address, "tictactoe", ["person", "person"])
    other = browser.new_context()
    invited = other.new_page()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.click("#files summary")
    page.click("text=Invite o")
    expect(page.locator("#invite")).to_have_text(
        "Copied. Another browser that is logged in plays o there; here you play x."
    )
    invited.goto(f"{address}/?token={TOKEN}")
    invited.goto(page.evaluate("navigator.clipboard.readText()"))
    expect(invited.locator("#status")).to_have_text("X thinking …")
    assert invited.url.endswith("?seat=o")
    click_cells(page, "0,0")
    expect(page.locator("#state .can")).to_have_count(0)
    expect(invited.locator("#status")).to_have_text("O, it is your move")
    invited.click('[data-cell="1,1"]')
    expect(step_of(page)).to_have_text("2 of 2")
    expect(invited.locator("#state .can")).to_have_count(0)
    expect(page.locator("#status")).to_have_text("X, it is your move")
    late = page.context.new_page()
    late.goto(page.url)
    expect(late.locator("#state .can").first).to_be_visible()
    late.route("**/play", lambda route: (click_third(page), route.continue_()))
    late.click('[data-cell="2,1"]')
    expect(late.locator("#problem")).to_have_text(
        "This seat is played in another tab: the move made there counts."
    )
    expect(step_of(late)).to_have_text("3 of 3")
    other.close()


def click_third(page):
    page.click('[data-cell="2,2"]')
    expect(step_of(page)).to_have_text("3 of 3")


@pytest.mark.parametrize(("path", "ready"), [("", "#games li"), ("workbench", "#findings li")])
def test_every_control_is_large_enough_for_a_finger(page, address, path, ready):
    page.set_viewport_size({"width": 360, "height": 740})
    page.goto(f"{address}/{path}")
    page.locator(ready).first.wait_for()
    controls = page.locator("button:visible, select:visible, nav a:visible, .button:visible, summary:visible")
    for control in controls.all():
        box = control.bounding_box()
        assert round(min(box["width"], box["height"])) >= 40, control.inner_text()


def test_moves_can_be_made_with_the_keyboard_alone(page, address):
    open_game(page, address, "tictactoe", ["person", "person"])
    page.locator("#state .can").first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(step_of(page)).to_have_text("1 of 1")
    page.fill("#filter", "3 1")
    page.keyboard.press("Enter")
    expect(step_of(page)).to_have_text("2 of 2")


def test_search_suggests_titles_and_sizes_are_together(page, address):
    expect(page.locator("#featured .game")).to_have_count(8)
    expect(page.locator("#featured svg.board").nth(7)).to_be_visible(timeout=WAIT_MS)
    asked = []
    page.on("request", lambda request: asked.append(request.url.rsplit("/", 2)[-2:]))
    page.reload()
    expect(page.locator("#featured svg.board").nth(7)).to_be_visible()
    assert ["hex_7x7", "scene"] not in asked  # the page brings it along
    assert page.locator("#featured .piece, #featured .wall, #featured .disc").count() > 50  # mid-match
    hex_card = page.locator("#games li", has=page.locator('[data-game="hex_7x7"]'))
    expect(hex_card.locator("[data-game]")).to_have_count(5)
    page.click('#games [data-game="hex_7x7"]')
    expect(page.locator("#setup-sizes button")).to_have_text(["3×3", "4×4", "5×5", "7×7", "11×11"])
    page.get_by_role("button", name="4×4", exact=True).click()
    expect(page.locator("#setup-title")).to_have_text("Hex 4×4")
    more = page.locator("#more-list")
    expect(more).to_be_hidden()
    page.click("#more summary")
    expect(more).to_contain_text("kindturn-taking, zero-sum")
    assert "zero-sum" not in page.locator("#games").inner_text()
    seats = page.locator("#seats select")
    seats.first.select_option("mcts")
    expect(page.locator("#options-list dt").filter(has_text="simulations")).to_have_count(1)
    seats.first.select_option("person")
    seats.nth(1).select_option("over HTTP")
    page.locator("#seats input").nth(1).fill("127.0.0.1:1")
    page.click("#start")
    expect(page.locator("#setup-error")).to_contain_text("http://127.0.0.1:1: no player is listening there")
    page.click("#cancel")
    page.fill("#words", "chekers")
    page.get_by_role("button", name="Checkers", exact=True).click()
    expect(page.locator('#games [data-game="checkers"]')).to_have_count(1)


def test_persons_resign_and_play_again_with_sides_swapped(page, address):
    open_game(page, address, "tictactoe", ["person", "legal"])
    undo, why, box = (page.locator(each) for each in ("#undo", "#why-undo", "#state"))
    before = box.bounding_box()
    expect(undo).to_be_disabled()
    expect(undo).to_have_accessible_description(re.compile("."))
    expect(why).to_be_hidden()
    page.keyboard.press("Tab")
    undo.focus()  # by keyboard
    expect(why).to_be_visible()
    page.locator("#resign").focus()
    undo.click(force=True)
    expect(why).to_be_visible()
    assert box.bounding_box() == before
    page.click("#resign")
    page.click("#resign")
    expect(page.locator("#status")).to_have_text("You lose: x resigns: o wins")
    page.click("#swap")
    expect(page.locator("#seats")).to_contain_text("o: you")


def test_level_is_chosen_and_address_of_a_match_is_shared(browser, page, address):
    open_game(page, address, "tictactoe", ["person", "mcts:level=easy"])
    page.click('[data-cell="1,1"]')
    expect(step_of(page)).to_have_text("2 of 2", timeout=WAIT_MS)
    other = browser.new_context()
    beside = other.new_page()
    beside.goto(f"{address}/?token={TOKEN}")
    beside.goto(page.url)
    expect(step_of(beside)).to_have_text("2 of 2")
    other.close()


def test_match_of_a_tournament_is_found_and_replayed(page, store, tmp_path):
    with Store(store, must_exist=True) as opened:
        page.goto(write_pages(opened, opened.run("trial"), tmp_path).as_uri())
    page.get_by_role("link", name="Matches", exact=True).click()
    rows = page.locator("tbody tr:visible")
    expect(rows).to_have_count(2)
    page.fill("#filter", "random chess")
    expect(rows).to_have_count(0)
    page.fill("#filter", "random tictactoe")
    expect(page.locator("#count")).to_have_text("2 of 2 matches")
    page.get_by_role("link", name="tictactoe").first.press("Enter")
    page.wait_for_url("**/match-*.html**")  # which may have its step behind # already
    page.keyboard.press("End")
    expect(page.locator("#status")).to_have_text(re.compile("wins|Draw"))


CONTROLS = "a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex='0']"
NAMELESS = """controls => controls.filter(each => !(each.getAttribute("aria-label")
    || document.getElementById(each.getAttribute("aria-labelledby"))?.textContent.trim()
    || [...(each.labels ?? [])].some(label => label.textContent.trim())
    || each.textContent.trim())).map(each => each.outerHTML)"""
LEFT = f"""() => {{
    window.reached ??= new Set();
    window.reached.add(document.activeElement);
    const isOpen = each => !each.disabled && each.checkVisibility() && !each.closest("svg");
    const isLeft = each => isOpen(each) && !window.reached.has(each);
    return [...document.querySelectorAll("{CONTROLS}")].filter(isLeft).map(each => each.outerHTML);
}}"""


@pytest.mark.parametrize(
    ("path", "ready"),
    [
        ("", "#games button"),
        ("workbench", "#findings li, #findings p"),
        ("match", "#moves button"),
    ],
)
def test_every_control_has_a_name_and_is_reached_by_tab(page, address, path, ready):
    if path == "match":
        open_game(page, address, "tictactoe", ["person", "person"])
    else:
        page.goto(f"{address}/{path}")
    page.locator(ready).first.wait_for()
    assert page.locator(CONTROLS).evaluate_all(NAMELESS) == []
    for _ in range(page.locator(CONTROLS).count() + 5):
        page.keyboard.press("Tab")
        left = page.evaluate(LEFT)
        if not left:
            break
    assert left == []


def test_match_goes_on_after_a_restart_of_the_server(browser, tmp_path):
    port = unused_port()
    context = browser.new_context()
    page, other = context.new_page(), context.new_page()
    ask = "body => fetch('/api/matches', { method: 'POST', body }).then((response) => response.json())"
    persons = '{"game": "tictactoe", "seats": ["person", "person"]}'
    with serving(port, data=tmp_path) as address:
        page.goto(f"{address}/?token={TOKEN}")
        seated = f"{address}/match/{page.evaluate(ask, persons)['id']}"
        other.goto(f"{seated}?seat=x")
        click_cells(other, "1,1")
        open_game(page, address, "tictactoe", ["person", "random"])
        page.click('[data-cell="0,0"]')
        expect(step_of(page)).to_have_text("2 of 2", timeout=WAIT_MS)
    expect(page.locator("#gone")).to_contain_text("not running any more", timeout=WAIT_MS)
    other.click("#flip")  # nothing to ask
    expect(other.locator("#gone")).to_be_visible(timeout=WAIT_MS)
    with serving(port, data=tmp_path) as address:
        expect(page.locator("#problem")).to_contain_text("open the address that it prints", timeout=WAIT_MS)
        expect(page.locator("#gone")).to_have_count(0, timeout=WAIT_MS)
        other.goto(f"{address}/?token={TOKEN}")
        expect(other.locator("#going li")).to_have_count(2)
        cut = "[...document.querySelectorAll('#going li > *')].filter((e) => e.scrollWidth > e.clientWidth)"
        assert other.evaluate(f"{cut}.length") == 0
        expect(other.locator("#going li", has_text="x: you")).to_contain_text("2 steps, your move")
        other.click(f'#going [href="{seated.removeprefix(address)}"]')  # this browser keeps the seat
        expect(other.locator("#status")).to_have_text("O thinking …", timeout=WAIT_MS)
        expect(page.locator("#problem")).to_be_empty(timeout=WAIT_MS)
        page.locator("#moves button").first.click()
        expect(step_of(page)).to_have_text("4 of 4", timeout=WAIT_MS)
        page.reload()
        expect(step_of(page)).to_have_text("4 of 4", timeout=WAIT_MS)
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_fault_in_any_view(browser, address, store, tmp_path, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs the extra e2e")
    context = browser.new_context(color_scheme=scheme, bypass_csp=True)
    context.set_default_timeout(WAIT_MS)
    page = context.new_page()
    page.goto(f"{address}/?token={TOKEN}")
    found = {}

    def examine(view, ready):
        page.wait_for_selector(ready)
        found[view] = [fault["id"] for fault in axe.Axe().run(page).response["violations"]]

    examine("games", '[data-game="hex_5x5"]')
    page.click('[data-game="hex_5x5"]')
    examine("seats", "#seats select")
    open_game(page, address, "hex_5x5", ["person", "person"])
    examine("match", "#state .can")
    for cell in ("0,0", "1,0"):
        page.click(f'[data-cell="{cell}"]')
    page.click("#first")
    examine("past", "#state svg")
    page.click('[data-cell="2,2"]')
    examine("line", "#variants button")
    open_game(page, address, "liars_dice", ["person", "random"])
    examine("hidden", "#state .die")
    open_game(page, address, "tictactoe", ["person", "person"])
    click_cells(page, "0,0", "1,0", "0,1", "1,1", "0,2")
    examine("over", "#how.because")
    page.goto(f"{address}/workbench")
    page.locator("#rules").fill("(role a")
    examine("workbench", "#findings .error small")
    with Store(store, must_exist=True) as opened:
        page.goto(write_pages(opened, opened.run("trial"), tmp_path).as_uri())
    examine("tournament", "table tbody tr")
    context.close()
    assert not any(found.values()), found
    assert list(found) == [
        "games",
        "seats",
        "match",
        "past",
        "line",
        "hidden",
        "over",
        "workbench",
        "tournament",
    ]


def test_browser_logs_in_by_the_file_that_is_opened_for_it(browser, address, tmp_path):
    path = tmp_path / "open.html"
    path.write_text(
        Access("127.0.0.1", int(address.rpartition(":")[2]), TOKEN).opening_page, encoding="utf-8"
    )
    context = browser.new_context()
    page = context.new_page()
    page.goto(path.as_uri())
    page.wait_for_url(f"{address}/")
    expect(page.locator('[data-game="tictactoe"]')).to_have_count(1)
    page.goto(f"{address}/nowhere")
    expect(page.locator("[role=alert]")).to_have_text("Not found: no page has this address.")
    context.close()


def test_match_that_is_over_keeps_its_address_without_its_process(page, address):
    open_game(page, address, "tictactoe", ["person", "person"])
    click_cells(page, "0,0", "1,0", "0,1", "1,1", "0,2")
    expect(page.locator("#status")).to_have_text("X wins")
    page.evaluate("fetch(`/api/matches/${location.pathname.split('/').pop()}/close`, { method: 'POST' })")
    expect(page.locator("#problem")).to_contain_text("ended")
    page.reload()
    expect(page.locator("#status")).to_have_text("X wins")
    expect(step_of(page)).to_have_text("5 of 5")


def test_match_that_has_ended_has_no_button_that_works(page, address):
    open_game(page, address, "tictactoe", ["person", "person"])
    expect(page.locator("#status")).to_have_text("X, it is your move")
    page.evaluate("fetch(`/api/matches/${location.pathname.split('/').pop()}/close`, { method: 'POST' })")
    expect(page.locator("#status")).to_have_text("This match has ended.")
    expect(page.locator("button:enabled")).to_have_count(0)
    expect(page.locator("#state .can")).to_have_count(0)
    page.reload()
    gone = "No match has this address: it has ended, or there never was one."
    expect(page.locator("[role=alert]")).to_have_text(gone)
    expect(page.locator("button")).to_have_count(0)
    page.goto(f"{address}/match/gone")
    expect(page.locator("#status")).to_have_text(gone)


def test_published_replay_has_the_list_of_moves_of_the_live_page(browser, store, tmp_path):
    with Store(store, must_exist=True) as opened:
        write_pages(opened, opened.run("trial"), tmp_path)
    page, errors = browser.new_page(), []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto((tmp_path / "match-1.html").as_uri())
    expect(page.locator(".log-head")).to_have_text("xo")
    expect(page.locator("#log li").first.locator("button")).to_have_count(2)
    expect(page.locator("#log li").first.locator("button").first).to_have_class(re.compile("by-0"))
    page.locator("#log button").first.hover()
    expect(page.locator("#state .arrow circle")).to_have_count(1)
    page.keyboard.press("End")
    expect(page.locator("#status")).to_have_text(re.compile("wins|Draw"))
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#log .here")).to_have_count(1)
    page.click("#first")
    expect(page.locator("#back")).to_have_accessible_description("This is the first position.")
    page.close()
    assert not errors
