"""Matches over HTTP: whatever the players do, the match finishes and its record is right."""

import asyncio
import gzip
import socket
import threading
from contextlib import AsyncExitStack

import pytest

import ggp
from gdl.terms import Symbol
from ggp.match.faults import Unreachable
from ggp.match.player import PlayerFaultError
from ggp.match.terms import MatchTerms
from ggp.protocol.client import ask, parse_address
from ggp.protocol.manager import NobodyThereError, manage_match, take_seats, wait_until_available
from ggp.protocol.messages import Abort, Info, Play, Start, Stop, parse_term
from tests.ggp.percept_games import COIN
from tests.ggp.wire import answering, running_player, scripted_player

TICTACTOE = ggp.load("tictactoe", engine="reasoner")
QUICK = MatchTerms(start_clock_seconds=5, play_clock_seconds=2, seed=7, match_id="m")
MATRIX = ggp.load(
    """(role row) (role column) (role third) (init (round 1)) (succ 1 2) (succ 2 3)
    (<= (legal ?r a) (role ?r)) (<= (legal ?r b) (role ?r))
    (<= (next (round ?m)) (true (round ?n)) (succ ?n ?m))
    (<= (next (saw ?r ?m)) (does ?r ?m))
    (<= terminal (true (round 3))) (<= (goal ?r 50) (role ?r))""",
    engine="reasoner",
    name="matrix",
)
ENDLESS = ggp.load(
    "(role r) (legal r wait) (init p) (<= (next p) (true p)) (<= terminal (true q)) (goal r 0)",
    engine="reasoner",
    name="endless",
)
STUCK = ggp.load(
    "(role r) (init (n 1)) (<= (legal r go) (true (n 1))) (<= (next (n 2)) (true (n 1)))"
    " (<= terminal (true q)) (goal r 0)",
    engine="reasoner",
    name="stuck",
)


def referee(game, scripts, terms=QUICK, **kwargs):
    """Play `game` between scripted players; returns the record and the messages to each of them."""

    async def scenario():
        async with AsyncExitStack() as stack:
            seats = [await stack.enter_async_context(scripted_player(script)) for script in scripts]
            record = await manage_match(game, [address for address, _ in seats], terms, **kwargs)
            return record, [heard for _, heard in seats]

    return asyncio.run(scenario())


def assert_complete(record, game):
    """The record is complete, and its moves lead from each of its states to the next."""
    assert record.is_completed
    assert not record.is_aborted
    assert len(record.states) == len(record.moves) + 1 == len(record.errors) == len(record.state_times)
    state = game.initial_state()
    for text, row in zip(record.states[1:], record.moves, strict=True):
        state = game.next_state(state, [parse_term(move) for move in row])
        assert text == "( " + " ".join(map(str, game.facts(state))) + " )"
    assert game.is_terminal(state)
    assert record.goals == [game.goal(state, role) for role in game.roles]


@pytest.mark.slow
def test_manage_match_plays_two_real_players():
    async def scenario():
        async with running_player() as first, running_player(name="Second") as second:
            addresses = [f"127.0.0.1:{first.port}", f"http://127.0.0.1:{second.port}"]
            return await manage_match(TICTACTOE, addresses, QUICK)

    record = asyncio.run(scenario())
    assert_complete(record, TICTACTOE)
    assert not any(map(any, record.errors))
    assert record.player_names[1].startswith("Second@")
    assert record.roles == ("x", "o")


def test_manage_match_sends_what_ggp_base_sends():
    moments = []
    scripts = [answering("a", "b"), answering("b"), answering("a")]
    record, (heard, _, _) = referee(MATRIX, scripts, watch=moments.append)
    start, *others = heard
    assert start == Start("m", Symbol("row"), start.rules, 5, 2)
    assert ggp.load(start.rules, engine="reasoner").roles == MATRIX.roles
    first, second = (tuple(map(Symbol, moves)) for moves in ("aba", "bba"))
    assert others == [Play("m", None), Play("m", first), Stop("m", second)]
    assert_complete(record, MATRIX)
    assert [m.step for m in moments if m.thinking is None and not m.is_over] == [0, 1, 2]
    assert moments[-1].is_over


def test_manage_match_replaces_nonsense():
    scripts = [answering("elephant"), answering("a", "((("), answering("b")]
    record, _ = referee(MATRIX, scripts)
    assert_complete(record, MATRIX)
    assert record.errors == [["", "", ""], ["IL elephant", "", ""], ["IL elephant", "IL (((", ""]]
    assert [row[2] for row in record.moves] == ["b", "b"]


def test_manage_match_draws_replacements_from_the_seed_alone():
    terms = [MatchTerms(5, 2, seed=seed, match_id="m") for seed in (1, 1, 2, 3, 4, 5)]
    records = [referee(MATRIX, [answering("elephant")] * 3, t)[0] for t in terms]
    assert records[0].moves == records[1].moves
    assert len({str(record.moves) for record in records}) > 1


def test_manage_match_continues_after_a_failed_start():
    async def busy(message):
        return "busy" if isinstance(message, Start) else "a"

    async def slow(message):
        if isinstance(message, Start):
            await asyncio.sleep(60)
        return "b"

    terms = MatchTerms(start_clock_seconds=0.5, play_clock_seconds=2, match_id="m")
    record, _ = referee(MATRIX, [busy, slow, answering("a")], terms)
    assert record.errors == [["IL busy", "TO", ""], ["", "", ""], ["", "", ""]]
    assert record.moves == [["a", "b", "a"]] * 2
    assert_complete(record, MATRIX)


@pytest.mark.slow
def test_manage_match_replaces_late_moves():
    async def sleepy(message):
        if isinstance(message, Play):
            await asyncio.sleep(60)
        return "ready"

    terms = MatchTerms(start_clock_seconds=2, play_clock_seconds=0.2, match_id="m")
    record, (_, heard, _) = referee(MATRIX, [answering("a"), sleepy, answering("b")], terms)
    assert record.errors == [["", "", ""], ["", "TO", ""], ["", "TO", ""]]
    assert [type(message) for message in heard] == [Start, Play, Play, Stop]
    assert record.move_seconds[1][1] >= 1.2
    assert_complete(record, MATRIX)


@pytest.mark.parametrize("is_gone", [True, False])
def test_manage_match_replaces_moves_of_a_player_that_is_gone_or_leaves(is_gone):
    async def scenario():
        async with AsyncExitStack() as stack:
            leaving = AsyncExitStack()
            closing = []

            async def last_answer(message):
                if isinstance(message, Play):
                    closing.append(asyncio.create_task(leaving.aclose()))
                    await asyncio.sleep(60)
                return "ready"

            address, _ = await leaving.enter_async_context(scripted_player(last_answer))
            other, _ = await stack.enter_async_context(scripted_player(answering("b")))
            if is_gone:
                await leaving.aclose()
            record = await manage_match(MATRIX, [other, address, other], QUICK)
            await asyncio.gather(*closing)
            return record

    record = asyncio.run(scenario())
    assert record.errors == [["", "CE" if is_gone else "", ""], ["", "CE", ""], ["", "CE", ""]]
    assert_complete(record, MATRIX)


def test_manage_match_scrambles_and_reads_capitals():
    async def capitals(message):
        if isinstance(message, Start):
            game = ggp.load(message.rules, engine="reasoner")
            state = game.initial_state()
            capitals.move = str(game.legal_moves(state, message.role)[0]).upper()
            return "ready"
        return capitals.move

    terms = MatchTerms(5, 2, seed=3, match_id="m")
    record, (heard, *_) = referee(MATRIX, [capitals] * 3, terms, scramble=True)
    assert "round" not in heard[0].rules
    assert "role" in heard[0].rules
    assert record.errors == [["", "", ""]] * 3
    assert {move for row in record.moves for move in row} <= {"a", "b"}
    assert set(map(str, heard[2].terms)) == {capitals.move.lower()}
    assert record.is_scrambled
    assert_complete(record, MATRIX)


def test_manage_match_plays_chance_itself_and_sends_percepts():
    game = ggp.load(COIN, engine="reasoner", name="coin")
    record, (heard,) = referee(game, [answering("noop", "(peek a)", "(peek b)", "(guess b)")])
    assert len(heard) == 6
    cup = record.moves[0][0][-2]
    told = [message.terms and sorted(map(str, message.terms)) for message in heard[1:5]]
    assert told == [
        None,
        (),
        ["(looked a)", *["found"] * (cup == "a")],
        ["(looked b)", *["found"] * (cup == "b")],
    ]
    assert record.errors == [["", ""]] * 5
    assert record.goals == [0, 100 if cup == "b" else 0]
    assert record.move_seconds[1][0] is None


@pytest.mark.parametrize(("game", "fault"), [(ENDLESS, "no end after 4 steps"), (STUCK, "step 1: ")])
def test_manage_match_aborts_games_that_cannot_be_played(game, fault):
    terms = MatchTerms(5, 2, match_id="m", step_limit=4)
    script = answering("go" if game is STUCK else "wait")
    record, (heard,) = referee(game, [script], terms)
    assert record.is_aborted
    assert not record.is_completed
    assert record.goals is None
    assert fault in record.fault
    assert heard[-1] == Abort("m")
    assert len(record.states) == len(record.moves) + 1 == len(record.errors)


@pytest.mark.parametrize("seconds", [None, 0.0, 0.05, 0.2])
def test_manage_match_is_cancelled_within_and_between_requests(seconds):
    """None: the player never answers."""
    answer = answering("wait")

    async def script(message):
        if isinstance(message, Play) and seconds is None:
            await asyncio.sleep(60)
        return await answer(message)

    async def scenario():
        records = []
        terms = MatchTerms(5, 2, match_id="m", step_limit=10**6)
        async with scripted_player(script) as (address, heard):
            task = asyncio.create_task(manage_match(ENDLESS, [address], terms, record=records.append))
            while not any(isinstance(message, Play) for message in heard):
                await asyncio.sleep(0.01)
            await asyncio.sleep(seconds or 0.0)
            task.cancel()
            async with asyncio.timeout(30):
                with pytest.raises(asyncio.CancelledError):
                    await task
            return records[0], heard

    record, heard = asyncio.run(scenario())
    assert (record.is_aborted, record.fault) == (True, "stopped by the manager")
    assert heard[-1] == Abort("m")
    assert len(record.states) == len(record.moves) + 1 == len(record.errors)


def test_take_seats_requires_one_address_per_role():
    with pytest.raises(ValueError, match="needs 3 players"):
        take_seats(MATRIX, ["a:1", "b:2"])
    chance, seat = take_seats(ggp.load(COIN, engine="reasoner"), ["h:1"])
    assert (chance, seat.url) == (None, "http://h:1")


# --- replies in the wild ------------------------------------------------------------------------


async def reply_with(data, stays_open=False, limit=5):
    """The result of `ask` for a peer that answers with raw bytes."""

    async def serve(reader, writer):
        await reader.read(65536)
        writer.write(data)
        await writer.drain()
        if not stays_open:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        return await ask(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", Info(), limit)
    finally:
        server.close()


@pytest.mark.parametrize("length", ["", "Content-Length: 10\r\n", "Content-Length: 12\r\n"])
def test_ask_does_not_wait_for_a_connection_that_stays_open(length):
    data = f"HTTP/1.1 200 OK\r\n{length}\r\n(mark 1 1)".encode()
    reply = reply_with(data, stays_open=True, limit=60)
    assert asyncio.run(asyncio.wait_for(reply, 30)) == "(mark 1 1)"


@pytest.mark.parametrize(
    "data",
    [
        b"HTTP/1.0 200 OK\r\n\r\n(mark 1 1)",
        b"HTTP/1.0 200 OK\n\n(mark 1 1)",
        b"HTTP/1.0 200\r\nContent-Length: 10\r\n\r\n(mark 1 1)",
        b"HTTP/1.1 599 weird\r\nContent-Length: 10\r\n\r\n(mark 1 1)",
        b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 10\r\n\r\n(mark 1 1)",
        b"HTTP/1.1 200 OK\r\nContent-Length: 40\r\n\r\n(mark 1 1)",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 10\r\n\r\n(mark 1 1)",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\n(mark 1 1)\r\n0\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n(mark 1 1)",
        b"HTTP/1.1 200 OK\r\nA B: c\r\nno colon at all\r\nContent-Length : 10\r\n\r\n(mark 1 1)",
        b"HTTP/1.1 200 OK\r\nContent-Length: ten\r\n\r\n(mark 1 1)",
        b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n(mark 1 1)",
        b"HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\n\xef\xbb\xbf(mark 1 1)",
        b"HTTP/1.1 200 OK\r\n\r\n" + "(mark 1 1)".encode("utf-16"),
        b"HTTP/1.1 200 OK\r\n\r\n\r\n(mark 1 1)\r\n\0",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + gzip.compress(b"(mark 1 1)", mtime=0),
    ],
)
def test_ask_reads_replies_of_any_form(data):
    assert asyncio.run(reply_with(data)) == "(mark 1 1)"


@pytest.mark.parametrize(
    "text", ["( ( name M\u00fcller ) )", "(\u00fc)", "(go \u00c4\u00d6\u00dc\u20ac)", "gr\u00f6\u00dfe"]
)
def test_ask_reads_replies_whose_length_counts_characters(text):
    head = f"HTTP/1.0 200 OK\r\nContent-Length: {len(text)}\r\n\r\n"
    assert asyncio.run(reply_with(head.encode() + text.encode())) == text


def test_ask_reads_the_reply_of_a_peer_that_resets_the_connection():
    """Closing a socket with unread data resets its connection; the answer has arrived before that."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve():
        connection, _ = listener.accept()
        connection.recv(10)
        connection.sendall(b"HTTP/1.0 200 OK\r\n\r\n(mark 1 1)")
        connection.close()

    thread = threading.Thread(target=serve)
    thread.start()
    assert asyncio.run(ask(f"http://127.0.0.1:{listener.getsockname()[1]}", Info(), 5)) == "(mark 1 1)"
    thread.join()
    listener.close()


@pytest.mark.parametrize("data", [b"", b"(mark 1 1)", b"\x00\xff\x00\xff"])
def test_ask_reports_unreadable_replies_as_a_connection_error(data):
    with pytest.raises(PlayerFaultError) as caught:
        asyncio.run(reply_with(data))
    assert caught.value.fault == Unreachable()


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("127.0.0.1:9147", "http://127.0.0.1:9147"),
        ("http://host:80/", "http://host:80"),
        ("[::1]:9147", "http://[::1]:9147"),
    ],
)
def test_parse_address_reads(text, url):
    assert parse_address(text) == url


@pytest.mark.parametrize("text", ["", "https://host:1", "host:port", "host:99999", "http://host/path"])
def test_parse_address_refuses(text):
    with pytest.raises(ValueError, match=r"port|Port|address"):
        parse_address(text)


@pytest.mark.parametrize(
    ("reply", "fault"),
    [
        *(
            (reply, "")
            for reply in ("ready", "READY", "ready.", '"ready"', "(ready)", "\r\nready\r\n", "READY\0")
        ),
        *((reply, f"IL {reply}") for reply in ("", "not ready", "busy", "ok")),
    ],
)
def test_start_is_accepted_in_any_spelling_of_ready_alone(reply, fault):
    async def script(message):
        return reply if isinstance(message, Start) else "a"

    record, _ = referee(MATRIX, [script, answering("a"), answering("a")])
    assert record.errors == [[fault, "", ""], ["", "", ""], ["", "", ""]]


@pytest.mark.slow
def test_manager_waits_for_players_that_prepare():
    async def scenario():
        lines = []
        async with running_player() as early, running_player() as late:
            late.is_preparing = True

            async def finish():
                await asyncio.sleep(0.7)
                late.is_preparing = False

            addresses = [f"127.0.0.1:{server.port}" for server in (early, late)]
            finishing = asyncio.create_task(finish())
            missing = await wait_until_available(addresses, limit_seconds=60, say=lines.append)
            await finishing
            record = await manage_match(TICTACTOE, addresses, QUICK)
            late.is_preparing = True
            busy = await wait_until_available(addresses, limit_seconds=0.1, say=lines.append)
        return missing, busy, lines, record

    missing, busy, lines, record = asyncio.run(scenario())
    assert (missing, busy) == ([], ["busy"])
    assert len(lines) == 3
    assert "is busy or preparing; waiting for at most 60 s" in lines[0]
    assert {code for row in record.errors for code in row} == {""}


@pytest.mark.parametrize(
    ("info", "fault"),
    [
        (b"", "connection closed without an answer"),
        (b"HTTP/1.0 400 Bad Request\r\nContent-Length: 0\r\n\r\n", "empty reply"),
        (b"(available)", "the answer is not HTTP"),
    ],
)
def test_manager_plays_with_players_that_do_not_know_info(info, fault):
    """START decides whether a player plays; INFO is younger than many of them."""

    async def serve(reader, writer):
        text = (await reader.read(65536)).decode()
        if "INFO" in text:
            writer.write(info)
        else:
            writer.write(b"HTTP/1.0 200 OK\r\n\r\n" + (b"ready" if "START" in text else b"a"))
        writer.close()

    async def scenario():
        lines = []
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        address = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        await wait_until_available([address], limit_seconds=0.0, say=lines.append)
        record = await manage_match(MATRIX, [address] * 3, QUICK)
        server.close()
        return address, lines, record

    address, lines, record = asyncio.run(scenario())
    assert lines == [f"{address} does not answer INFO ({fault}) after 0 s; continuing without waiting"]
    assert record.errors == [["", "", ""]] * 3


def test_manager_reports_that_nobody_is_there():
    waiting = wait_until_available(["127.0.0.1:1"], limit_seconds=0.0, say=lambda line: None)
    with pytest.raises(NobodyThereError, match=r"no player listens at 127\.0\.0\.1:1"):
        asyncio.run(waiting)


# --- players that cannot be reached --------------------------------------------------------------


def fault_of(url: str) -> str:
    with pytest.raises(PlayerFaultError) as caught:
        asyncio.run(ask(url, Info(), 2.0))
    return str(caught.value)


def test_refused_connection_is_described_in_plain_words():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    assert fault_of(url) == f"{url}: no player is listening there (connection refused)"


def test_unknown_host_is_described_in_plain_words(monkeypatch):
    async def fail(*arguments: object, **options: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(asyncio.base_events.BaseEventLoop, "getaddrinfo", fail)
    assert fault_of("http://no.such.host:9147").endswith(": unknown host")
