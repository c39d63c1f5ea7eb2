"""The running matches of a manager or player, shown in the browser by a process of its own (`live_server`).

Events are handed to a thread, and never waited for: a page that hangs or dies costs the match nothing.
"""

from __future__ import annotations

import contextlib
import json
import queue
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Self

from ggp.match.referee import Moment
from ggp.processes.child_process import WorkClock
from ggp.processes.isolation import isolated_command, isolated_environment

_MODULE = "ggp.web.live_server"
_WAITING_EVENTS = 10_000
"""Events that the page has not read yet; beyond that it is ended."""

_READY_SECONDS = 30.0
"""Work of the process until it says where the page is."""
_END_SECONDS = 2.0


class PageError(Exception):
    """The page cannot be shown; the text says why."""


class LivePage:
    """The page, from `__enter__` on.

    port   on 127.0.0.1; 0: a free one
    say    given a sentence if the page ends before its match
    """

    def __init__(self, port: int, say: Callable[[str], None]) -> None:
        self.address = ""
        self._port = port
        self._say = say
        self._lines: queue.Queue[bytes] = queue.Queue(_WAITING_EVENTS)
        self._process: subprocess.Popen[bytes] | None = None
        self._is_gone = False

    def __enter__(self) -> Self:
        """Start the page and wait for its `address`. Raises PageError."""
        try:
            process = self._process = subprocess.Popen(
                isolated_command(_MODULE, str(self._port or _free_port())),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=isolated_environment(),
                start_new_session=True,
            )
        except OSError as error:
            raise PageError(f"no process for the page: {error}") from None
        line = _first_line(process)
        reply = json.loads(line) if line else {"error": "the page does not start"}
        if "error" in reply:
            self.close()
            raise PageError(reply["error"])
        self.address = reply["address"]
        threading.Thread(target=self._write, args=(process,), daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the page: the end of its input is enough, killing makes sure."""
        self._is_gone = True
        process = self._process
        if process is None:
            return
        process.terminate()
        try:
            process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def send(self, match: int, event: Mapping[str, Any]) -> None:
        """Pass an event of `live_server` on, at once. May be called from any thread."""
        if self._is_gone:
            return
        try:
            self._lines.put_nowait(json.dumps({"match": match, **event}).encode() + b"\n")
        except queue.Full:
            self._give_up("it does not keep up with the match")

    def _write(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        while not self._is_gone:
            line = self._lines.get()
            try:
                process.stdin.write(line)
                process.stdin.flush()
            except (OSError, ValueError):
                self._give_up("its process has died")

    def _give_up(self, why: str) -> None:
        if not self._is_gone:
            self._is_gone = True
            self._say(f"the page has ended: {why}")
            if self._process is not None:
                self._process.kill()

    def wait_until_interrupted(self) -> None:
        """Keep the page after the end of a match, until Ctrl-C or its own end."""
        with contextlib.suppress(KeyboardInterrupt):
            while not self._is_gone:
                if self._process is not None and self._process.poll() is not None:
                    self._give_up("its process has died")
                time.sleep(0.2)


class MomentFeed:
    """A watcher of a match that passes what it is shown on to a page: the whole match, nothing hidden.

    >>> import ggp
    >>> events = []
    >>> game = ggp.load("(role x) (legal x go) (init a) (<= terminal (not (true a))) (goal x 100)")
    >>> _ = ggp.play_match(game, [ggp.make_player("legal")], watch=MomentFeed(events.append))
    >>> [event["event"] for event in events], events[2]["terms"]
    (['open', 'wait', 'step', 'wait', 'stop'], ['go'])
    """

    def __init__(self, send: Callable[[Mapping[str, Any]], None]) -> None:
        self._send = send
        self._step = -1
        self._thinking: set[str] = set()

    @property
    def has_begun(self) -> bool:
        """Whether the page has been told of a match."""
        return self._step >= 0

    def __call__(self, moment: Moment) -> None:
        record = moment.record
        if not self.has_begun:
            rules = moment.game.program.source.text
            opening = {"rules": rules, "name": record.game_name, "seats": list(record.player_names)}
            self._send({"event": "open", **opening, "role": None})
            self._step = 0
        if moment.step > self._step and moment.joint_move is not None:
            self._step = moment.step
            self._thinking = set()
            terms = list(map(str, moment.joint_move))
            self._send({"event": "step", "step": moment.step, "terms": terms, "own_move": None})
            self._send({"event": "wait", "roles": []})
        if moment.thinking is not None and str(moment.thinking) not in self._thinking:
            self._thinking.add(str(moment.thinking))
            self._send({"event": "wait", "roles": sorted(self._thinking)})
        if moment.is_over:
            note = f"The match was aborted: {record.fault}" if record.is_aborted else ""
            self._send({"event": "stop", "note": note})


def _first_line(process: subprocess.Popen[bytes]) -> bytes:
    """What the page says first; empty if it ends, or is ended because it works for too long."""
    assert process.stdout is not None
    found: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    stdout, clock = process.stdout, WorkClock(process.pid)
    threading.Thread(target=lambda: found.put(stdout.readline()), daemon=True).start()
    while True:
        try:
            return found.get(timeout=0.2)
        except queue.Empty:
            if clock.has_passed(_READY_SECONDS):
                process.kill()


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])
