"""The searches of a match in a process of lower priority: `python -m ggp.web.agent_process MIB`.

A search keeps all cores busy, and loading rules or compiling keeps the interpreter busy: in the process of
the match either would delay its clicks.

    begin   rules, seed, is_eager                     load the rules; is_eager: before there is a task
    search  number, and a Task (`to_text`)            answered by events `found` with the number
    rest, advance, stop                               methods and `generation` of AgentThread
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent import futures
from typing import Any

from gdl.errors import GdlError
from gdl.syntax.parser import parse, parse_term
from gdl.terms import Term
from ggp.game import Role
from ggp.processes.child import Child, ChildError
from ggp.processes.child_end import Parent, guard_group, serve
from ggp.processes.isolation import from_text, to_text
from ggp.web.agent_thread import AgentThread, Finding, Task

_NICENESS = 2
"""Enough for clicks to come first; more would starve searches on a busy machine."""
_GONE = "its search was stopped: it needed too much memory"


class AgentProcess:
    """The same methods as AgentThread has, for the process of a match.

    `start` starts the search process before there is a task, so that it loads the rules.

    found   called in another thread with every Finding, an error for all open tasks if the process ends; the
            next task starts a new one
    """

    def __init__(
        self, rules: str, seed: int, found: Callable[[Finding], None], mebibytes: int, is_eager: bool = False
    ) -> None:
        self._begin = {"rules": rules, "seed": seed, "is_eager": is_eager}
        self._found, self._mebibytes = found, mebibytes
        self._generation = self._number = 0
        self._open: dict[int, Task] = {}
        self._known: set[tuple[Role, str, bool]] = set()
        self._lock = threading.Lock()
        self._child: Child | None = None

    def start(self) -> None:
        if self._child is None:
            self._started()

    def _started(self) -> Child:
        """The search process, a new one if there is none or it has ended."""
        if self._child is None or self._child.is_gone:
            self._known.clear()
            self._child = Child("ggp.web.agent_process", str(self._mebibytes), on_event=self._receive)
            self._child.send("begin", **self._begin)
            self._child.send("advance", generation=self._generation)
        return self._child

    @property
    def generation(self) -> int:
        """Tasks of another generation are stale."""
        return self._generation

    @generation.setter
    def generation(self, value: int) -> None:
        self._generation = value
        if self._child is not None:
            self._child.send("advance", generation=value)

    def put(self, task: Task) -> None:
        """Ask for a search; tasks are done in order."""
        child = self._started()
        with self._lock:
            self._number += 1
            self._open = {n: each for n, each in self._open.items() if each.generation == self._generation}
            self._open[self._number] = task
        player = (task.role, task.spec, task.is_analysis)
        if player not in self._known:  # at once: the process may still be starting
            self._known.add(player)
            self._found(Finding(task, phase="preparing"))
        child.send("search", number_of_task=self._number, task=to_text(task))

    def rest(self) -> None:
        """End the analysis that runs, and those that wait."""
        if self._child is not None:
            self._child.send("rest")

    def stop(self, terms: Sequence[Sequence[Term]] | None, wait_seconds: float = 0.0) -> None:
        """Send the players over HTTP the end of the match; see `AgentThread.stop`."""
        answer = self._started().ask("stop", terms=to_text(terms), wait_seconds=wait_seconds)
        if wait_seconds:
            with contextlib.suppress(ChildError, futures.TimeoutError):
                answer.result(wait_seconds)

    def _receive(self, event: dict[str, Any], line: str) -> None:
        if event["event"] == "gone":
            with self._lock:
                lost, self._open = self._open, {}
            for each in lost.values():
                self._found(Finding(each, error=_GONE))
            return
        task = self._open.get(event["number_of_task"])
        if task is None:
            return
        move = None if event["move"] is None else parse_term(event["move"])
        if move is not None or event["error"]:
            with self._lock:
                self._open.pop(event["number_of_task"], None)
        self._found(Finding(task, move, event["report"], event["error"], event["phase"]))


class _Searches:
    """The requests of the process; `begin` is the first."""

    thread: AgentThread

    def __init__(self, parent: Parent) -> None:
        self._parent = parent
        self._numbers: dict[Task, int] = {}

    def begin(self, rules: str, seed: int, is_eager: bool) -> None:
        self.thread = AgentThread(parse(rules + "\n"), seed, self._send, is_eager=is_eager)

    def advance(self, generation: int) -> None:
        self.thread.generation = generation

    def search(self, number_of_task: int, task: str) -> None:
        unpacked: Task = from_text(task)
        self._numbers = {each: n for each, n in self._numbers.items() if n > number_of_task - 8}
        self._numbers[unpacked] = number_of_task
        self.thread.put(unpacked)

    def rest(self) -> None:
        self.thread.rest()

    def stop(self, terms: str, wait_seconds: float) -> None:
        self.thread.stop(from_text(terms), wait_seconds)

    def _send(self, finding: Finding) -> None:
        number = self._numbers.get(finding.task)
        if number is not None:
            move = None if finding.move is None else str(finding.move)
            values = {"report": finding.report, "error": finding.error, "phase": finding.phase}
            self._parent.send_event("found", number_of_task=number, move=move, **values)


def main() -> None:
    if hasattr(os, "nice"):
        os.nice(_NICENESS)
    guard_group()
    parent = Parent()
    searches = _Searches(parent)
    methods = {name: getattr(searches, name) for name in ("begin", "advance", "search", "rest", "stop")}
    serve(parent, methods, (GdlError,), int(sys.argv[1]))


if __name__ == "__main__":
    main()
