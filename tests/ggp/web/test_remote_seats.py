"""Players over HTTP at the page: asked in every step, told the end, and only of this machine."""

import queue
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from ggp.match.player import PlayerFaultError
from ggp.processes.child_end import RequestError
from ggp.web.server import read_rules
from ggp.web.shown_match import ShownMatch


@contextmanager
def scripted_player(moves):
    """A player that answers PLAY with `moves` in order; yields its address and what it hears."""
    heard, answers = [], iter(moves)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            text = self.rfile.read(int(self.headers["Content-Length"])).decode()
            kind = text.strip("( ").split()[0].lower()
            if kind != "info":
                heard.append(text)
            reply = next(answers) if kind == "play" else "ready"
            self.send_response(200)
            self.send_header("Content-Length", str(len(reply)))
            self.end_headers()
            self.wfile.write(reply.encode())

        def log_message(self, *arguments):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", heard
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def opened(seats):
    findings = queue.Queue()
    match = ShownMatch(lambda event: None, findings.put)
    match.open(read_rules("tictactoe"), "tictactoe", seats, 5.0, seed=1)
    return match, findings


def run_until_move_of_x(match, findings):
    while match.run_on() is not None or not (
        match.history.is_over or "o" in map(str, match.history.committed)
    ):
        if match._asked:
            match.take(findings.get(timeout=60))


def test_remote_player_plays_a_match_and_hears_its_end():
    with scripted_player(["noop", "(mark 2 1)", "noop", "(mark 2 2)", "noop"]) as (address, heard):
        match, findings = opened(["person", address])
        for move in ("1 1", "1 2", "1 3"):
            match.play(len(match.history.steps), "x", f"(mark {move})")
            run_until_move_of_x(match, findings)
            assert not match.snapshot()["can_undo"]
        assert match.snapshot()["outcome"] == "x wins"
        match.abort()
        wait_for(lambda: len(heard) == 7)
    assert [text.strip("( ").split()[0].lower() for text in heard] == ["start", *["play"] * 5, "stop"]
    assert "mark 1 3" in heard[-1]


def test_remote_player_hears_that_the_page_left():
    with scripted_player(["noop"]) as (address, heard):
        match, findings = opened(["person", address])
        match.run_on()
        match.take(findings.get(timeout=60))
        match.abort()
    assert heard[-1].lower().startswith("(abort") or heard[-1].lower().startswith("( abort")


def test_match_does_not_open_without_its_remote_player():
    with scripted_player([]) as (address, _):
        pass
    with pytest.raises(PlayerFaultError, match="no player is listening"):
        opened(["person", address])


@pytest.mark.parametrize(
    "address", ["http://192.0.2.1:9147", "http://example.org", "http://127.0.0.1.example.org:80"]
)
def test_players_of_other_machines_are_refused(address):
    with pytest.raises(RequestError, match="only players on this machine"):
        opened(["person", address])


def wait_for(condition):
    for _ in range(500):
        if condition():
            return
        threading.Event().wait(0.02)
    raise AssertionError("it did not happen")
