"""State processes: positions, errors, reuse, and an end whatever they are computing."""

import asyncio
import random
import time
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

import ggp
from gdl.program import unpack
from ggp.player_server.http_listener import BadRequest
from ggp.player_server.message_reader import MAX_CHARACTERS, MessageReader
from ggp.player_server.process_pools import StatePool
from ggp.player_server.state_process import ShortSearch, StateProcess
from ggp.processes.child import Child, ChildError, ChildFullError, ChildGoneError
from ggp.protocol.messages import ProtocolError, parse_message
from tests.ggp.wire import inside

pytestmark = pytest.mark.slow  # processes

TICTACTOE = (Path(__file__).resolve().parents[3] / "games" / "tictactoe.kif").read_text(encoding="utf-8")
NUMBERS = " ".join(f"(n {number})" for number in range(1000))
EXPLOSION = (
    f"(role x) {NUMBERS} (<= (init (cell ?a ?b ?c)) (n ?a) (n ?b) (n ?c)) (<= (next ?f) (true ?f))"
    "(legal x go) (goal x 0) (<= terminal (true q))"
)
"""The initial state has 10^9 facts."""


@asynccontextmanager
async def child_process(mebibytes=1024):
    child = Child("ggp.player_server.state_process", str(mebibytes))
    yield child
    await child.aclose()


@asynccontextmanager
async def opened_pool():
    pool = StatePool(spares=1)
    await pool.open()
    yield pool
    await pool.close()


async def ask(child, do, **arguments):
    return await asyncio.wrap_future(child.ask(do, **arguments))


async def load(child, rules=TICTACTOE, role="x"):
    await ask(child, "parse", rules=rules)
    return await ask(child, "load", role=role, seed=1)


@inside(child_process, "child")
async def test_state_process_follows_a_match_and_searches_in_it(child):
    loaded = await load(child)
    assert loaded["own_index"] == 0
    assert len(loaded["position"]["legal"]) == 9
    late, moves = time.monotonic() + 60, ["(mark 2 2)", "noop"]
    after = await ask(child, "advance", terms=moves, own_move="(mark 2 2)", deadline=late)
    assert (after["step"], after["legal"]) == (1, ["noop"])
    again = await ask(child, "advance", terms=moves, own_move=None, deadline=late)
    assert (again["step"], again["state"], again["note"]) == (1, after["state"], "repeated")
    assert await ask(child, "search", cpu_seconds=0.2, deadline=time.monotonic() + 60) == "noop"


@pytest.mark.parametrize(
    ("rules", "role", "why"),
    [
        ("(role", "x", "START:1:1: error GDL101"),
        (TICTACTOE, "spectator", "no role spectator"),
        ("tictactoe", "x", "without rules"),
    ],
)
@inside(child_process, "child")
async def test_state_process_reports_rules_at_fault(child, rules, role, why):
    with pytest.raises(ChildError, match=why) as caught:
        await load(child, rules, role)
    assert not isinstance(caught.value, ChildGoneError)
    with pytest.raises(ChildError):
        await ask(child, "dance")
    assert await load(child)


def test_rules_of_a_message_are_never_the_name_of_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for rules in ("(role a)", "(role a) ; b.kif"):
        (tmp_path / rules).write_text("(role from_the_file)")
        program = unpack(StateProcess().parse(rules)["program"])
        assert [str(rule.head) for rule in program.rules] == ["(role a)"]


def test_aborted_matches_do_not_hold_up_the_start_of_others(monkeypatch):
    async def scenario():
        pool, added = StatePool(spares=0), []

        async def add_warm(do, seconds):
            added.append(do)
            await asyncio.sleep(0.01)
            pool.idle.append(SimpleNamespace(is_gone=False))

        monkeypatch.setattr(pool, "_add_warm", add_warm)
        aborted = [asyncio.create_task(pool.take(lambda: True)) for _ in range(20)]
        await pool.take()
        results = await asyncio.gather(*aborted, return_exceptions=True)
        waiting = asyncio.create_task(pool.take())
        await pool.close()
        return added, [*results, *await asyncio.gather(waiting, return_exceptions=True)]

    added, results = asyncio.run(scenario())
    assert added == ["forget"]
    assert [type(each) for each in results] == [ChildGoneError] * 21


@inside(opened_pool, "pool")
async def test_state_process_is_killed_whatever_it_computes(pool):
    child = await pool.take()
    loading = asyncio.create_task(load(child, EXPLOSION))
    await asyncio.sleep(0.3)
    assert child.is_busy
    pool.give_back(child)
    begin = time.monotonic()
    with pytest.raises(ChildGoneError):
        await loading
    assert time.monotonic() - begin < 1.0
    other = await pool.take()
    assert await load(other)
    await other.aclose()


@inside(lambda: child_process(mebibytes=200), "child")
async def test_state_process_ends_by_itself_when_its_memory_is_full(child):
    async with asyncio.timeout(300):
        with pytest.raises(ChildFullError):
            await load(child, EXPLOSION)


@inside(opened_pool, "pool")
async def test_idle_state_processes_serve_match_after_match(pool):
    seen = set()
    for _ in range(5):
        child = await pool.take()
        seen.add(child.pid)
        await load(child)
        pool.give_back(child)
        while not pool.idle:
            await asyncio.sleep(0.01)
    await pool.close()
    assert len(seen) == 1
    assert child.pid is None


@pytest.mark.parametrize(
    "text",
    [
        f"(START M1 x ({TICTACTOE}) 10 5)",
        f"(PREVIEW ({TICTACTOE}) 10)",
        "(PLAY m 7 (a b) (" + "(mark 1 1) " * 1000 + "))",
        "(STOP m (" + "(mark 1 1) " * 1000 + "))",
        "(INFO " + "x " * 5000 + ")",
        "(ABORT m " + "x " * 5000 + ")",
    ],
)
def test_long_messages_are_read_as_short_ones_are(text):
    text = text.ljust(5000)
    assert asyncio.run(MessageReader().read(text, "127.0.0.1")) == parse_message(text)


@pytest.mark.parametrize(
    "text",
    [
        "(START m x (" + "a " * MAX_CHARACTERS,
        "(PLAY m (" + "(a) " * 20_000 + "))",
        " " * 4_000_000,
        ";" * 4_000_000,
        " " * 40_000 + "(START m x ((a)) 9 5)",
    ],
    ids=lambda text: text[:20],
)
def test_messages_that_are_too_long_are_refused_whatever_they_begin_with(text):
    with pytest.raises(BadRequest) as caught:
        asyncio.run(MessageReader().read(text, "a"))
    assert caught.value.status == 413


def test_long_messages_at_fault_are_refused():
    with pytest.raises(ProtocolError, match="nested deeper"):
        asyncio.run(MessageReader().read("(START m x (" + "(" * 50_000, "a"))


def test_long_messages_of_one_peer_wait_and_others_pass_them():
    async def scenario():
        reader = MessageReader()
        text = "(START m x (" + "(a b) " * 20_000 + ") 10 5)"
        done = []

        async def read(peer):
            try:
                await reader.read(text, peer)
            except BadRequest as error:
                return error.status
            done.append(peer)
            return 200

        many = [asyncio.create_task(read("many")) for _ in range(20)]
        await asyncio.sleep(0)
        one = asyncio.create_task(read("one"))
        statuses = await asyncio.gather(*many)
        await one
        return statuses, done.index("one")

    statuses, place = asyncio.run(scenario())
    assert (statuses.count(200), statuses.count(503)) == (16, 4)
    assert place <= 2


def test_long_messages_are_read_in_many_turns_of_the_event_loop():
    async def scenario():
        text, turns = "(START m x (" + "(a b) " * 50_000 + ") 9 5)", 0
        reading = asyncio.create_task(MessageReader().read(text, "a"))
        while not reading.done():
            await asyncio.sleep(0)
            turns += 1
        return turns, reading.result().match_id

    turns, match_id = asyncio.run(scenario())
    assert turns >= 50
    assert match_id == "m"


def test_other_messages_of_a_peer_can_wait_for_its_long_ones():
    async def scenario():
        reader = MessageReader()
        reading = asyncio.create_task(reader.read("(START m x (" + "(a b) " * 20_000 + ") 9 5)", "a"))
        await asyncio.sleep(0)
        await reader.catch_up("another")
        is_read = [reading.done(), reader.is_behind]
        await reader.catch_up("a")
        return [*is_read, reading.done(), reader.is_behind]

    assert asyncio.run(scenario()) == [False, True, True, False]


def test_short_search_completes_a_playout_however_little_cpu_time_it_gets():
    game = ggp.load("tictactoe", engine="reasoner")
    state, role = game.initial_state(), game.roles[0]
    search = ShortSearch(game, state, role, game.legal_moves(state, role), random.Random(1))
    for count in (1, 2, 3):
        search.run(time.monotonic() + 60, cpu_seconds=0.0)
        assert search.playouts == count
    assert search.best() is not None
