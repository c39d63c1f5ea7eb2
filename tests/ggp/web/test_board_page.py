"""Boards, moves and results on the match page, in headless Chromium: see `test_pages`."""

import json
import re

import pytest
from aiohttp.test_utils import unused_port

from tests.ggp.web.test_pages import (
    CHROMIUM,
    TOKEN,
    WAIT_MS,
    click_cells,
    expect,
    playwright_api,
    serving,
    step_of,
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no chromium found: install it or set GGP_CHROMIUM"),
]
PERSONS = ["person", "person"]


@pytest.fixture(scope="module")
def address():
    """A running server."""
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
    """A page that is logged in; errors of its scripts, and what its security policy stops, fail the test."""
    context = browser.new_context(viewport={"width": 1440, "height": 900}, reduced_motion="reduce")
    context.set_default_timeout(WAIT_MS)
    page, errors = context.new_page(), []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.goto(f"{address}/?token={TOKEN}")
    yield page
    context.close()
    assert not errors


def open_game(page, address, name, seats, seconds=0.2):
    """Open a match without the front page."""
    ask = "body => fetch('/api/matches', { method: 'POST', body }).then((response) => response.json())"
    opened = page.evaluate(ask, json.dumps({"game": name, "seats": seats, "seconds": seconds, "seed": 1}))
    page.goto(f"{address}/match/{opened['id']}")


def cell(page, name):
    return page.locator(f'#state [data-cell="{name}"]')


def middle(page, name):
    box = cell(page, name).bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_moves_are_written_and_typed_in_notation_and_in_kif(page, address):
    open_game(page, address, "breakthrough_4x4", PERSONS)
    button = page.locator("#moves button", has_text="a2×b3")
    expect(button).to_have_attribute("title", "(move 1 2 2 3)")
    page.fill("#filter", "a2-b3")
    expect(page.locator("#moves button")).to_have_count(1)
    page.press("#filter", "Enter")
    expect(step_of(page)).to_have_text("1 of 1")
    page.fill("#filter", "(move 1 3 2 2)")
    page.press("#filter", "Enter")
    expect(step_of(page)).to_have_text("2 of 2")
    expect(page.locator(".log-head")).to_have_text("whiteblack")
    expect(page.locator("#log li")).to_have_count(1)
    expect(page.locator("#log button")).to_have_text(["a2×b3", re.compile("a3.b2")])
    expect(page.locator("#log button").first).to_have_attribute("title", "(move 1 2 2 3)")
    disc = "each => getComputedStyle(each, '::before').backgroundColor"
    white, black = page.locator("#log button").evaluate_all(f"all => all.map({disc})")
    assert white != black
    assert page.locator(".log-head span").evaluate_all(f"all => all.map({disc})")[1:] == [white, black]


def test_keys_lead_through_the_moves_and_arrows_show_them(page, address):
    open_game(page, address, "tictactoe", PERSONS)
    click_cells(page, "0,0", "1,1", "2,2")
    page.locator("#status").click()
    for key, step in (("Home", 0), ("ArrowRight", 1), ("End", 3), ("ArrowLeft", 2)):
        page.keyboard.press(key)
        expect(step_of(page)).to_have_text(f"{step} of 3")
    expect(page.locator("#log .here")).to_have_text("b2")
    page.locator("#log button").first.hover()
    expect(page.locator("#state .arrow circle")).to_have_count(1)
    open_game(page, address, "breakthrough_4x4", PERSONS)
    page.locator("#moves button").first.hover()
    expect(page.locator("#state .arrow polygon")).to_have_count(1)
    page.mouse.move(5, 5)
    expect(page.locator("#state .arrow")).to_have_count(0)
    open_game(page, address, "connectfour", PERSONS)
    for step in ("1 of 1", "2 of 2"):
        page.locator("#moves button", has_text="4").click()
        expect(step_of(page)).to_have_text(step)
    page.mouse.move(5, 5)
    page.locator("#moves button", has_text="4").focus()
    landing = page.locator("#state .arrow polygon")
    expect(landing).to_have_count(1)
    tip = landing.bounding_box()
    third = cell(page, "3,2").bounding_box()
    assert third["y"] < tip["y"] + tip["height"] < third["y"] + third["height"]
    page.locator("#log button").first.hover()
    assert landing.bounding_box()["y"] > third["y"] + third["height"]
    open_game(page, address, "tron", ["person", "random"])  # its moves name directions
    page.locator("#moves button", has_text="north").hover()
    expect(landing).to_have_count(1)
    cell(page, "1,4").click()
    expect(page.locator("#log button").first).to_have_text("ride north")
    page.locator("#log button").first.hover()
    expect(landing).to_have_count(1)


def test_board_is_turned_to_the_player_and_by_the_button(page, address):
    open_game(page, address, "checkers", ["random", "person"])
    expect(page.locator("#status")).to_contain_text("Black, it is your move")
    expect(page.locator(".log-head")).to_have_text("blackwhite")
    assert middle(page, "0,0")[1] < middle(page, "1,7")[1]  # black sits at row 8
    page.click("#flip")
    assert middle(page, "0,0")[1] > middle(page, "1,7")[1]
    page.click("#flip")
    cell(page, "1,5").click()
    cell(page, "0,4").click()
    expect(page.locator("#log button").first).to_have_text("b6–a5")


def test_pieces_follow_the_pointer_and_wrong_clicks_say_why(page, address):
    open_game(page, address, "breakthrough_4x4", PERSONS)
    expect(page.locator("#status")).to_contain_text("White")
    cell(page, "0,0").click()
    expect(page.locator("#how")).to_have_text("White on a1 has no move now. Only captures are possible.")
    expect(page.locator("#state .ring.is-wrong")).to_have_count(1)
    cell(page, "0,3").click()
    expect(page.locator("#how")).to_have_text("a4 belongs to black; white is to move.")
    page.mouse.move(*middle(page, "0,1"))
    page.mouse.down()
    page.mouse.move(*middle(page, "0,2"))
    page.mouse.move(*middle(page, "1,2"))
    expect(page.locator("#state .dragged")).to_have_count(1)
    box = page.locator("#state .dragged").bounding_box()
    at = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    assert at == pytest.approx(middle(page, "1,2"), abs=3)
    expect(page.locator("#state .next")).to_have_count(1)
    assert page.evaluate("document.querySelector('#state svg').lastElementChild.classList.contains('marks')")
    expect(page.locator("#state .marks .ring.is-chosen")).to_have_count(1)
    page.mouse.up()
    expect(page.locator("#log button")).to_have_text(["a2×b3"])
    cell(page, "0,2").click()
    cell(page, "3,0").click()
    expect(page.locator("#how")).to_have_text("a3 cannot go to d1: choose a marked place.")
    expect(page.locator("#state .ring.is-chosen")).to_have_count(1)  # it stays picked


def test_seat_that_no_person_has_is_refused_in_words_and_forgotten(page, address):
    open_game(page, address, "tictactoe", PERSONS)
    expect(page.locator("#status")).to_have_text("X, it is your move")
    page.goto(f"{page.url}?seat=green")
    expect(page.locator("#status")).to_have_text("No person plays green in this match.")
    expect(page.locator("main")).to_contain_text("Open the whole match · x · o")
    page.get_by_role("link", name="o", exact=True).click()
    expect(page.locator("#status")).to_have_text("X thinking …")
    page.goto(page.url.replace("?seat=o", "?seat=green"))
    page.get_by_role("link", name="the whole match").click()
    expect(page.locator("#status")).to_have_text("X, it is your move")


def test_analysis_opens_no_line_while_another_player_is_to_move(page, address):
    open_game(page, address, "connectfour", ["person", "mcts"], seconds=60)
    cell(page, "0,0").click()
    expect(page.locator("#thought-title")).to_have_text("Search of black", timeout=WAIT_MS)
    expect(page.locator("#bar-text")).to_have_text(re.compile(r"Black \(mcts\) expects \d+ %"))
    row = page.locator("#candidates button").first
    row.dispatch_event("click")  # reports replace the rows too fast for the mouse of this test
    page.wait_for_timeout(300)
    expect(page.locator("#status")).to_have_text("Black thinking …")
    expect(page.locator("#variants")).to_be_hidden()
    page.click("#back")
    cell(page, "1,0").click()  # in a past position lines are opened
    expect(page.locator("#status")).to_contain_text("Your own line, 1 after step 0")


def test_best_line_plays_on_the_board(page, address):
    open_game(page, address, "connectfour", PERSONS)
    page.click("#think")
    expect(page.locator("#line")).to_be_enabled(timeout=WAIT_MS)
    page.click("#think")
    page.click("#line")
    expect(page.locator("#status")).to_contain_text("Your own line, 2 after step 0")


def test_nothing_jumps_when_a_piece_is_chosen_or_the_match_ends(page, address):
    open_game(page, address, "breakthrough_4x4", PERSONS)
    places = [page.locator(each) for each in ("#log-box", "#state", "#step", "#undo", "#thought")]
    expect(page.locator("#moves button")).to_have_count(6)
    before = [each.bounding_box() for each in places]
    cell(page, "0,1").click()
    expect(page.locator("#moves button")).to_have_count(1)
    assert [each.bounding_box() for each in places] == before
    cell(page, "1,2").click()
    expect(page.locator("#moves button")).to_have_count(7)
    assert [each.bounding_box() for each in places] == before
    page.click("#resign")
    page.click("#resign")
    expect(page.locator("#status")).to_have_text("Black resigns: white wins")
    after = [each.bounding_box() for each in places]
    assert after[1:] == before[1:]  # the list of moves takes the place of the moves to choose
    assert after[0]["y"] + after[0]["height"] == pytest.approx(before[0]["y"] + before[0]["height"])


def test_chances_of_captures_stand_on_a_plate_and_the_bar_beside_the_board(page, address):
    open_game(page, address, "breakthrough_4x4", PERSONS)
    page.click("#think")
    plate = page.locator("#state .full.has-value .value-back").first
    expect(plate).to_be_visible(timeout=WAIT_MS)
    outer, inner = plate.bounding_box(), page.locator("#state .full.has-value .value").first.bounding_box()
    assert outer["x"] <= inner["x"]
    assert inner["x"] + inner["width"] <= outer["x"] + outer["width"]
    bar, board = page.locator("#bar").bounding_box(), page.locator("#state svg.board").bounding_box()
    assert bar["x"] + bar["width"] <= board["x"]


def test_openings_are_explored_down_a_line_and_back(page, address):
    open_game(page, address, "connectfour_4x4", PERSONS)
    rows = page.locator("#candidates tr:has(button)")
    page.click("#think")
    expect(rows).to_have_count(4, timeout=WAIT_MS)
    second = rows.filter(has_text=re.compile("^2"))
    second.locator("button").hover()
    expect(page.locator("#state .arrow polygon")).to_have_count(1)
    second.locator("button").click()
    expect(page.locator("#path button")).to_have_text(["‹ back", "2"])
    expect(rows).to_have_count(4, timeout=WAIT_MS)
    rows.first.locator("button").click()
    expect(page.locator("#path button")).to_have_count(3)
    page.click("#path button >> nth=0")
    expect(page.locator("#path button")).to_have_text(["‹ back", "2"])
    page.click("#path button >> nth=0")
    expect(page.locator("#status")).to_have_text("Red, it is your move")


def test_what_decides_is_marked_and_the_result_names_every_role(page, address):
    open_game(page, address, "tictactoe", PERSONS)
    click_cells(page, "0,0", "1,0", "0,1", "1,1", "0,2")
    expect(page.locator("#state .won")).to_have_count(3)
    expect(page.locator("#status")).to_have_text("X wins")
    expect(page.locator("#how")).to_have_text("What decides is marked on the board.")
    expect(page.locator("#goals")).to_have_text("x 100o 0")
    expect(page.locator("#choice")).to_contain_text("The match is over")
    expect(page.locator("#moves")).to_contain_text("Step back")  # no empty box
    assert (
        float(page.evaluate("parseFloat(getComputedStyle(document.getElementById('status')).fontSize)")) > 20
    )


def test_boards_look_like_the_games(page, address):
    open_game(page, address, "connectfour", PERSONS)
    page.get_by_role("button", name="4", exact=True).click()
    expect(page.locator("#state .fallen.new")).to_have_count(1)
    open_game(page, address, "hex_5x5", PERSONS)
    expect(page.locator("#state .edge")).to_have_count(4)
    click_cells(page, "2,2")
    cell(page, "2,2").click()
    expect(page.locator("#how")).to_have_text("c3 is taken: choose an empty place.")
    open_game(page, address, "checkers", PERSONS)
    expect(page.locator("#state .dark.full")).to_have_count(24)
    open_game(page, address, "goofspiel", PERSONS)
    expect(page.locator("#state .card-face")).to_have_text([*"12345", *"12345"])
    expect(page.locator("#state .chip")).to_have_text(["0", "0"])
    open_game(page, address, "peg", ["person"])
    expect(page.locator("#state .hollow")).to_have_count(33)
    expect(page.locator("#state .peg")).to_have_count(32)
    open_game(page, address, "othello_4x4", PERSONS)
    expect(page.locator(".tally")).to_have_text("discsblack 2white 2")
    board, tally = page.locator("#state svg.board").bounding_box(), page.locator(".tally").bounding_box()
    assert tally["x"] >= board["x"] + board["width"]  # beside the board
    page.set_viewport_size({"width": 700, "height": 900})
    assert page.locator(".tally").bounding_box()["y"] > board["y"] + 100


@pytest.mark.parametrize("name", ["kuhn_poker", "liars_dice", "dark_hex_3x3"])
def test_hidden_games_are_played_by_clicks_and_turned_over_at_the_end(page, address, name):
    open_game(page, address, name, ["person", "random"])
    status = page.locator("#status")
    drawn = {"kuhn_poker": (".card-face.back", 1, ".card-face", 2), "liars_dice": (".die", 2, ".die", 2)}
    unseen, count, seen, all_seen = drawn.get(name, ("#state svg", 0, "#state svg", 1))
    expect(status).to_contain_text("your move", timeout=WAIT_MS)
    expect(page.locator(unseen)).to_have_count(count)  # a hand, and the deck's back
    for _ in range(40):
        expect(status).to_have_text(re.compile("your move|wins?|lose|Draw"), timeout=WAIT_MS)
        if "your move" not in status.inner_text():
            break
        expect(page.locator("#state")).to_contain_text("What you know")
        if name != "dark_hex_3x3":
            expect(page.locator(".hands")).to_contain_text(re.compile("^your (card|roll)"))
        assert "deal" not in page.locator("#log").inner_text()
        before = page.locator("#state").text_content()
        page.locator("#moves button").first.click()
        expect(page.locator("#state")).not_to_have_text(before)
    expect(page.locator("#state")).not_to_contain_text("What you know")
    expect(page.locator("#goals")).to_contain_text(re.compile(r"\d"))
    expect(page.locator(seen)).to_have_count(all_seen)
    expect(page.locator("#log button").nth(1)).to_be_visible()
    said = "marked on the board" if name == "dark_hex_3x3" else "^Decided by: "
    expect(page.locator("#how")).to_have_text(re.compile(said))
    expect(page.locator("#state details[open]")).to_have_count(0)


def test_position_is_explained_in_a_new_tab_and_stepped_through_by_keys(page, address):
    open_game(page, address, "tictactoe", PERSONS)
    click_cells(page, "0,0", "1,1", "2,2")
    page.locator("#log button").nth(1).click()
    expect(page.locator("#step-text")).to_have_text("2 of 3")
    for by, first in (("alphabeta", "root: x chooses"), ("mast", "")):
        page.select_option("#explain select", by)
        errors = []
        page.context.on("console", lambda message, errors=errors: errors.append(message.text))
        with page.context.expect_page() as opening:
            page.click("#explain button")
        tab = opening.value
        expect(tab.locator("h1")).to_contain_text(by)
        expect(tab.locator("#verdict")).to_contain_text("The search prefers")
        expect(tab.locator("#steps")).to_be_hidden()
        expect(tab.locator("#now")).to_have_text("Before the search")
        tab.keyboard.press("ArrowRight")
        expect(tab.locator("#now")).to_contain_text(first)
        expect(tab.locator("#counts")).to_contain_text("step 1 of")
        expect(tab.locator("#position")).to_contain_text("o")  # the second position, not the last one
        assert tab.locator("#frame svg .node").count() > 1
        assert tab.evaluate("getComputedStyle(document.querySelector('.bar')).display") == "flex"
        assert tab.evaluate("self.origin") == "null"
        assert not errors
        tab.close()


def test_initial_state_of_a_sheet_is_explained_in_a_new_tab(page, address):
    page.goto(f"{address}/workbench")
    page.select_option("#explain select", "minimax")
    with page.context.expect_page() as opening:
        page.click("#explain button")
    expect(opening.value.locator("h1")).to_contain_text("minimax")
    opening.value.close()
    page.locator("#rules").fill("(role")
    expect(page.locator("#explain")).to_be_hidden()
    for body in ("rules=(role+x)&by=alphabeta:evaluation=os:getcwd", "by=mcts", "rules=%FF&by=mcts", b"\xff"):
        answer = page.request.post(f"{page.url}/explanation", data=body, headers={"Origin": address})
        assert answer.status == 400


def test_explanations_are_gray_where_something_is_hidden_or_the_match_is_over(page, address):
    open_game(page, address, "tictactoe", PERSONS)
    click_cells(page, "0,0", "0,1", "1,0", "1,1", "2,0")
    expect(page.locator("#explain button")).to_be_disabled()
    page.click("#back")
    expect(page.locator("#explain button")).to_be_enabled()
    open_game(page, address, "kuhn_poker", ["person", "random"])
    expect(page.locator("#state")).to_contain_text("You cannot see everything")
    expect(page.locator("#explain")).to_be_hidden()
    answer = page.request.get(f"{page.url}/explanation?by=mcts&step=0", headers={"Accept": "text/html"})
    assert answer.status == 400
    assert "would show what the rules hide" in answer.text()
