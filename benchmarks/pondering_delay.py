"""Measure how long a search process goes on pondering after a PLAY, over all bundled sheets.

    python -m benchmarks.pondering_delay [GAME...] [--plays 8] [--matches 1] [--ponder 0.3 2]

GAME is a bundled sheet or a file; the default is all bundled ones. One search process is fed as the HTTP
player feeds it, match after match: START, then PLAYs, each after it has pondered for a random time; the moves
of the other roles are random. Reported are the times from the moment a PLAY is sent

    asked      until the player is asked for its move: pondering has ended, and the match is followed
    searching  until the first simulation, or other search, for that move begins. Moves without any (forced,
               solved, proven, from a book or a plan) do not count

both by the clock and in CPU time of all threads of the process, which does not depend on other load. The time
of a move that is spent on purpose before the tree search (a probe for a solution, a plan, the head start of
alpha-beta) belongs to `searching`.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import random
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.player_process import ENVIRONMENT, ROOT
from gdl.program import pack
from ggp.engines.loading import find_rules, load
from ggp.game import Game, GameError, has_percepts
from ggp.player_server import worker

MEMORY_MEBIBYTES = 6144
SEARCHES = (
    ("ggp.search.tree.tree_engine", "TreeEngine", "run"),
    ("ggp.search.sets.many_trees", "ManyTreeSearch", "run"),
    ("ggp.search.forest.guided", "NetworkSearch", "run"),
    ("ggp.search.alphabeta.search", "AlphaBeta", "search"),
)
"""Methods in which a search begins."""


# --- the search process ----------------------------------------------------------------------------


class InstrumentedWorker:
    """`ggp.player_server.worker`, which also reports when the player is asked and when it searches."""

    def __init__(self) -> None:
        self._is_awaited = False
        self._send: Any = None

    def run(self) -> None:
        """Serve until standard input ends."""
        choose = worker.AgentMatch._chosen_move

        def chosen_move(match: worker.AgentMatch, *arguments: Any) -> Any:
            self._send, self._is_awaited = match.send, True
            self._report("asked")
            try:
                return choose(match, *arguments)
            finally:
                self._is_awaited = False

        setattr(worker.AgentMatch, choose.__name__, chosen_move)
        for module, name, method in SEARCHES:
            self._watch_search(getattr(importlib.import_module(module), name), method)
        worker.main()

    def _watch_search(self, owner: type, method: str) -> None:
        original = getattr(owner, method)

        def run(search: Any, *arguments: Any, **named: Any) -> Any:
            if self._is_awaited and arguments != (0,):  # a tree search of no ticks only loads kernels
                self._is_awaited = False
                self._report("searching")
            return original(search, *arguments, **named)

        setattr(owner, method, run)

    def _report(self, moment: str) -> None:
        self._send(moment, now=time.monotonic(), cpu=time.process_time())


# --- the server's side -----------------------------------------------------------------------------


@dataclass
class Delay:
    """Milliseconds from one PLAY on; `searching` stays None if nothing was searched."""

    asked: float = 0.0
    asked_cpu: float = 0.0
    searching: float | None = None
    searching_cpu: float | None = None


@dataclass
class Match:
    """One match in which the search process has a role."""

    game: Game[Any]
    index: int
    rng: random.Random
    state: Any = None
    joint_move: tuple[Any, ...] | None = None
    percepts: tuple[Any, ...] = ()
    delays: list[Delay] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.state = self.game.initial_state()

    @property
    def terms(self) -> tuple[str, ...] | None:
        """The list of the next PLAY."""
        if self.joint_move is None:
            return None
        told = self.percepts if has_percepts(self.game) else self.joint_move
        return tuple(map(str, told))

    def advance(self, move: str) -> None:
        """Make `move` and random moves of the other roles."""
        legal = [self.game.legal_moves(self.state, role) for role in self.game.roles]
        own = next(each for each in legal[self.index] if str(each) == move)
        joint = tuple(own if r == self.index else self.rng.choice(moves) for r, moves in enumerate(legal))
        self.percepts = self.game.percepts(self.state, joint, self.game.roles[self.index])
        self.state, self.joint_move = self.game.next_state(self.state, joint), joint


class SearchProcess:
    """One search process and what it reports."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        command = [sys.executable, "-m", "benchmarks.pondering_delay", "--worker"]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=ENVIRONMENT,
            cwd=ROOT,
            start_new_session=True,
        )
        self._cpu_clock = (~self._process.pid << 3) | 2  # clock_getcpuclockid(3)
        self.send("prepare", number=1, agent=arguments.agent)
        self.wait_for("answer")

    def send(self, do: str, **values: Any) -> tuple[float, float]:
        """Send a request; the time and the CPU seconds of the process just before."""
        assert self._process.stdin is not None
        before = time.monotonic(), time.clock_gettime(self._cpu_clock)
        self._process.stdin.write(json.dumps({"do": do, **values}).encode() + b"\n")
        self._process.stdin.flush()
        return before

    def wait_for(self, *kinds: str) -> dict[str, Any]:
        """The next event of one of these kinds, or answer. Raises RuntimeError if the process ends."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            event: dict[str, Any] = json.loads(line)
            if event.get("event", "answer") in kinds:
                return event
            if event.get("event") == "gives_up":
                raise RuntimeError(event["message"])
        raise RuntimeError(f"the search process ended with {self._process.wait()}")

    def ask(self, **request: Any) -> tuple[str, Delay]:
        """The move in answer to a PLAY, and how long it took to begin."""
        begin, begin_cpu = self.send("play", **request)
        delay = Delay()
        while (event := self.wait_for("asked", "searching", "move"))["event"] != "move":
            wall, cpu = 1000 * (event["now"] - begin), 1000 * (event["cpu"] - begin_cpu)
            if event["event"] == "asked":
                delay.asked, delay.asked_cpu = wall, cpu
            else:
                delay.searching, delay.searching_cpu = wall, cpu
        return event["move"], delay

    @property
    def is_alive(self) -> bool:
        """Whether the process can play another match."""
        return self._process.poll() is None

    def close(self) -> None:
        self._process.kill()
        self._process.wait()


def play_match(
    process: SearchProcess, sheet: Path, arguments: argparse.Namespace, rng: random.Random
) -> list[Delay]:
    """The delays of one match."""
    game = load(sheet)
    match = Match(game, rng.randrange(len(game.roles)), rng)
    now = time.monotonic()
    process.send(
        "start",
        number=2,
        match_id=sheet.stem,
        program=pack(game.program),
        role=str(game.roles[match.index]),
        agent=arguments.agent,
        engine="auto",
        start_clock_seconds=arguments.start_clock,
        play_clock_seconds=arguments.play_clock,
        seed=rng.randrange(2**31),
        memory_mebibytes=MEMORY_MEBIBYTES,
        ponder=True,
        deadline=now + arguments.start_clock,
    )
    process.wait_for("answer")
    own = None
    for ticket in range(arguments.plays):
        if game.is_terminal(match.state):
            break
        time.sleep(rng.uniform(*arguments.ponder))
        deadline = time.monotonic() + arguments.think
        own, delay = process.ask(ticket=ticket, terms=match.terms, own_move=own, deadline=deadline)
        match.delays.append(delay)
        match.advance(own)
    process.send("stop", number=3, terms=match.terms or ())
    with contextlib.suppress(RuntimeError):  # it ends if threads of the match do not
        process.wait_for("answer")
    return match.delays


def quantile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least this share of `values` does not exceed."""
    return sorted(values)[max(0, -int(-share * len(values) // 1) - 1)]


def row(name: str, delays: Sequence[Delay]) -> str:
    """A line of the table."""
    cells = [name, str(len(delays))]
    for moment in ("asked", "asked_cpu", "searching", "searching_cpu"):
        found = [value for each in delays if (value := getattr(each, moment)) is not None]
        cells.append(" / ".join(f"{quantile(found, share):.1f}" for share in (0.5, 0.95, 1.0) if found))
    return f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("games", nargs="*", metavar="GAME")
    parser.add_argument("--agent", default="mcts")
    parser.add_argument("--plays", type=int, default=8, help="PLAYs per match at most")
    parser.add_argument("--matches", type=int, default=1, help="per sheet")
    parser.add_argument("--ponder", type=float, nargs=2, default=(0.3, 2.0), metavar=("LEAST", "MOST"))
    parser.add_argument("--start-clock", type=float, default=3.0)
    parser.add_argument("--play-clock", type=float, default=10.0, help="by which pondering plans its time")
    parser.add_argument("--think", type=float, default=0.5, help="seconds in which a move must be answered")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        InstrumentedWorker().run()
        return
    sheets = [find_rules(name) for name in arguments.games] or sorted((ROOT / "games").glob("*.kif"))
    everything: list[Delay] = []
    print("Milliseconds: median / 95th percentile / maximum\n")
    print("| sheet | PLAYs | asked | asked, CPU | searching | searching, CPU |\n|---|---|---|---|---|---|")
    process = SearchProcess(arguments)
    for sheet in sheets:
        rng = random.Random(f"{arguments.seed} {sheet.stem}")
        delays: list[Delay] = []
        for _ in range(arguments.matches):
            if not process.is_alive:
                process = SearchProcess(arguments)
            try:
                delays += play_match(process, Path(sheet), arguments, rng)
            except (RuntimeError, GameError) as error:
                print(f"{sheet}: {error}", file=sys.stderr)
                process.close()
        if delays:
            print(row(Path(sheet).stem, delays), flush=True)
        everything += delays
    process.close()
    print(row("**all**", everything))


if __name__ == "__main__":
    main()
