"""Play matches over loopback in which one player fails, with real processes on both sides.

    python benchmarks/http_scenarios.py [--play-clock 1.5] [--only NAME]

For two roles and for three: `ggp manage` referees `ggp player` processes while one player (the last role's)
is killed, sleeps past its clock, answers nonsense, or loses its search process. Every match must finish with
exactly the expected faults in its record, and none of the other players'.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import socketserver
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.player_process import ENVIRONMENT, ROOT, PlayerProcess

GAMES = {2: "connectfour_4x4", 3: "connectfour_3p"}


class NonsensePlayer:
    """Answer `ready` to START and nonsense to everything else."""

    def __init__(self) -> None:
        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                reply = b"ready" if b"START" in body else b"(how (about ?that"
                self.send_response(200)
                self.end_headers()
                self.wfile.write(reply)

            def log_message(self, format: str, *arguments: object) -> None:
                pass

        self.server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self.address = f"127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


def nothing(victim: Any) -> None:
    """No failure."""


def kill(victim: PlayerProcess) -> None:
    """Kill the player in the middle of the match."""
    victim.process.kill()


def sleep(victim: PlayerProcess) -> None:
    """Stop the player process for some steps, then resume it."""
    victim.process.send_signal(signal.SIGSTOP)
    threading.Timer(6.0, victim.process.send_signal, [signal.SIGCONT]).start()


def kill_worker(victim: PlayerProcess) -> None:
    """Kill the player's search processes."""
    for worker in victim.workers():
        os.kill(worker, signal.SIGKILL)


SCENARIOS: dict[str, tuple[Callable[[Any], None], set[str]]] = {
    "normal": (nothing, set()),
    "player killed": (kill, {"CE"}),
    "player sleeps": (sleep, {"TO"}),
    "nonsense": (nothing, {"IL (how (about ?that"}),
    "worker killed": (kill_worker, set()),
}
"""Scenario → failure of the last player a few seconds into the match, and its expected faults."""


def play(role_count: int, name: str, clocks: list[str]) -> tuple[dict[str, Any], float, list[str]]:
    """Run one scenario; match record, seconds, and log of the last player."""
    act, _ = SCENARIOS[name]
    with ExitStack() as stack:
        players: list[Any] = [PlayerProcess() for _ in range(role_count - 1)]
        players.append(NonsensePlayer() if name == "nonsense" else PlayerProcess())
        for player in players:
            stack.callback(player.close)
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        record = Path(folder) / "record.json"
        addresses = [player.address for player in players]
        command = [sys.executable, "-m", "ggp", "manage", GAMES[role_count], *addresses]
        begin = time.monotonic()
        manager = subprocess.Popen(
            [*command, *clocks, "--record", str(record)], stdout=subprocess.DEVNULL, env=ENVIRONMENT, cwd=ROOT
        )
        time.sleep(7.0)
        act(players[-1])
        code = manager.wait(240)
        if code != 0:
            raise SystemExit(f"ggp manage ended with {code}")
        log = list(getattr(players[-1], "lines", ()))
        return json.loads(record.read_text()), time.monotonic() - begin, log


def verdict(record: dict[str, Any], expected: set[str]) -> str:
    """`ok`, or what is wrong with the record of a scenario."""
    errors = record["errors"]
    if not record["isCompleted"] or record["isAborted"]:
        return "not completed"
    if not len(record["states"]) == len(record["moves"]) + 1 == len(errors):
        return "rows do not match"
    others = {code for row in errors for code in row[:-1]} - {""}
    if others:
        return f"surviving players have faults {others}"
    own = {row[-1] for row in errors} - {""}
    return "ok" if own == expected else f"faults {own}, expected {expected}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--play-clock", type=float, default=1.5)
    parser.add_argument(
        "--only", choices=list(SCENARIOS), action="append", help="scenario to run; all by default"
    )
    parser.add_argument("--show-log", action="store_true", help="print the log of the last player")
    arguments = parser.parse_args()
    clocks = ["--start-clock", "4", "--play-clock", str(arguments.play_clock)]
    is_all_well = True
    for role_count in GAMES:
        for name, (_, expected) in SCENARIOS.items():
            if arguments.only and name not in arguments.only:
                continue
            record, seconds, log = play(role_count, name, clocks)
            outcome = verdict(record, expected)
            is_all_well &= outcome == "ok"
            faults = sum(1 for row in record["errors"] if row[-1])
            print(
                f"{role_count} players  {name:<14} {outcome}: {len(record['moves'])} steps, {seconds:.0f} s, "
                f"{faults} faults of the last player, goals {record['goalValues']}",
                flush=True,
            )
            if arguments.show_log:
                print("\n".join(log), flush=True)
    sys.exit(0 if is_all_well else 1)


if __name__ == "__main__":
    main()
