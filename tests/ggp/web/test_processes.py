"""The web server with its processes: a match over HTTP, and sheets that hang or explode."""

import asyncio
import json
import os
import time

import pytest

import ggp
from ggp.web.agent_process import AgentProcess
from ggp.web.changes import merged
from ggp.web.open_matches import ServerLimits
from ggp.web.sheet_process import check
from tests.ggp.web.test_server import log_in, opened, post, with_server

pytestmark = pytest.mark.slow

ENDLESS = (
    "(role x) (legal x a) "
    + " ".join(f"(n {i})" for i in range(60))
    + """
(<= (all ?a ?b ?c ?d ?e ?f) (n ?a) (n ?b) (n ?c) (n ?d) (n ?e) (n ?f))
(<= (legal x b) (all ?a ?b ?c ?d ?e ?f) (distinct ?a ?a))
(<= (init (p ?a ?b ?c ?d ?e ?f)) (all ?a ?b ?c ?d ?e ?f))
(<= terminal (all ?a ?b ?c ?d ?e ?f) (true (q ?f))) (goal x 0)
"""
)
SIMPLE = "(role x) (init (n 1)) (legal x a) (legal x b) (next (n 2)) (<= terminal (true (n 2))) (goal x 100)"


async def next_state(stream, state):
    """The state after the next event that changes it."""
    while True:
        line = await asyncio.wait_for(stream.content.readline(), 60)
        assert line, "the stream has ended"
        if line.startswith(b"data: ") and (event := json.loads(line[6:]))["event"] == "state":
            return merged(state, event)


@with_server()
async def test_match_is_played_over_http(client, server):
    seats = ["person", "legal"]
    status, opened = await post(client, "/api/matches", {"game": "tictactoe", "seats": seats})
    assert status == 200
    path = f"/api/matches/{opened['id']}"
    about = await (await client.get(path)).json()
    assert (about["roles"], about["seats"]) == (["x", "o"], seats)
    stream = await client.get(f"{path}/events")
    state = await next_state(stream, {})
    while not state["is_over"]:
        if state["person"]:
            body = {"step": state["step"], "role": "x", "move": state["moves"][0]}
            assert await post(client, f"{path}/play", body) == (200, None)
        state = await next_state(stream, state)
    assert state["outcome"] == "o wins" or state["goals"] is not None
    _, record = await post(client, f"{path}/record", {})
    status, again = await post(client, f"{path}/again", {})
    assert status == 200
    about_again = await (await client.get(f"/api/matches/{again['id']}")).json()
    assert (again["id"] != opened["id"], about_again["seats"]) == (True, seats)
    _, replayed = await post(client, "/api/matches", {"record": record})
    assert (await (await client.get(f"/api/matches/{replayed['id']}")).json())["is_replay"]
    assert (await post(client, f"/api/matches/{replayed['id']}/again", {}))[0] == 400
    assert (await post(client, f"{path}/close", {}))[0] == 200
    assert (await client.get(path)).status == 404


@with_server(matches=2)
async def test_match_idle_longest_ends_for_a_new_one_and_other_browsers_visit(client, server):
    ids = [(await post(client, "/api/matches", {"rules": SIMPLE}))[1]["id"] for _ in range(3)]
    assert [(await client.get(f"/api/matches/{name}")).status for name in ids] == [404, 200, 200]
    client.session.cookie_jar.clear()
    await log_in(client)
    assert (await client.get(f"/api/matches/{ids[-1]}")).status == 200  # it has the token and the address
    assert (await client.get(f"/api/matches/{ids[0]}")).status == 404


@with_server(matches=1)
async def test_page_of_a_match_that_ends_for_a_new_one_gets_the_reason(client, server):
    _, first = await post(client, "/api/matches", {"rules": SIMPLE, "seats": ["person"]})
    stream = await client.get(f"/api/matches/{first['id']}/events")
    await next_state(stream, {})
    assert (await post(client, "/api/matches", {"rules": SIMPLE}))[0] == 200
    lines = []
    while b'data: {"event": "replaced"}\n' not in lines:
        lines.append(await asyncio.wait_for(stream.content.readline(), 60))
        assert lines[-1], "the stream has ended"
    assert not any(b"gone" in line for line in lines)


@with_server()
async def test_match_that_is_being_opened_is_neither_listed_nor_found(client, server):
    opening = asyncio.create_task(post(client, "/api/matches", {"rules": SIMPLE}))
    while not (names := list(server.open_matches.matches)):
        await asyncio.sleep(0)
    assert await (await client.get("/api/matches")).json() == []
    assert (await post(client, f"/api/matches/{names[0]}/again", {}))[0] == 404
    assert (await opening)[0] == 200


@with_server(answer_seconds=5.0)
async def test_endless_sheet_is_stopped_and_the_next_one_is_checked(client, server):
    for path in ("/api/sheet/check", "/api/matches"):
        status, reply = await post(client, path, {"rules": ENDLESS})
        assert status == 410, reply
        assert reply["error"].startswith("stopped")
    status, reply = await post(client, "/api/sheet/check", {"rules": SIMPLE})
    assert (status, reply["roles"], reply["has_errors"]) == (200, ["x"], False)
    status, reply = await post(client, "/api/sheet/format", {"rules": SIMPLE})
    assert (status, reply.count("(role x)")) == (200, 1)


@pytest.mark.parametrize(
    "rules", ["(role x", "", "(((", "(" * 3000, "\x00", "(role x) (legal x (f (f (f ?x))))"]
)
@with_server()
async def test_broken_sheet_gets_a_finding_or_a_sentence(client, server, rules):
    status, reply = await post(client, "/api/sheet/check", {"rules": rules})
    assert status == 200
    assert reply["findings"] or reply["note"]
    assert (await post(client, "/api/matches", {"rules": rules}))[0] == 400


def test_a_variable_that_occurs_once_is_told_in_the_workbench():
    result = check(
        "(role x) (init (a b)) (legal x wait) (<= (next (a ?n)) (true (a ?k)) (true (a ?n)))"
        "(<= terminal (true (a c))) (goal x 100)"
    )
    assert "GDL304" in [finding["code"] for finding in result["findings"]]
    assert not result["has_errors"]


def test_title_of_a_sheet_is_short():
    assert len(check(f"; {60 * 'word '}. More.\n(role x)")["title"]) <= 41


@pytest.mark.skipif(not hasattr(os, "nice"), reason="no priorities here")
def test_searches_leave_the_processor_to_the_page():
    agents = AgentProcess(SIMPLE, 1, lambda finding: None, 1024)
    agents.start()
    child = agents._child
    assert child is not None
    assert child.pid is not None
    own, end = os.getpriority(os.PRIO_PROCESS, 0), time.monotonic() + 60
    while os.getpriority(os.PRIO_PROCESS, child.pid) <= own:
        assert time.monotonic() < end
        time.sleep(0.1)
    child.close()


def test_replay_keeps_its_address_after_a_restart(tmp_path):
    async def visit():
        record = ggp.play_match(
            ggp.load("tictactoe", engine="reasoner"), [ggp.make_player("legal")] * 2, ggp.MatchTerms(seed=1)
        ).to_json()
        async with opened(limits=ServerLimits(), kept=tmp_path) as (client, _):
            await log_in(client)
            status, replayed = await post(client, "/api/matches", {"record": record})
            assert status == 200
        async with opened(limits=ServerLimits(), kept=tmp_path) as (client, _):
            await log_in(client)
            about = await (await client.get(f"/api/matches/{replayed['id']}")).json()
            assert (about["is_replay"], about["name"]) == (True, "tictactoe")

    asyncio.run(visit())


def test_a_role_without_moves_is_told_besides_warnings():
    result = check(
        "(role x) (init (a 1)) (<= (legal x wait) (true (a ?n)) (true (b ?n)))"
        "(<= (next (a ?n)) (true (a ?n))) (<= (next (b ?n)) (true (b ?n)))"
        "(<= terminal (true (a 2))) (goal x 100)"
    )
    assert result["findings"]
    assert "legal" in result["note"]
