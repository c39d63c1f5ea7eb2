"""Players over HTTP at the page: asked in every step, told the end, and only of this machine."""

import queue
import threading

import pytest

from ggp.match.player import PlayerFaultError
from ggp.protocol.messages import Abort, Play, Start, Stop
from ggp.web.server import read_rules
from ggp.web.shown_match import ShownMatch
from tests.ggp.wire import answering, scripted_player_in_thread


def player_of(moves):
    """A player over HTTP that plays `moves` in order; yields its address and what it hears."""
    return scripted_player_in_thread(answering(*moves))


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
    with player_of(["noop", "(mark 2 1)", "noop", "(mark 2 2)", "noop"]) as (address, heard):
        match, findings = opened(["person", f"http://{address}"])
        for move in ("1 1", "1 2", "1 3"):
            match.play(len(match.history.steps), "x", f"(mark {move})")
            run_until_move_of_x(match, findings)
            assert not match.snapshot()["can_undo"]
        assert match.snapshot()["outcome"] == "x wins"
        match.abort()
        wait_for(lambda: len(heard) == 7)
    assert [type(message) for message in heard] == [Start, *[Play] * 5, Stop]
    assert "(mark 1 3)" in map(str, heard[-1].terms)


def test_remote_player_hears_that_the_page_left():
    with player_of(["noop"]) as (address, heard):
        match, findings = opened(["person", f"http://{address}"])
        match.run_on()
        while (finding := findings.get(timeout=60)).phase:
            match.take(finding)
        match.take(finding)
        match.abort()
        assert isinstance(heard[-1], Abort)


def test_match_does_not_open_without_its_remote_player():
    with player_of(["noop"]) as (address, _):
        pass
    with pytest.raises(PlayerFaultError, match="no player is listening"):
        opened(["person", f"http://{address}"])


def wait_for(condition):
    for _ in range(500):
        if condition():
            return
        threading.Event().wait(0.02)
    raise AssertionError("it did not happen")
