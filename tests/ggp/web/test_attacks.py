"""Attacks on a real server on a real port: silent connections, seats that name files."""

import contextlib
import gzip
import http.client
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import zlib

import pytest
from aiohttp.test_utils import unused_port

from tests.ggp.web.test_server import BEARER, TOKEN

pytestmark = pytest.mark.slow

SIMPLE = "(role x) (init (n 1)) (legal x a) (legal x b) (next (n 2)) (<= terminal (true (n 2))) (goal x 100)"


@contextlib.contextmanager
def running(log, *command, descriptors=None):
    """A server of this machine: its process, once it has printed its first line."""
    limited = [sys.executable, "-m", "ggp", *command]
    if descriptors is not None:
        limited = ["sh", "-c", f'ulimit -n {descriptors}; exec "$@"', "sh", *limited]
    environment = {**os.environ, "GGP_TOKEN": TOKEN, "PYTHONUNBUFFERED": "1"}
    with log.open("wb") as written:
        process = subprocess.Popen(limited, env=environment, stdout=written, stderr=written)
        try:
            deadline = time.monotonic() + 60
            while b"http://" not in log.read_bytes():
                assert process.poll() is None, log.read_text()
                assert time.monotonic() < deadline
                time.sleep(0.05)
            yield process
        finally:
            process.terminate()
            process.wait(20)


@contextlib.contextmanager
def serving(log, *options, descriptors=None):
    """`ggp serve`: its port and process."""
    port = unused_port()
    command = ("serve", "--no-open", "--port", str(port), *options)
    with running(log, *command, descriptors=descriptors) as process:
        yield port, process


def ask(port, method, path, body=None, headers=BEARER, seconds=20.0):
    """Status, headers and body of one request; `{port}` in the headers is filled in."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=seconds)
    data = json.dumps(body) if isinstance(body, dict) else body
    connection.request(method, path, data, headers)
    reply = connection.getresponse()
    text = reply.read()
    connection.close()
    return reply.status, dict(reply.getheaders()), text


def children(pid):
    """The processes that a process has started, directly or not."""
    found = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    parents = {int(child): int(parent) for child, parent in map(str.split, found.splitlines())}
    family = {pid}
    while new := {child for child, parent in parents.items() if parent in family} - family:
        family |= new
    return family - {pid}


def silent_connections(port, count):
    return [socket.create_connection(("127.0.0.1", port), 5) for _ in range(count)]


@pytest.fixture(scope="module")
def server_of_few_descriptors(tmp_path_factory):
    """Log and port of a server that may have 256 files open."""
    log = tmp_path_factory.mktemp("few") / "log"
    with serving(log, descriptors=256) as (port, _):
        yield log, port


@pytest.mark.parametrize(
    "sent",
    [
        "",
        "GET / HTTP/1.1\r\nHost: ",
        100 * "GET /static/match.js HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",  # and nothing is read
        "POST /api/sheet/check HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
        f"Authorization: Bearer {TOKEN}\r\nContent-Length: 9999\r\n\r\n{{{{",
    ],
)
def test_silent_connections_keep_nobody_out(server_of_few_descriptors, sent):
    log, port = server_of_few_descriptors
    before = log.stat().st_size
    silent = silent_connections(port, 300)
    for connection in silent:
        with contextlib.suppress(OSError):
            connection.sendall(sent.format(port=port).encode())
    statuses = [ask(port, "GET", "/static/base.css", headers={}, seconds=10.0)[0] for _ in range(20)]
    for connection in silent:
        connection.close()
    assert statuses == [200] * 20
    ask(port, "GET", "/static/base.css", headers={})
    assert log.stat().st_size - before < 20_000
    assert b"Traceback" not in log.read_bytes()


@pytest.fixture(scope="module")
def headless(tmp_path_factory):
    """A server, and two connections to it that never send a whole head."""
    log = tmp_path_factory.mktemp("server") / "log"
    with serving(log) as (port, _):
        silent, slow = silent_connections(port, 2)
        slow.sendall(b"GET / HTTP/1.1\r\nHost: ")
        yield port, log, (silent, slow)


@pytest.fixture
def server(headless):
    """A server that all odd requests go to: its port and log."""
    return headless[:2]


def test_seats_name_no_file_and_the_match_process_lives_on(server, tmp_path):
    port, _ = server
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    paths = ("/etc/passwd", "/nowhere", str(fifo), "a\0b", "\udcff", "off/../x")
    options = "mcts:book alphabeta:book solving:net mcts:book alphabeta:weights mcts:net"
    for option, path in zip(options.split(), paths, strict=True):
        body = {"rules": SIMPLE, "seats": [f"{option}={path}"]}
        status, _, text = ask(port, "POST", "/api/matches", body, seconds=10.0)
        assert status == 400
        assert re.search("read files|half a character|seats are texts", text.decode())
    seats = ["mcts:book=off,net=off"]
    assert ask(port, "POST", "/api/matches", {"rules": SIMPLE, "seats": seats})[0] == 200


BOMB = zlib.compress(b"x" * 50_000_000)


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (json.dumps({"rules": SIMPLE}).encode("utf-16"), {"Content-Type": "text/plain; charset=utf-16"}, 400),
        (b"A" * 120_000, {"Content-Type": "text/plain; charset=punycode"}, 400),
        (b"00" * 1000, {"Content-Type": "text/plain; charset=hex"}, 400),
        (b"{}", {"Content-Type": "text/plain; charset=zip"}, 400),
        (b"{}", {"Content-Type": "text/plain; charset=rot13"}, 400),
        (b"no gzip", {"Content-Encoding": "gzip"}, 415),
        (gzip.compress(b"{}", mtime=0), {"Content-Encoding": "gzip"}, 415),
        (BOMB, {"Content-Encoding": "deflate"}, 415),
        (BOMB, {"Content-Encoding": "br"}, 415),
        (b'{"rules": "(role \\ud800)"}', {}, 400),
        (b'{"rules": NaN}', {}, 400),
        (b"[" * 100_000, {}, 400),
    ],
)
def test_odd_body_gets_a_sentence(server, body, headers, status):
    port, log = server
    started = time.process_time()
    for path in ("/api/sheet/check", "/api/matches"):
        found, kind, text = ask(port, "POST", path, body, {**BEARER, **headers})
        assert (found, kind["Content-Type"].split(";")[0]) == (status, "application/json")
        assert json.loads(text)["error"]
    assert time.process_time() - started < 60
    assert "Traceback" not in log.read_text()


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (b"GET /api/games HTTP/1.1\r\nAuthorization: Bearer \xff\r\n", 403),
        (b"GET /api/games HTTP/1.1\r\nCookie: \xff=\xfe\r\n", 403),
        (b"GET /?token=%ED%A0%80 HTTP/1.1\r\n", 403),
        (b"GET /?token=%ff HTTP/1.1\r\n", 403),
        (b"GET /static/" + b"x" * 3000 + b" HTTP/1.1\r\n", 404),
        (b"GET /static/%00 HTTP/1.1\r\n", 404),
        (b"GET /static/../access.py HTTP/1.1\r\n", 404),
        (b"GET /static/%2e%2e%2faccess.py HTTP/1.1\r\n", 404),
        (b"POST /api/sheet/check HTTP/1.1\r\nTransfer-Encoding: chunked\r\n", 400),
    ],
)
def test_odd_head_gets_a_sentence(server, head, status):
    port, log = server
    if b"chunked" in head:
        head += f"Authorization: Bearer {TOKEN}\r\n".encode()
    with socket.create_connection(("127.0.0.1", port), 5) as connection:
        body = b"no number\r\n" if b"chunked" in head else b""
        connection.sendall(head + f"Host: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n".encode() + body)
        reply = b"".join(iter(lambda: connection.recv(65536), b""))
    assert int(reply.split()[1]) == status
    assert json.loads(reply.partition(b"\r\n\r\n")[2])["error"]
    assert "Traceback" not in log.read_text()


def test_lines_that_are_no_http_do_not_fill_the_log(server):
    port, log = server
    before = log.stat().st_size
    for _ in range(100):
        with socket.create_connection(("127.0.0.1", port), 5) as connection:
            connection.sendall(b"GET / HTTP/9.9.9\r\nno header\r\n\r\n")
            connection.recv(100)
    assert log.stat().st_size - before < 5_000


def test_connection_that_sends_no_head_ends(headless):
    for connection in headless[2]:
        connection.settimeout(30)
        with contextlib.suppress(ConnectionResetError):
            assert connection.recv(1) == b""


@pytest.mark.skipif(shutil.which("ps") is None, reason="needs ps")
def test_token_is_in_no_command_line(tmp_path):
    browser = tmp_path / "browser"
    seen = tmp_path / "seen"
    browser.write_text(
        f'#!/bin/sh\necho "$@" > {seen}.new\ncp "${{1#file://}}" {tmp_path}/page.html\nmv {seen}.new {seen}\n'
    )
    browser.chmod(0o755)
    token = "token-of-the-environment"
    port = unused_port()
    environment = {**os.environ, "BROWSER": f"{browser} %s", "PYTHONUNBUFFERED": "1", "GGP_TOKEN": token}
    command = [sys.executable, "-m", "ggp", "serve", "--port", str(port)]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 60
        while not seen.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        assert token not in seen.read_text()
        page = (tmp_path / "page.html").read_text()
        (path,) = set(re.findall(rf"http://127.0.0.1:{port}(/[^\"]*)", page))
        status, headers, text = ask(port, "GET", path, headers={})
        assert (status, 'url=/"' in text.decode()) == (200, True)
        cookie = {"Cookie": headers["Set-Cookie"].split(";")[0]}
        assert ask(port, "GET", "/", headers=cookie)[0] == 200
    finally:
        process.terminate()
        process.wait(20)
