"""The page of matches that a manager or a player runs: it shows what they know, and never acts."""

import asyncio
import json
import os
import time
import urllib.error
import urllib.request
from contextlib import asynccontextmanager

import pytest

import ggp
from ggp.processes.child_end import RequestError
from ggp.web import live_page
from ggp.web.changes import merged
from ggp.web.live_page import LivePage, MomentFeed, PageError
from ggp.web.live_server import LiveServer
from ggp.web.server import read_rules
from ggp.web.shown_match import ShownMatch
from tests.ggp.web.test_server import log_in, opened, post
from tests.ggp.wire import inside, running_player
from tests.ggp.wire import post as send

RULES = """(role a) (role b) (legal a x) (legal a y) (legal b x) (init s) (<= (next (done ?m)) (does a ?m))
(<= terminal (not (true s))) (<= (goal a 100) (true (done y))) (goal b 0)"""
HIDING = RULES + " (<= (sees b mine) (does b x)) (<= (sees a (secret ?m)) (does a ?m))"


class Followed:
    """A followed match, and the states that its page shows after each request."""

    def __init__(self):
        self.states = []
        self._match = ShownMatch(self._take, lambda finding: None)

    def _take(self, event):
        self.states.append(merged(self.states[-1] if self.states else {}, event))

    def __getattr__(self, do):
        def ask(*given, **named):
            answer = getattr(self._match, do)(*given, **named)
            self._match.run_on()
            return answer

        return ask


def followed(rules, role):
    match = Followed()
    return match, match.follow(rules, "trial", ["me"] if role else ["p", "q"], role), match.states


def test_followed_match_shows_state_moves_and_outcome():
    match, about, events = followed(RULES, None)
    assert (about["is_blind"], about["seats"]) == (False, ["p", "q"])
    match.wait(["a"])
    assert events[-1]["waiting"] == ["a"]
    match.expect("a", 40.0)
    match.step(1, ["y", "x"], None)
    assert events[-1]["history"] == [["y", "x"]]
    assert events[-1]["values"] == [[40.0, None]]
    assert (events[-1]["outcome"], events[-1]["waiting"]) == ("a wins", [])
    assert json.loads(match.record())["moves"] == [["y", "x"]]


def test_followed_match_counts_a_step_once_and_says_when_it_is_lost():
    match, _, events = followed(RULES, "b")
    match.step(1, ["z", "x"], None)
    assert events[-1]["step"] == 0
    assert "do not fit the rules" in events[-1]["note"]
    other, about, events = followed(read_rules("tictactoe"), "o")
    assert about["seats"] == ["", "me"]
    for _ in range(2):
        other.step(1, ["(mark 1 1)", "noop"], None)
    assert len(events) == 1
    other.step(3, ["(mark 1 2)", "noop"], None)
    assert "do not fit the rules" in events[-1]["note"]


def test_page_of_a_player_shows_its_percepts_and_moves_and_nothing_else():
    match, about, events = followed(HIDING, "b")
    assert about["is_blind"]
    match.step(1, ["mine"], "x")
    state = events[-1]
    assert (state["history"], state["percepts"]) == ([[None, "x"]], [["mine"]])
    assert {"board", "lines", "facts"}.isdisjoint(state)
    assert (state["goals"], state["outcome"], state["is_over"]) == (None, "", False)
    assert "secret" not in json.dumps(events)
    for forbidden in (lambda: match.view(0), match.record, match.animation):
        with pytest.raises(RequestError, match="hide"):
            forbidden()


def test_page_of_a_manager_shows_everything():
    match, about, _ = followed(HIDING, None)
    match.step(1, ["y", "x"], None)
    assert (about["is_hidden"], about["is_blind"]) == (True, False)
    assert match.view(1)["facts"] == ["done y"]


@asynccontextmanager
async def watched(rules, seats, role, terms, own_move):
    """A client that is logged in, and the list of matches once the only one has been followed or refused."""
    async with opened(LiveServer) as (client, server):
        assert (await client.get("/api/live")).status == 403
        await log_in(client)
        assert await (await client.get("/api/live")).json() == []
        for event, fields in (
            ("open", {"rules": rules, "name": "trial", "seats": seats, "role": role}),
            ("step", {"step": 1, "terms": terms, "own_move": own_move}),
            ("stop", {"note": ""}),
        ):
            server.take({"do": event, "match": 1, **fields})
        while not (found := await (await client.get("/api/live")).json()) or (
            found[0]["is_shown"] and not found[0]["step"]
        ):
            await asyncio.sleep(0.02)
        yield client, found


async def first_state(client):
    stream = await client.get("/api/matches/1/events")
    return json.loads((await stream.content.readline())[6:])


@inside(lambda: watched(RULES, ["p", "q"], None, ["y", "x"], None), "client", "found")
async def test_live_server_follows_a_match_and_nobody_can_act_in_it(client, found):
    about = {"id": "1", "name": "trial", "role": None, "step": 1, "is_shown": True}
    assert found == [{**about, "text": "a wins"}]
    assert (await first_state(client))["outcome"] == "a wins"
    assert (await post(client, "/api/matches/1/view", {"step": 0}))[1]["facts"] == ["s"]
    for act in ("play", "undo", "think", "close", "step", "stop"):
        assert (await post(client, f"/api/matches/1/{act}", {}))[0] == 404
    assert (await post(client, "/api/matches", {"game": "nim"}))[0] in (404, 405)
    foreign = await client.post("/api/matches/1/record", json={}, headers={"Origin": "http://evil.example"})
    assert foreign.status == 403


@inside(lambda: watched(HIDING, ["me"], "b", ["mine"], "x"), "client", "found")
async def test_live_server_of_a_player_gives_nothing_away_that_the_rules_hide(client, found):
    state = await first_state(client)
    assert (state["history"], state["percepts"]) == ([[None, "x"]], [["mine"]])
    assert {"board", "lines", "facts"}.isdisjoint(state)
    for do in ("view", "record", "animation"):
        status, reply = await post(client, f"/api/matches/1/{do}", {"step": 0})
        assert (status, "hide" in reply["error"]) == (400, True)


@inside(lambda: watched("(role a", ["p"], None, ["y"], None), "client", "found")
async def test_match_that_the_page_cannot_follow_is_listed_with_the_reason(client, found):
    assert (found[0]["name"], found[0]["is_shown"]) == ("trial", False)
    assert "cannot be shown" in found[0]["text"]
    assert "GDL101" in found[0]["text"]


def test_page_starts_takes_events_and_ends_with_its_match():
    complaints = []
    with LivePage(0, complaints.append) as page:
        game = ggp.load(RULES, engine="reasoner")
        feed = MomentFeed(lambda event: page.send(1, event))
        ggp.play_match(game, [ggp.make_player("legal"), ggp.make_player("legal")], watch=feed)
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        browser.open(page.address)
        port = int(page.address.split(":")[2].split("/")[0])
        found = []
        while not found or found[0]["step"] == 0:
            found = json.load(browser.open(f"http://127.0.0.1:{port}/api/live"))
        assert found[0]["step"] == 1
        with pytest.raises(PageError, match="cannot listen"), LivePage(port, complaints.append):
            pass
    with pytest.raises(urllib.error.URLError):
        browser.open(page.address)
    page.send(1, {"event": "stop", "note": ""})
    assert complaints == []


STUB_PAGE = """
import os, sys, time
sys.stdin.buffer.readline()
print('{"number": 1, "result": "here"}', flush=True)
while not os.path.exists(os.environ["STUB_READS"]):
    time.sleep(0.01)
with open(os.environ["STUB_READS"], "wb", buffering=0) as heard:
    for _, line in zip(range(int(os.environ["STUB_LINES"])), sys.stdin.buffer):
        heard.write(line)
"""


def stub_page(monkeypatch, directory, lines=1_000_000):
    """A page in the place of `live_server` that reads `lines` lines into a file, once the file is there."""
    (directory / "stub_page.py").write_text(STUB_PAGE)
    path = os.pathsep.join(filter(None, [str(directory), os.environ.get("PYTHONPATH", "")]))
    heard = directory / "heard"
    for name, value in {"PYTHONPATH": path, "STUB_READS": str(heard), "STUB_LINES": str(lines)}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(live_page, "_MODULE", "stub_page")
    return heard


def wait_for(condition):
    for _ in range(3000):
        if condition():
            return
        time.sleep(0.01)
    pytest.fail("did not come about in 30 s")


def test_thread_of_a_page_passes_on_all_of_a_match_though_the_page_reads_late(monkeypatch, tmp_path):
    heard = stub_page(monkeypatch, tmp_path)
    complaints = []
    game = ggp.load(read_rules("tictactoe"), engine="reasoner")
    with LivePage(0, complaints.append) as page:
        feed = MomentFeed(lambda event: page.send(7, event))
        record = ggp.play_match(game, [ggp.make_player("legal")] * 2, watch=feed)
        filler = {"event": "think", "report": "r" * 1000}
        for _ in range(1000):  # more than a pipe holds
            page.send(8, filler)
        heard.touch()
        page.send(9, {"event": "stop", "note": ""})
        wait_for(lambda: b'"match": 9' in heard.read_bytes())
    events = [json.loads(line) for line in heard.read_text().splitlines()]
    match = [event for event in events if event["match"] == 7]
    assert match[0]["do"] == "open"
    assert match[-1] == {"do": "stop", "match": 7, "note": ""}
    steps = [(event["step"], event["terms"]) for event in match if event["do"] == "step"]
    assert steps == [(i + 1, [str(move) for move in moves]) for i, moves in enumerate(record.moves)]
    assert [event["match"] for event in events] == [7] * len(match) + [8] * 1000 + [9]
    assert complaints == []


def test_page_that_dies_or_hangs_is_named_once_and_the_match_goes_on(monkeypatch, tmp_path):
    heard = stub_page(monkeypatch, tmp_path, lines=1)
    heard.touch()
    complaints = []
    with LivePage(0, complaints.append) as page:
        wait_for(lambda: page.send(1, {"event": "wait", "roles": []}) or complaints)
        page.send(1, {"event": "wait", "roles": []})
        page.wait_until_interrupted()
    assert complaints == ["the page has ended: its process has died"]
    heard.unlink()
    monkeypatch.setattr(live_page, "_WAITING_EVENTS", 3)
    with LivePage(0, complaints.append) as page:
        for _ in range(200):
            page.send(1, {"event": "think", "report": "r" * 10_000})
    assert complaints[1:] == ["the page has ended: it does not keep up with the match"]


def test_page_that_dies_after_the_match_ends_the_wait_for_its_reader(monkeypatch, tmp_path):
    heard = stub_page(monkeypatch, tmp_path, lines=0)
    complaints = []
    with LivePage(0, complaints.append) as page:
        heard.touch()
        page.wait_until_interrupted()
    assert complaints == ["the page has ended: its process has died"]


def test_player_tells_its_page_what_it_knows_of_a_match():
    events = []

    async def scenario():
        async with running_player(on_event=lambda number, event: events.append((number, event))) as server:
            assert await send(server.port, f"(START M b ({HIDING}) 5 5)") == "ready"
            assert await send(server.port, "(PLAY M 0 NIL NIL)") == "x"
            assert await send(server.port, "(STOP M 1 x (mine))") == "done"

    asyncio.run(scenario())
    assert {number for number, _ in events} == {1}
    match, about = None, {}
    for _, event in events:
        arguments = dict(event)
        kind = arguments.pop("event")
        if kind == "open":
            match = Followed()
            about = match.follow(**arguments)
        elif kind != "think":
            getattr(match, kind)(**arguments)
    sent = match.states
    assert (about["own_role"], about["is_blind"], about["seats"]) == ("b", True, ["", "legal"])
    assert [state["waiting"] for state in sent[:2]] == [["b"], []]
    assert (sent[-1]["percepts"], sent[-1]["note"]) == ([["mine"]], "The match is over")
