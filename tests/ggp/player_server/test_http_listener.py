"""HTTP requests as peers write them, over real sockets: answered, or refused without harm."""

import asyncio

import pytest

from ggp.player_server.http_listener import HttpListener, HttpResponse, RequestLimits
from tests.ggp.wire import exchange, in_thread, post, running_player, with_player

INFO = "( ( name ggp-lanes ) ( status available ) ( species alien ) )"


@pytest.fixture(scope="module")
def port():
    """Where one player answers all requests that ask nothing else of it."""
    options = {"allowed_origins": ("http://good.example/",), "limits": RequestLimits(body_bytes=5000)}
    with in_thread(running_player(**options)) as server:
        yield server.port


def head_and_body(port, data, **options):
    head, _, body = asyncio.run(exchange(port, data, **options)).decode().partition("\r\n\r\n")
    return head, body


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/acl\r\nContent-Length: 8\r\n\r\n( INFO )",
        b"POST / HTTP/1.0\r\nContent-Length: 8\r\n\r\n( INFO )",
        b"POST / HTTP/1.0\r\n\r\n( INFO )",
        b"POST / HTTP/1.0\n\n( INFO )",
        b"POST / HTTP/1.0\nContent-length:8\n\n( INFO )",
        b"post / http/1.0\r\nsender: GM\r\n\r\n(info)",
        b"POST http://127.0.0.1/ HTTP/1.1\r\nContent-Length: 6\r\n\r\n(Info)",
        b"POST / HTTP/1.1\r\nno colon here\r\nContent-Length: 6\r\n\r\n(INFO)",
        b"POST / HTTP/1.1\r\nContent-Type: text/acl; charset=klingon\r\nContent-Length: 8\r\n\r\n( INFO )",
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n( IN\r\n4\r\nFO )\r\n0\r\n\r\n",
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n( INFO )\r\nzz\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: many\r\n\r\n( INFO )",
        b"POST / HTTP/1.0\r\n\r\n" + "( INFO )".encode("utf-16-le"),
        b"POST / HTTP/1.0\r\nContent-Length: 16\r\n\r\n" + "( INFO )".encode("utf-16-be"),
        b"POST / HTTP/1.1\r\nX Y: z\r\nContent-Length : 6\r\n\r\n(INFO)",
        b"POST / HTTP/1.0\r\nContent-Length: 11\r\n\r\n\xef\xbb\xbf( INFO )",
        b"POST / HTTP/1.0\r\n\r\n\xef\xbb\xbf( INFO )",
        b"POST / HTTP/1.0\r\nContent-Length: 9\r\n\r\n( INFO )\0",
        b"POST / HTTP/1.0\r\nContent-Length: 18\r\n\r\n" + "( INFO )".encode("utf-16"),
        b"POST / HTTP/1.0\r\n\r\n" + b"\xfe\xff" + "( INFO )".encode("utf-16-be"),
        b"POST / HTTP/1.0\r\nContent-Length: 17\r\n\r\n" + "(INFO Gr\u00f6\u00dfe \u20ac)".encode(),
        b"GET /%EF%BB%BF(INFO) HTTP/1.0\r\n\r\n",
        b"GET /%28+INFO+%29 HTTP/1.1\r\nHost: 127.0.0.1:9147\r\n\r\n",
        b"GET /(%20INFO%20) HTTP/1.0\r\n\r\n",
        b"GET /(INFO)\r\n\r\n",
    ],
)
def test_player_answers_info_in_any_form(request_bytes, port):
    head, body = head_and_body(port, request_bytes)
    assert head.startswith("HTTP/1.1 200 OK\r\n")
    assert "Content-Type: text/acl\r\n" in head
    assert f"Content-Length: {len(INFO)}\r\n" in head
    assert "Access-Control" not in head
    assert body == INFO


def test_player_reads_a_body_that_is_shorter_than_announced(port):
    data = b"POST / HTTP/1.0\r\nContent-Length: 50\r\n\r\n( INFO )"
    assert head_and_body(port, data, half_close=True)[1] == INFO


def test_player_reads_a_chunk_that_is_shorter_than_announced(port):
    head = b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n( IN\r\n9\r\n"
    assert head_and_body(port, head + b"FO )", half_close=True)[1] == INFO
    assert "bad chunk" in head_and_body(port, head + b"FO", half_close=True)[1]


@with_player(limits=RequestLimits(quiet_seconds=0.05))
async def test_player_waits_for_a_sender_that_pauses_within_a_message(server):
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(b"POST / HTTP/1.0\r\nContent-Length: 8\r\n\r\n( IN")
    await asyncio.sleep(0.3)
    writer.write(b"FO )")
    assert (await reader.read()).decode().endswith(INFO)


def test_player_answers_options_with_cors_headers(port):
    head, body = head_and_body(port, b"OPTIONS / HTTP/1.1\r\nOrigin: http://good.example\r\n\r\n")
    assert head.startswith("HTTP/1.1 200 ")
    assert "Content-Length: 0" in head
    assert "Access-Control-Allow-Origin: http://good.example\r\n" in head
    assert body == ""


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ("Host: 127.0.0.1:9147", "200"),
        ("Host: localhost:9147", "200"),
        ("Host: [::1]:9147", "200"),
        ("Host: 127.0.0.1:9147\r\nOrigin: http://127.0.0.1:9147", "200"),
        ("Host: 127.0.0.1:9147\r\nOrigin: http://good.example", "200"),
        ("Sec-Fetch-Site: none", "200"),
        ("Host: evil.example", "403"),
        ("Host: 192.0.2.7:9147", "403"),
        ("Host: 127.0.0.1:9147\r\nOrigin: http://evil.example", "403"),
        ("Host: 127.0.0.1:9147\r\nOrigin: null", "403"),
        ("Host: 127.0.0.1:9147\r\nSec-Fetch-Site: cross-site", "403"),
        ("Host: evil.example\r\nOrigin: http://evil.example", "403"),
    ],
)
@pytest.mark.parametrize("line", ["GET /(INFO) HTTP/1.1", "POST / HTTP/1.1\r\nContent-Length: 6"])
def test_player_refuses_foreign_web_pages(headers, status, line, port):
    head, body = head_and_body(port, f"{line}\r\n{headers}\r\n\r\n(INFO)".encode())
    assert head.split()[1] == status
    assert (body == INFO) is (status == "200")
    assert "good.example" in head or "Allow-Origin: http://127.0.0.1" in head or "Access-Control" not in head


@pytest.mark.parametrize("text", ["", "( DANCE )", "(((", "( PLAY )", "( START m x )", "\x00\xff"])
def test_player_answers_400_to_other_text(text, port):
    assert asyncio.run(post(port, text)).startswith("400 error ")


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        (b"DELETE / HTTP/1.1\r\n\r\n", "405"),
        (b"\x16\x03\x01\x02\x00\r\n\r\n", "400"),
        (b"POST / HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n( INFO )", "413"),
        (b"POST / HTTP/1.1\r\nContent-Length: 20971520\r\n\r\n" + b" " * 20971520, "413"),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "400"),
        (b"POST / HTTP/1.1\r\n" + b"A: b\r\n" * 20_000 + b"\r\n", "431"),
        (b"POST / HTTP/1.1\r\nA: " + b"b" * 200_000, "431"),
        (b"POST / HTTP/1.0\r\n\r\n" + b"(" * 3000 + b")" * 3000, "413"),
    ],
    ids=lambda value: str(value[:40]),
)
def test_player_refuses_other_bytes(request_bytes, status, port):
    assert head_and_body(port, request_bytes)[0].split()[1] == status
    assert asyncio.run(post(port, "( INFO )")) == INFO


@with_player(limits=RequestLimits(request_seconds=0.2))
async def test_player_gives_up_on_a_request_that_never_ends(server):
    assert (await exchange(server.port, b"POST / HTTP/1.1\r\nContent-")).split()[1] == b"408"


@with_player(limits=RequestLimits(connections=2))
async def test_idle_connections_do_not_keep_others_out(server, caplog):
    held = [await asyncio.open_connection("127.0.0.1", server.port) for _ in range(2)]
    for _, writer in held:
        writer.write(b"POST / HTTP/1.0\r\nContent-")
    assert [await post(server.port, "( INFO )") for _ in range(3)] == [INFO] * 3
    assert (await held[0][0].read()).split()[1] == b"503"
    for _, writer in held:
        writer.close()
    assert "Traceback" not in caplog.text


def test_too_many_requests_at_once_are_refused():
    async def scenario():
        release, begun = asyncio.Event(), asyncio.Semaphore(0)

        async def answer(request):
            begun.release()
            await release.wait()
            return HttpResponse(request.text)

        listener = HttpListener(answer, RequestLimits(connections=2))
        port = await listener.listen("127.0.0.1", 0)
        waiting = []
        for number in range(2):
            waiting.append(asyncio.create_task(post(port, str(number))))
            await begun.acquire()
        refused = await post(port, "2")
        release.set()
        answers = await asyncio.gather(*waiting)
        await listener.close()
        return answers, refused

    assert asyncio.run(scenario()) == (["0", "1"], "503 error too many requests")


@with_player()
async def test_player_survives_a_manager_that_disconnects(server, caplog):
    for data in (b"", b"POST", b"POST / HTTP/1.0\r\nContent-Length: 8\r\n\r\n( INFO )"):
        _, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(data)
        writer.transport.abort()
    await asyncio.sleep(0.1)
    assert await post(server.port, "( INFO )") == INFO
    assert "Traceback" not in caplog.text
