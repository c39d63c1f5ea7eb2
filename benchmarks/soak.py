"""Play many matches over HTTP with a short clock: no faults, and no growth of memory.

    python benchmarks/soak.py [--matches 200] [--minutes M] [--play-clock 1] [--start-clock 5]
                              [--csv soak.csv] [--no-ponder]

`ggp manage` referees long-lived `ggp player` processes on loopback, in ten games of different kinds in turn,
with rotating roles. The CSV has a row per match: faults by code, moves made without an answer from the search
process in time (not a fault, but weak), the size of each player process after the match, and the peak of its
search processes. At the end it counts faults and fits a line to each player's sizes after the first tenth of
the matches. Exit code 0 if no player was at fault and none grew by more than a mebibyte per ten matches.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.player_process import ENVIRONMENT, ROOT, PlayerProcess, resident_mebibytes

GAMES = (
    "tictactoe",
    "goofspiel",  # simultaneous
    "connectfour_4x4",
    "dicerace",  # chance
    "nim",
    "connectfour_3p",  # three roles
    "blocker",  # simultaneous, one square each
    "kuhn_poker",  # hidden information
    "breakthrough_4x4",
    "tron",  # simultaneous
)
MOST_PLAYERS = 3
GROWTH_ALLOWED = 0.1
"""Mebibytes per match."""
SAMPLE_SECONDS = 0.5


@dataclass
class Outcome:
    """One match: seconds, faults by code, and MiB per player, joined by spaces."""

    number: int
    game: str
    players: str
    steps: int
    seconds: float
    is_completed: bool
    goals: str
    late: int
    no_connection: int
    illegal: int
    unsearched: int
    slowest_seconds: float
    player_mebibytes: str
    worker_mebibytes: str
    load: float


class MemoryWatch:
    """Sample the memory of each player's search processes during a match."""

    def __init__(self, players: list[PlayerProcess]) -> None:
        self.players = players
        self.most = [0.0] * len(players)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._over.wait(SAMPLE_SECONDS):
            for index, player in enumerate(self.players):
                size = sum(map(resident_mebibytes, player.workers()))
                self.most[index] = max(self.most[index], size)


def role_count(game: str) -> int:
    """Number of players of a bundled game."""
    return 3 if game.endswith("_3p") else 2


def play(number: int, players: list[PlayerProcess], clocks: list[str], folder: Path) -> Outcome:
    """Referee match `number`; roles rotate with every round of the games."""
    game = GAMES[number % len(GAMES)]
    turn = number // len(GAMES)
    count = role_count(game)
    seats = [(turn + index) % count for index in range(count)]
    record_path = folder / f"{number}.json"
    command = [sys.executable, "-m", "ggp", "manage", game, *(players[seat].address for seat in seats)]
    command += [*clocks, "--seed", str(number), "--match-id", f"soak{number}", "--record", str(record_path)]
    begin = time.monotonic()
    with MemoryWatch(players) as watch:
        done = subprocess.run(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT, cwd=ROOT
        )
    seconds = time.monotonic() - begin
    record: dict[str, Any] = {}
    if record_path.exists():
        record = json.loads(record_path.read_text())
        record_path.unlink()
    else:
        print(f"match {number}: no record, ggp manage said {done.stderr.strip()[-500:]}", flush=True)
    codes = Counter(code.split()[0] for row in record.get("errors", []) for code in row if code)
    used = [value for row in record.get("x-moveSeconds", [])[1:] for value in row if value is not None]
    return Outcome(
        number=number,
        game=game,
        players=" ".join(map(str, seats)),
        steps=len(record.get("moves", [])),
        seconds=round(seconds, 1),
        is_completed=bool(record.get("isCompleted")),
        goals=" ".join(map(str, record.get("goalValues", []))),
        late=codes["TO"],
        no_connection=codes["CE"],
        illegal=codes["IL"],
        unsearched=sum(player.count(f" soak{number} ", "(random)", "(guess)") for player in players),
        slowest_seconds=max(used, default=0.0),
        player_mebibytes=" ".join(f"{resident_mebibytes(p.process.pid):.1f}" for p in players),
        worker_mebibytes=" ".join(f"{size:.0f}" for size in watch.most),
        load=round(os.getloadavg()[0], 2),
    )


def growth(outcomes: list[Outcome], player: int) -> float:
    """Least-squares slope of the size of one player process, MiB per match, after the first tenth."""
    sizes = [float(outcome.player_mebibytes.split()[player]) for outcome in outcomes]
    sizes = sizes[len(sizes) // 10 :]
    middle = (len(sizes) - 1) / 2
    spread = sum((i - middle) ** 2 for i in range(len(sizes)))
    mean = sum(sizes) / max(1, len(sizes))
    return sum((i - middle) * (size - mean) for i, size in enumerate(sizes)) / spread if spread else 0.0


def summarize(outcomes: list[Outcome]) -> bool:
    """Print a summary; whether all is well."""
    faults = {
        "TO": sum(o.late for o in outcomes),
        "CE": sum(o.no_connection for o in outcomes),
        "IL": sum(o.illegal for o in outcomes),
    }
    incomplete = [o.number for o in outcomes if not o.is_completed]
    slopes = [growth(outcomes, player) for player in range(MOST_PLAYERS)]
    print(
        f"{len(outcomes)} matches, {sum(o.steps for o in outcomes)} steps, "
        f"{sum(o.seconds for o in outcomes) / 60:.1f} min; faults {faults}; not completed {incomplete}; "
        f"{sum(o.unsearched for o in outcomes)} moves without search; "
        f"slowest move {max(o.slowest_seconds for o in outcomes):.3f} s"
    )
    for player, slope in enumerate(slopes):
        first, last = (float(o.player_mebibytes.split()[player]) for o in (outcomes[0], outcomes[-1]))
        print(
            f"player {player}: {first:.1f} MiB after the first match, {last:.1f} after the last,"
            f" {slope:+.3f} per match"
        )
    return not any(faults.values()) and not incomplete and max(slopes) <= GROWTH_ALLOWED


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--matches", type=int, default=200)
    parser.add_argument("--minutes", type=float, help="begin no match later than this")
    parser.add_argument("--start-clock", type=float, default=5.0)
    parser.add_argument("--play-clock", type=float, default=1.0)
    parser.add_argument("--agent", default="mcts")
    parser.add_argument("--no-ponder", action="store_true")
    parser.add_argument("--csv", type=Path, default=Path("soak.csv"))
    parser.add_argument("--log", type=Path, help="path prefix of the players' logs: LOG.0, LOG.1, LOG.2")
    arguments = parser.parse_args()
    clocks = ["--start-clock", str(arguments.start_clock), "--play-clock", str(arguments.play_clock)]
    options = ["--agent", arguments.agent, *(["--no-ponder"] if arguments.no_ponder else [])]
    outcomes: list[Outcome] = []
    with ExitStack() as stack:
        players = [PlayerProcess(*options) for _ in range(MOST_PLAYERS)]
        for player in players:
            stack.callback(player.close)
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        file = stack.enter_context(arguments.csv.open("w", newline=""))
        writer = csv.DictWriter(file, list(Outcome.__dataclass_fields__))
        writer.writeheader()
        begin = time.monotonic()
        for number in range(arguments.matches):
            if arguments.minutes is not None and time.monotonic() - begin > 60 * arguments.minutes:
                break
            outcome = play(number, players, clocks, folder)
            outcomes.append(outcome)
            writer.writerow(asdict(outcome))
            file.flush()
            print(outcome, flush=True)
            if arguments.log is not None:
                for index, player in enumerate(players):
                    Path(f"{arguments.log}.{index}").write_text("\n".join(player.lines) + "\n")
        is_well = summarize(outcomes)
    sys.exit(0 if is_well else 1)


if __name__ == "__main__":
    main()
