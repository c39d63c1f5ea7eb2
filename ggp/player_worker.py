"""The search process of one match: `python -m ggp.player_worker`, started by the HTTP player.

It reads orders and writes reports, one JSON object a line, on its standard input and output, so that
nothing but text crosses the border and either side may die at any time:

    order   start    rules, role, agent, engine, clocks, seed, memory_mebibytes, ponder, deadline
            play     ticket, terms (null for NIL), own_move, deadline
            stop     terms
            prepare  agent: compile what the agent runs and keep it on disk, then end; no match
    report  ready    after start
            best     ticket, move: the best so far, whenever it changes
            report   ticket, report: how the search stands, a few times per second
            move     ticket, move, report: the decision, and how the search stood in the end
            failed   message: this process gives up

Deadlines are `time.monotonic()` seconds, which all processes of a machine share. The process has its own
session: its server kills the whole group, grounding children included, and it kills its own
group when standard input closes, because then the server is dead. Between its orders the player thinks on
where it was told to (`ponder`), and stops when the next one comes.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import queue
import random
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

from gdl.errors import ReasoningError
from gdl.terms import Term
from ggp.game import Game, Move
from ggp.players import MatchSetup, Player, make_player
from ggp.protocol import parse_term, parse_term_or_name
from ggp.search.report import SearchReport
from ggp.tracking import Tracker, has_percepts, make_tracker

log = logging.getLogger("ggp.player")
Order = Mapping[str, Any]

_SMALL_RULES = """
    (role a) (role b) (init start) (legal b wait) (legal a left) (legal a right)
    (<= (next end) (does a left)) (<= (next over) (does a right)) (<= terminal (not (true start)))
    (<= (goal a 100) (true end)) (<= (goal a 0) (not (true end)))
    (<= (goal b 0) (true end)) (<= (goal b 100) (not (true end)))
"""

PONDERING_PATIENCE_SECONDS = 5.0
"""How much longer than the longer clock the search goes on without an order; then the manager is gone."""


class Inbox:
    """Orders as they arrive, read by a thread of its own so that the end of input is seen at once."""

    def __init__(self, stream: BinaryIO) -> None:
        self._orders: queue.Queue[Order] = queue.Queue()
        threading.Thread(target=self._read, args=(stream,), daemon=True).start()

    def _read(self, stream: BinaryIO) -> None:
        for line in stream:
            self._orders.put(json.loads(line))
        end_process_group()

    def has_orders(self) -> bool:
        """Whether something has arrived."""
        return not self._orders.empty()

    def wait(self) -> list[Order]:
        """Everything that has arrived, at least one order."""
        orders = [self._orders.get()]
        while not self._orders.empty():
            orders.append(self._orders.get())
        return orders


class Outbox:
    """Reports to the server. Written from the search thread only."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def send(self, kind: str, **fields: object) -> None:
        """Write one report; ends the process where nobody reads any more."""
        try:
            self._stream.write(json.dumps({"type": kind, **fields}).encode() + b"\n")
            self._stream.flush()
        except (OSError, ValueError):
            end_process_group()


@dataclass
class Search:
    """The agent at work on one match."""

    player: Player
    tracker: Tracker
    game: Game[Any]
    outbox: Outbox
    ticket: int = -1
    pondering_seconds: float = 0.0

    def play(self, orders: list[Order]) -> None:
        """Advance through all of `orders` and answer the last: the others are too late anyway."""
        for order in orders:
            own_move = order["own_move"]
            position = self.tracker.advance(
                _parse_terms(order["terms"]), own_move and parse_term_or_name(own_move), order["deadline"]
            )
        self.ticket = orders[-1]["ticket"]
        if not position.legal:
            return
        self.report_best(position.legal[0])
        move = self.player.choose(position.state, orders[-1]["deadline"], position.joint_move)
        if move not in position.legal:
            log.error("%s chose %s, which is not legal: the first legal move instead", self.player.name, move)
            move = position.legal[0]
        report = getattr(self.player, "last_report", None)
        self.outbox.send(
            "move", ticket=self.ticket, move=str(move), report=None if report is None else report.to_dict()
        )

    def ponder(self, is_over: Callable[[], bool]) -> None:
        """Let the player think on until `is_over()`, if it is told to and is one that can."""
        if self.pondering_seconds > 0 and not is_over() and hasattr(self.player, "ponder"):
            self.player.ponder(is_over, time.monotonic() + self.pondering_seconds)

    def report_search(self, report: SearchReport) -> None:
        """Tell the server how the search stands."""
        if self.ticket >= 0:
            self.outbox.send("report", ticket=self.ticket, report=report.to_dict())

    def report_best(self, move: Move) -> None:
        """Tell the server the best move so far; nothing while no PLAY is being answered."""
        if self.ticket >= 0:
            self.outbox.send("best", ticket=self.ticket, move=str(move))


def main() -> None:
    """Serve one match on standard input and output."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    outbox = Outbox(_take_stdout())
    inbox = Inbox(sys.stdin.buffer)
    try:
        _serve(inbox, outbox)
    except MemoryError:
        outbox.send("failed", message="out of memory")
        end_process_group(3)
    except Exception as error:
        outbox.send("failed", message=f"{type(error).__name__}: {error}"[:2000])
        end_process_group(1)
    end_process_group()


def _serve(inbox: Inbox, outbox: Outbox) -> None:
    search: Search | None = None
    while True:
        plays: list[Order] = []
        for order in inbox.wait():
            if order["type"] == "prepare":
                prepare(order["agent"])
                outbox.send("ready")
                return
            if order["type"] == "start":
                search = _start(order, outbox)
            elif order["type"] == "play":
                plays.append(order)
            elif order["type"] == "stop":
                if search is not None:
                    search.player.stop(_parse_terms(order["terms"]))
                return
        if plays and search is not None:
            search.play(plays)
        if search is not None:
            search.ponder(inbox.has_orders)


def _start(order: Order, outbox: Outbox) -> Search:
    _limit_memory(order["memory_mebibytes"])
    game = load_rules(order["rules"], engine=order["engine"])
    role = parse_term(order["role"])
    seed = order["seed"]
    search = Search(
        player=make_player(
            order["agent"],
            on_progress=lambda move: search.report_best(move),
            on_report=lambda report: search.report_search(report),
        ),
        tracker=make_tracker(game, role, random.Random(seed)),
        game=game,
        outbox=outbox,
    )
    setup = MatchSetup(
        order["match_id"], game, role, order["start_clock_seconds"], order["play_clock_seconds"], seed
    )
    # Where roles see percepts only, the state to think on in is a guess that the next message replaces.
    is_pondering = order["ponder"] or getattr(search.player, "ponders", False)
    if is_pondering and not has_percepts(game):
        clock = max(setup.start_clock_seconds, setup.play_clock_seconds)
        search.pondering_seconds = clock + PONDERING_PATIENCE_SECONDS
    search.player.start(setup, order["deadline"])
    outbox.send("ready", has_percepts=has_percepts(game))
    return search


def prepare(agent: str) -> None:
    """Get every kernel that `agent` runs compiled and kept, by a game of one step."""
    player = make_player(agent)
    if hasattr(player, "prepare"):
        player.prepare(load_rules(_SMALL_RULES, engine="auto"))


def load_rules(rules: str, *, engine: str) -> Game[Any]:
    """The game of a START message; never a file or a game of ours, whatever the text looks like.

    Raises GdlError for rules that cannot be used.
    """
    if "(" not in rules:
        raise ReasoningError("a START message without rules")
    import ggp

    return ggp.load(rules + "\n", engine=engine, name="START")


def _parse_terms(texts: list[str] | None) -> tuple[Term, ...] | None:
    return None if texts is None else tuple(map(parse_term_or_name, texts))


def _limit_memory(mebibytes: int) -> None:
    """Make allocations beyond `mebibytes` fail, where the system can."""
    try:
        import resource
    except ImportError:
        return
    limit = mebibytes * 1024 * 1024
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def _take_stdout() -> BinaryIO:
    """Standard output for reports alone: what libraries print goes to standard error."""
    stream = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return stream


def end_process_group(status: int = 0) -> None:
    """End this process and all it has started, at once. Callable from any thread."""
    with contextlib.suppress(OSError):
        if os.getpgrp() == os.getpid():
            os.killpg(0, signal.SIGKILL)
    os._exit(status)


if __name__ == "__main__":
    main()
