"""Child processes: answers, events, their end whatever happens, and limits in CPU time."""

import asyncio
import os
import subprocess
import sys
import time

import pytest

from gdl.work_clock import WALL_FACTOR, WorkClock
from ggp.processes import child as child_module
from ggp.processes.child import (
    Child,
    ChildError,
    ChildFullError,
    ChildGoneError,
    ChildLateError,
    ChildStartError,
)

CHILD = """
import os, subprocess, sys, time
from ggp.processes.child_end import Parent, RequestError, serve

def refuse():
    raise RequestError("not here")

def fill():
    raise MemoryError

def loop():
    while True:
        pass

def fork():
    return subprocess.Popen(["sleep", "600"]).pid

parent = Parent()
print("to standard error")
parent.send_event("begins", pid=os.getpid())
methods = {"double": lambda value: 2 * value, "refuse": refuse, "fill": fill, "loop": loop, "fork": fork,
           "sleep": lambda seconds: time.sleep(seconds), "end": lambda: os._exit(7), "divide": lambda: 1 // 0}
serve(parent, methods, (), 2000)
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A module that runs `CHILD`."""
    (tmp_path / "child_of_test.py").write_text(CHILD)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return "child_of_test"


def until(seconds):
    return time.monotonic() + seconds


def test_answers_come_in_a_thread_and_in_an_event_loop(module):
    async def ask():
        events = []
        child = Child(module, on_event=lambda event, line: events.append((event["event"], line)))
        answers = [child.ask("double", value=value) for value in (1, "a", None)]
        found = [await child.answer(answers[0], 60.0), await child.answer(answers[1], 60.0)]
        with pytest.raises(ChildError, match="a bug in the program, not your mistake: TypeError"):
            await child.answer(answers[2], 60.0)
        with pytest.raises(ChildError, match="not here"):
            await child.answer(child.ask("refuse"), 60.0)
        await child.aclose()
        await asyncio.sleep(0)
        return found, events

    found, events = asyncio.run(ask())
    assert found == [2, "aa"]
    assert [kind for kind, _ in events] == ["begins", "gone"]
    child = Child(module)
    assert child.wait(child.ask("double", value=4), until(60.0)) == 8
    child.close()
    assert child.is_gone
    assert child.pid is None


@pytest.mark.parametrize(
    ("do", "kind", "why"),
    [
        ("end", ChildGoneError, "exit code 7"),
        ("fill", ChildFullError, "too much memory"),
        ("loop", ChildLateError, "in time"),
    ],
)
def test_requests_that_end_the_process(module, do, kind, why):
    child = Child(module)
    assert child.wait(child.ask("double", value=1), until(60.0)) == 2
    with pytest.raises(kind, match=why):
        child.wait(child.ask(do), until(0.2 if do == "loop" else 60.0))
    child.close()
    with pytest.raises(ChildGoneError):
        child.wait(child.ask("double", value=1), until(60.0))


def test_end_of_a_process_ends_what_it_has_started(module):
    child = Child(module)
    pid = child.wait(child.ask("fork"), until(60.0))
    child.close()
    for _ in range(500):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.01)
    pytest.fail("it lives")


def test_process_that_writes_something_else_is_ended(tmp_path, monkeypatch):
    (tmp_path / "garbage.py").write_text("import time; print('[3]', flush=True); time.sleep(600)")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    child = Child("garbage")
    with pytest.raises(ChildGoneError, match="wrote to the wrong place"):
        child.wait(child.ask("double", value=1), until(60.0))


def test_request_that_nothing_waits_for_any_more_harms_no_other(module):
    async def scenario():
        child = Child(module)
        await child.answer(child.ask("double", value=1), 60.0)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await asyncio.wrap_future(child.ask("sleep", seconds=0.5))
        is_busy = child.is_busy
        answer = await child.answer(child.ask("double", value=3), 60.0)
        await child.aclose()
        return is_busy, answer

    assert asyncio.run(scenario()) == (True, 6)


def test_process_that_cannot_start_is_an_error_of_its_own(monkeypatch):
    def fail(*command, **options):
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(child_module.subprocess, "Popen", fail)
    with pytest.raises(ChildStartError, match="no process could be started"):
        Child("ggp.web.sheet_process", "512")


def seconds_until_late(code, seconds, monkeypatch):
    """Wall seconds that a child running `code` gets for an answer that never comes."""
    monkeypatch.setattr(child_module, "isolated_command", lambda module: [sys.executable, "-c", code])

    async def wait():
        child = Child("-")
        begin = time.monotonic()
        with pytest.raises(ChildLateError):
            await child.answer(child.ask("answer"), seconds)
        return time.monotonic() - begin

    return asyncio.run(wait())


@pytest.mark.skipif(sys.platform != "linux", reason="reads the CPU clock of a process")
def test_child_that_gets_no_core_is_given_more_time(monkeypatch):
    code = "import time; time.sleep(60)"
    assert seconds_until_late(code, 0.1, monkeypatch) >= 0.1 * WALL_FACTOR


def test_child_that_works_too_long_is_over_its_limit(monkeypatch):
    assert seconds_until_late("while True: pass", 0.1, monkeypatch) >= 0.1


@pytest.mark.skipif(sys.platform != "linux", reason="reads the CPU clock of a process")
def test_work_is_cpu_time():
    sleeper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    try:
        clock = WorkClock(sleeper.pid)
        time.sleep(0.6)
        assert clock.seconds < 0.5
        assert not clock.has_passed(0.5)
    finally:
        sleeper.kill()
        sleeper.wait()
