"""The web server's doors: token, Host, Origin, sizes, sessions. Nothing here starts a process of its own."""

import asyncio

import pytest
from aiohttp.test_utils import TestClient, TestServer, unused_port
from yarl import URL

from ggp.processes.child import ChildError
from ggp.web.access import Access
from ggp.web.server import WebServer
from ggp.web.sessions import SessionLimits

TOKEN = "token-of-this-test"


def talk(conversation, *, limits=None, clock=None):
    """Run `conversation(client, server)` against a server on a free port."""

    async def run():
        port = unused_port()
        server = WebServer(
            Access("127.0.0.1", port, TOKEN), limits or SessionLimits(), clock=clock or (lambda: 0.0)
        )
        client = TestClient(TestServer(server.make_app(), port=port))
        await client.start_server()
        try:
            return await conversation(client, server)
        finally:
            await client.close()

    return asyncio.run(run())


def origin(client):
    return {"Origin": f"http://127.0.0.1:{client.port}"}


async def log_in(client):
    return await client.get(f"/?token={TOKEN}")


@pytest.mark.parametrize(
    "path", ["/", "/workbench", "/match/x", "/api/games", "/?token=wrong", "/api/matches/x"]
)
def test_page_is_refused_without_the_token(path):
    async def conversation(client, server):
        reply = await client.get(path)
        assert reply.status == 403
        assert "token" in (await reply.json())["error"]

    talk(conversation)


def test_token_is_exchanged_for_a_cookie_and_leaves_the_address():
    async def conversation(client, server):
        reply = await log_in(client)
        assert (reply.status, reply.url.query_string) == (200, "")
        assert len(server.sessions) == 1
        cookie = reply.history[0].headers["Set-Cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=Strict" in cookie
        assert "default-src 'self'" in reply.headers["Content-Security-Policy"]

    talk(conversation)


def test_token_never_leads_to_another_host():
    async def conversation(client, server):
        address = f"http://127.0.0.1:{client.port}//evil.example/?token={TOKEN}"
        reply = await client.session.get(address, allow_redirects=False)
        assert (reply.status, reply.headers["Location"]) == (302, "/evil.example/")

    talk(conversation)


@pytest.mark.parametrize("path", ["/%5Cevil.example/", "/%09/evil.example", "/%2F%5Cevil.example", "/%0A/x"])
def test_target_after_login_is_a_path_of_our_own(path):
    async def conversation(client, server):
        address = URL(f"http://127.0.0.1:{client.port}{path}?token={TOKEN}", encoded=True)
        reply = await client.session.get(address, allow_redirects=False)
        assert (reply.status, reply.headers["Location"]) in ((302, "/"), (302, "/evil.example"))
        reply = await client.session.get(
            client.make_url(f"/match/a_b-c?token={TOKEN}"), allow_redirects=False
        )
        assert reply.headers["Location"] == "/match/a_b-c"

    talk(conversation)


def test_login_from_a_file_is_answered_by_a_page():
    async def conversation(client, server):
        assert "/login?token=" in server.access.opening_page
        reply = await client.get(f"/login?token={TOKEN}")
        assert (reply.status, len(reply.history), reply.content_type) == (200, 0, "text/html")
        assert (await client.get("/")).status == 200

    talk(conversation)


HTML = {"Accept": "text/html,*/*;q=0.8"}


@pytest.mark.parametrize(
    ("path", "status", "sentence"),
    [
        ("/nowhere", 404, "no page has this address"),
        ("/match/gone", 404, "this match has ended"),
        ("/static/" + 300 * "x", 404, "no page has this address"),
        ("/?token=<b>", 403, "wrong token"),
    ],
)
def test_browser_gets_a_page_for_an_error_and_programs_get_json(path, status, sentence):
    async def conversation(client, server):
        await log_in(client)
        reply = await client.get(path, headers=HTML)
        text = await reply.text()
        assert (reply.status, reply.content_type) == (status, "text/html")
        assert sentence in text.lower()
        assert "<button" not in text
        assert "default-src 'self'" in reply.headers["Content-Security-Policy"]
        reply = await client.get(path)
        assert (reply.status, sentence in (await reply.json())["error"]) == (status, True)

    talk(conversation)


def test_browser_without_the_token_gets_a_page():
    async def conversation(client, server):
        reply = await client.get("/workbench", headers=HTML)
        assert (reply.status, reply.content_type) == (403, "text/html")
        assert "token" in await reply.text()
        reply = await client.get("/api/games", headers=HTML)
        assert (reply.status, reply.content_type) == (403, "application/json")

    talk(conversation)


def test_mistake_of_the_server_is_logged_and_answered(monkeypatch, caplog):
    async def conversation(client, server):
        await log_in(client)
        monkeypatch.setattr(server.sessions, "ask_sheets", lambda *given: 1 / 0)
        reply = await client.post("/api/sheet/check", json={"rules": "x"}, headers=origin(client))
        assert (reply.status, "log" in (await reply.json())["error"]) == (500, True)

    talk(conversation)
    assert "ZeroDivisionError" in caplog.text


def test_programs_send_the_token_with_each_request_and_share_a_session():
    async def conversation(client, server):
        for _ in range(2):
            reply = await client.get("/api/games", headers={"Authorization": f"Bearer {TOKEN}"})
            assert reply.status == 200
        assert len(server.sessions) == 1
        assert "Set-Cookie" not in reply.headers
        for header in ("Bearer wrong", "Basic dG9rZW4=", TOKEN, ""):
            assert (await client.get("/api/games", headers={"Authorization": header})).status == 403
        # The token does not make up for a foreign Host, and other pages get no leave to send it.
        rebound = {"Authorization": f"Bearer {TOKEN}", "Host": "rebound.example"}
        assert (await client.get("/api/games", headers=rebound)).status == 403
        asked = {"Origin": "http://evil.example", "Access-Control-Request-Headers": "authorization"}
        assert (
            "Access-Control-Allow-Origin" not in (await client.options("/api/games", headers=asked)).headers
        )
        assert (await client.get("/", headers={"Authorization": f"Bearer {TOKEN}"})).status == 403

    talk(conversation)


def test_foreign_host_is_refused_even_with_the_token():
    async def conversation(client, server):
        reply = await client.get(f"/?token={TOKEN}", headers={"Host": "rebound.example"})
        assert reply.status == 403

    talk(conversation)


@pytest.mark.parametrize("headers", [{}, {"Origin": "http://evil.example"}, {"Origin": "null"}])
def test_post_from_another_page_is_refused(headers):
    async def conversation(client, server):
        await log_in(client)
        reply = await client.post("/api/matches", json={"game": "nim"}, headers=headers)
        assert reply.status == 403
        assert "other pages" in (await reply.json())["error"]

    talk(conversation)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"no json", 400),
        (b"[1]", 400),
        (b"{}", 400),
        (b'{"game": 3}', 400),
        (b'{"game": "../../etc/passwd"}', 404),
        (b'{"game": "nim", "seats": [1]}', 400),
        (b"x" * 3000, 413),
    ],
)
def test_malformed_request_gets_a_sentence(body, status):
    async def conversation(client, server):
        await log_in(client)
        reply = await client.post("/api/matches", data=body, headers=origin(client))
        assert reply.status == status
        assert (await reply.json())["error"]

    talk(conversation, limits=SessionLimits(sheet_bytes=2000))


def test_sessions_are_limited_and_the_one_idle_longest_ends():
    times = iter(range(100))

    async def conversation(client, server):
        names = [(await server.sessions.begin()).name for _ in range(4)]
        assert len(server.sessions) == 2
        assert [server.sessions.find(name) is not None for name in names] == [False, False, True, True]

    talk(conversation, limits=SessionLimits(sessions=2), clock=lambda: next(times))


def test_logins_at_once_leave_no_session_too_many():
    async def conversation(client, server):
        started = asyncio.Event()

        async def close_slowly(session):
            await started.wait()

        names = [(await server.sessions.begin()).name for _ in range(2)]
        for name in names:
            session = server.sessions.find(name)
            session.close = close_slowly.__get__(session)
        logins = [asyncio.create_task(server.sessions.begin()) for _ in range(10)]
        await asyncio.sleep(0)
        started.set()
        await asyncio.gather(*logins)
        assert len(server.sessions) == 2

    talk(conversation, limits=SessionLimits(sessions=2))


def test_session_that_has_ended_starts_no_process():
    async def conversation(client, server):
        session = await server.sessions.begin()
        await session.close()
        for start in (
            server.sessions.ask_sheets(session, "check", "(role x)", 5.0),
            server.sessions.open_match(session, "open", {}),
        ):
            with pytest.raises(ChildError, match="session has ended"):
                await start
        assert (session.sheets, len(session.matches)) == (None, 0)

    talk(conversation)


def test_idle_session_ends():
    now = [0.0]

    async def conversation(client, server):
        session = await server.sessions.begin()
        now[0] = 9.0
        await server.sessions.end_idle()
        assert server.sessions.find(session.name) is session
        now[0] = 20.0
        await server.sessions.end_idle()
        assert server.sessions.find(session.name) is None

    talk(conversation, limits=SessionLimits(idle_seconds=10.0), clock=lambda: now[0])


def test_list_has_every_bundled_game():
    async def conversation(client, server):
        await log_in(client)
        games = await (await client.get("/api/games")).json()
        assert {"tictactoe", "nim", "kuhn_poker"} <= {game["name"] for game in games}
        assert (await client.get("/api/games/nim/rules")).status == 200
        assert (await client.get("/api/games/nowhere/rules")).status == 404

    talk(conversation)
