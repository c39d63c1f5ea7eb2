"""The web server's doors: token, Host, Origin, sizes. Nothing here starts a process of its own."""

import asyncio
import json
import os
import re
import shutil
from contextlib import asynccontextmanager

import pytest
from aiohttp.test_utils import TestClient, TestServer, unused_port
from yarl import URL

from ggp.processes.child import ChildError
from ggp.web.access import Access
from ggp.web.kept_matches import KeptMatches
from ggp.web.open_matches import OpenMatch, ServerLimits
from ggp.web.server import STATIC, WebServer, static_version
from tests.ggp.wire import inside

TOKEN = "token-of-this-test"
BEARER = {"Authorization": f"Bearer {TOKEN}"}
HTML = {"Accept": "text/html,*/*;q=0.8"}


@asynccontextmanager
async def opened(make=WebServer, **options):
    """A client, and the server that it reaches on a free port."""
    port = unused_port()
    server = make(Access("127.0.0.1", port, TOKEN), **options)
    async with TestClient(TestServer(server.make_app(), port=port)) as client:
        yield client, server


def with_server(*, is_logged_in=True, clock=lambda: 0.0, **limits):
    """Decorate a coroutine as a test of `client` and `server`."""

    @asynccontextmanager
    async def logged_in():
        async with opened(limits=ServerLimits(**limits), clock=clock) as both:
            if is_logged_in:
                await log_in(both[0])
            yield both

    return inside(logged_in, "client", "server")


async def log_in(client):
    return await client.get(f"/?token={TOKEN}")


async def post(client, path, body, headers=None):
    """Status and data of the answer to a request of our own page; `body`: bytes or what becomes JSON."""
    headers = {"Origin": f"http://127.0.0.1:{client.port}", **(headers or {})}
    sent = {"data": body} if isinstance(body, bytes) else {"json": body}
    reply = await client.post(path, headers=headers, **sent)
    return reply.status, await reply.json()


@pytest.mark.parametrize(
    "path", ["/", "/workbench", "/match/x", "/api/games", "/?token=wrong", "/api/matches/x"]
)
@with_server(is_logged_in=False)
async def test_page_is_refused_without_the_token(client, server, path):
    reply = await client.get(path)
    assert reply.status == 403
    assert "token" in (await reply.json())["error"]
    reply = await client.get(path, headers=HTML)
    is_page = not path.startswith("/api/")
    assert (reply.status, reply.content_type) == (403, "text/html" if is_page else "application/json")
    assert "token" in await reply.text()


@with_server()
async def test_explanations_are_refused_to_other_pages_and_for_damaged_places(client, server):
    server.open_matches.matches["m"] = OpenMatch("m", about={"name": "m"})
    for site, query, status in [
        ("same-site", "step=0", 403),
        ("cross-site", "step=0", 403),
        ("same-origin", "step=x", 400),
        ("same-origin", "step=0&line={}", 400),
        ("same-origin", f"step=0&line={'[' * 4000}", 400),
        ("same-origin", "step=0", 410),  # the match has no process here
    ]:
        address = f"/match/m/explanation?by=mcts&{query}"
        assert (await client.get(address, headers={"Sec-Fetch-Site": site})).status == status, query
    assert (await client.get("/match/other/explanation?by=mcts&step=0")).status == 404


@with_server(is_logged_in=False)
async def test_token_is_exchanged_for_a_cookie_and_leaves_the_address(client, server):
    reply = await log_in(client)
    assert (reply.status, reply.url.query_string) == (200, "")
    cookie = reply.history[0].headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert "default-src 'self'" in reply.headers["Content-Security-Policy"]


@with_server(is_logged_in=False)
async def test_scripts_have_the_version_of_their_page(client, server, monkeypatch, tmp_path):
    await log_in(client)
    text = await (await client.get("/workbench")).text()
    assert 'id="setup"' in text
    paths = re.findall('"(/static/[^"]+)"', text)
    assert len(paths) >= 4
    assert all(path.startswith(f"/static/{static_version()}/") for path in paths)
    reply = await client.get(paths[0])
    assert (reply.status, reply.headers["Cache-Control"]) == (200, "private, max-age=31536000, immutable")
    assert (await client.get("/static/page.js")).headers["Cache-Control"] == "no-cache"
    shutil.copytree(STATIC, tmp_path, dirs_exist_ok=True)
    monkeypatch.setattr("ggp.web.server.STATIC", tmp_path)
    (tmp_path / "page.js").write_text("// after an update")
    assert (await client.get(paths[0])).status == 404  # an old page gets no new script
    text = await (await client.get("/workbench")).text()
    assert (await client.get(re.findall('"(/static/[^"]+)"', text)[0])).status == 200


@with_server()
async def test_page_of_a_match_has_its_first_state(client, server):
    about = {"short": "</script>", "roles": ["x", "o"], "seats": ["person", "mcts"], "turned": ["o"]}
    match = OpenMatch(
        "m", about=about, state={"event": "state", "step": 3, "board": "<svg id='drawn'></svg>"}
    )
    server.open_matches.matches["m"] = match
    text = await (await client.get("/match/m")).text()
    assert "<svg id='drawn'>" in text  # seen before the script has come
    assert "</script>" not in text[text.index('id="opening">') :].split("</script>", 1)[0]
    opening = json.loads(re.findall('id="opening">(.*?)</script>', text)[0])
    assert (opening["about"], opening["state"]) == (match.about, match.state)
    assert match.follow(opening["digest"]).empty()
    match.state = {**match.state, "step": 4}
    assert json.loads(match.follow(opening["digest"]).get_nowait()) == match.state
    about["seats"].reverse()  # the script turns the board
    assert "<svg id='drawn'>" not in await (await client.get("/match/m")).text()


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("//evil.example/", "/evil.example/"),
        ("/%5Cevil.example/", "/"),
        ("/%09/evil.example", "/"),
        ("/%2F%5Cevil.example", "/"),
        ("/%0A/x", "/"),
        ("/match/a_b-c", "/match/a_b-c"),
    ],
)
@with_server(is_logged_in=False)
async def test_target_after_login_is_a_path_of_our_own(client, server, path, target):
    address = URL(f"http://127.0.0.1:{client.port}{path}?token={TOKEN}", encoded=True)
    reply = await client.session.get(address, allow_redirects=False)
    assert (reply.status, reply.headers["Location"].partition("#")[0]) == (302, target)


@with_server(is_logged_in=False)
async def test_login_from_a_file_is_answered_by_a_page(client, server):
    assert "/login?token=" in server.access.opening_page
    reply = await client.get(f"/login?token={TOKEN}")
    assert (reply.status, len(reply.history), reply.content_type) == (200, 0, "text/html")
    assert (await client.get("/")).status == 200


@pytest.mark.parametrize(
    ("path", "status", "sentence"),
    [
        ("/nowhere", 404, "no page has this address"),
        ("/match/gone", 404, "it has ended, or there never was one"),
        ("/static/" + 300 * "x", 404, "no page has this address"),
        ("/?token=<b>", 403, "wrong token"),
    ],
)
@with_server()
async def test_browser_gets_a_page_for_an_error_and_programs_get_json(client, server, path, status, sentence):
    reply = await client.get(path, headers=HTML)
    text = await reply.text()
    assert (reply.status, reply.content_type) == (status, "text/html")
    assert sentence in text.lower()
    assert "<button" not in text
    assert "default-src 'self'" in reply.headers["Content-Security-Policy"]
    reply = await client.get(path)
    assert (reply.status, sentence in (await reply.json())["error"]) == (status, True)


@with_server()
async def test_front_page_brings_the_pictures_that_are_drawn_and_failed_ones_are_drawn_again(
    client, server, monkeypatch
):
    asked = []

    async def draw(do, rules, seconds, moves):
        asked.append(do)
        if len(asked) == 1:
            raise ChildError("killed")
        return {"board": f"<svg>{len(moves)}</svg>"}

    monkeypatch.setattr(server.open_matches, "ask_sheets", draw)
    assert "{}" in re.findall('id="opening">(.*?)</script>', await (await client.get("/")).text())
    await server.draw_featured()
    (opening,) = re.findall('id="opening">(.*?)</script>', await (await client.get("/")).text())
    drawn = json.loads(opening)
    assert (len(drawn), drawn["hex_7x7"]["board"][:5]) == (7, "<svg>")
    assert (await client.get("/api/games/hex_7x7/scene")).status == 200
    assert len(asked) == 8
    await server.draw_featured()
    assert len(asked) == 9


@with_server()
async def test_mistake_of_the_server_is_logged_and_answered(client, server, monkeypatch, caplog):
    monkeypatch.setattr(server.open_matches, "ask_sheets", lambda *given: 1 / 0)
    status, reply = await post(client, "/api/sheet/check", {"rules": "x"})
    assert (status, "log" in reply["error"]) == (500, True)
    assert "ZeroDivisionError" in caplog.text


@with_server(is_logged_in=False)
async def test_programs_send_the_token_with_each_request_(client, server):
    for _ in range(2):
        reply = await client.get("/api/games", headers=BEARER)
        assert reply.status == 200
    assert "Set-Cookie" not in reply.headers
    # The token does not make up for a foreign Host, and pages need a cookie.
    for path, headers in (
        *(("/api/games", {"Authorization": each}) for each in ("Bearer wrong", "Basic dG9rZW4=", TOKEN, "")),
        ("/api/games", {**BEARER, "Host": "rebound.example"}),
        (f"/?token={TOKEN}", {"Host": "rebound.example"}),
        ("/", BEARER),
    ):
        assert (await client.get(path, headers=headers)).status == 403
    # Other pages get no leave to send it.
    asked = {"Origin": "http://evil.example", "Access-Control-Request-Headers": "authorization"}
    assert "Access-Control-Allow-Origin" not in (await client.options("/api/games", headers=asked)).headers


@pytest.mark.parametrize("headers", [{}, {"Origin": "http://evil.example"}, {"Origin": "null"}])
@with_server()
async def test_post_from_another_page_is_refused(client, server, headers):
    reply = await client.post("/api/matches", json={"game": "nim"}, headers=headers)
    assert reply.status == 403
    assert "other pages" in (await reply.json())["error"]


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
@with_server(sheet_bytes=2000)
async def test_malformed_request_gets_a_sentence(client, server, body, status):
    found, reply = await post(client, "/api/matches", body)
    assert found == status
    assert reply["error"]


@pytest.mark.parametrize(
    "damaged", ["{", "[]", '{"progress": {}}', '{"progress": {}, "rules": "", "name": 1}', "[" * 9999]
)
def test_kept_match_that_is_damaged_is_left_out_with_one_line(damaged, tmp_path, caplog):
    async def visit():
        (tmp_path / "match-name.json").write_text(damaged)
        async with opened(limits=ServerLimits(), kept=tmp_path) as (client, _):
            await log_in(client)
            assert (await client.get("/match/match-name")).status == 404

    asyncio.run(visit())
    assert [
        len(record.getMessage().splitlines()) for record in caplog.records if record.name == "ggp.web"
    ] == [1]


def test_only_the_server_gets_the_progress_of_a_match_which_shows_what_is_hidden():
    match, changed = OpenMatch("m"), []
    match.on_state = changed.append
    follower = match.follow()
    match.receive({"event": "progress", "progress": {"moves": [["(deal jack)"]]}}, "secret")
    assert follower.empty()
    match.receive({"event": "state", "step": 1}, "state")
    assert (follower.get_nowait(), follower.empty(), changed) == ("state", True, [match])
    assert "jack" not in match.whole_state()[0]


@pytest.mark.parametrize("content", ['{"record": "{}", "progress": {}, "summary": {"step": 1}}', None])
def test_kept_record_stays_a_record_and_only_files_are_read(content, tmp_path):
    async def visit():
        path = tmp_path / "match-name.json"
        if content is None:
            os.mkfifo(path)
        else:
            path.write_text(content)
        assert KeptMatches(tmp_path).going_on(5) == {}
        async with opened(limits=ServerLimits(), kept=tmp_path) as (client, server):
            await log_in(client)
            assert (await client.get("/match/match-name")).status == 404
            assert not server.open_matches.matches

    asyncio.run(visit())


NOW = [0.0]


@with_server(is_logged_in=False, idle_seconds=10.0, clock=lambda: NOW[0])
async def test_match_that_no_page_follows_ends(client, server):
    matches = server.open_matches
    for name in ("idle", "followed"):
        matches.matches[name] = OpenMatch(name)
    follower = matches.matches["followed"].follow()
    for now, names in ((9.0, {"idle", "followed"}), (20.0, {"followed"})):
        NOW[0] = now
        await matches.end_idle()
        assert set(matches.matches) == names
    matches.matches["followed"].followers.discard(follower)
    await matches.end_idle()
    assert not matches.matches


def test_pages_make_no_sound():
    """Sounds would have to be off by default: there are none."""
    files = [path for path in STATIC.iterdir() if path.suffix in (".js", ".html")]
    assert not [path.name for path in files if re.search("Audio|<audio", path.read_text(encoding="utf-8"))]


@with_server()
async def test_list_has_every_bundled_game(client, server):
    games = await (await client.get("/api/games")).json()
    assert {"tictactoe", "nim", "kuhn_poker"} <= {game["name"] for game in games}
    assert (await client.get("/api/games/nim/rules")).status == 200
    assert (await client.get("/api/games/nowhere/rules")).status == 404
