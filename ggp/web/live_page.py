"""Show the running matches of a manager or player in the browser, by a separate process (`live_server`).

Events are passed to a thread and never waited for: a page that hangs or dies does not delay the match.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from collections.abc import Callable, Mapping
from typing import Any, Self

from ggp.match.referee import Moment
from ggp.processes.child import Child, ChildError

_MODULE = "ggp.web.live_server"
_WAITING_EVENTS = 10_000
"""Events that the page has not read yet; beyond that it is ended."""

_READY_SECONDS = 30.0
"""CPU time limit of the process until it reports the address of the page."""


class PageError(Exception):
    """The page cannot be shown; the text is the reason."""


class LivePage:
    """The page, from `__enter__` on.

    port   on 127.0.0.1; 0: a free one
    say    called with a sentence if the page ends before its match
    """

    def __init__(self, port: int, say: Callable[[str], None]) -> None:
        self.address = ""
        self._port, self._say = port, say
        self._child: Child | None = None
        self._has_ended = threading.Event()

    def __enter__(self) -> Self:
        """Start the page and wait for its `address`. Raises PageError."""
        try:
            child = self._child = Child(_MODULE, on_event=self._note_end)
            if not self._port:
                with socket.create_server(("127.0.0.1", 0)) as listener:
                    self._port = listener.getsockname()[1]
            listening = child.ask("listen", port=self._port)
            self.address = asyncio.run(child.answer(listening, _READY_SECONDS))
        except ChildError as error:
            self.close()
            raise PageError(str(error)) from None
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        self._has_ended.set()
        if self._child is not None:
            self._child.close()

    def send(self, match: int, event: Mapping[str, Any]) -> None:
        """Pass on an event of `live_server`, without waiting. May be called from any thread."""
        if self._has_ended.is_set() or self._child is None:
            return
        arguments = dict(event)
        self._child.send(arguments.pop("event"), match=match, **arguments)
        if self._child.unsent_count > _WAITING_EVENTS:
            self._give_up("it does not keep up with the match")

    def _note_end(self, event: Mapping[str, Any], line: str) -> None:
        if event["event"] == "gone" and self.address:
            self._give_up("its process has died")

    def _give_up(self, why: str) -> None:
        if not self._has_ended.is_set():
            self._has_ended.set()
            self._say(f"the page has ended: {why}")
            if self._child is not None:
                self._child.kill()

    def wait_until_interrupted(self) -> None:
        """Keep the page after the end of a match, until Ctrl-C or its own end."""
        with contextlib.suppress(KeyboardInterrupt):
            self._has_ended.wait()


class MomentFeed:
    """A watcher that passes a match on to a page, hidden information included.

    >>> import ggp
    >>> events = []
    >>> game = ggp.load("(role x) (legal x go) (init a) (<= terminal (not (true a))) (goal x 100)")
    >>> _ = ggp.play_match(game, [ggp.make_player("legal")], watch=MomentFeed(events.append))
    >>> [event["event"] for event in events], events[2]["terms"]
    (['open', 'wait', 'step', 'wait', 'stop'], ['go'])
    """

    def __init__(self, send: Callable[[Mapping[str, Any]], None]) -> None:
        self._send = send
        self.has_begun, self._step = False, 0
        self._thinking: set[str] = set()

    def __call__(self, moment: Moment) -> None:
        record = moment.record
        if not self.has_begun:
            rules = moment.game.program.source.text
            opening = {"rules": rules, "name": record.game_name, "seats": list(record.player_names)}
            self._send({"event": "open", **opening, "role": None})
            self.has_begun = True
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
