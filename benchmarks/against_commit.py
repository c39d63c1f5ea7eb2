"""Matches of this checkout against another commit's, over HTTP: `python -m benchmarks.against_commit --help`.

    git worktree add ../base 7e480a9
    python -m benchmarks.against_commit ../base matches.jsonl --minutes 60
    python -m benchmarks.against_commit ../base matches.jsonl --report
    python -m benchmarks.against_commit ../base matches.jsonl --cores 0 1 --ponder

Each match is played by `ggp player` processes that share one core without pondering: each has it to itself
while it is to move, and where roles choose at once they share it. With `--ponder` the candidate has the first
core of two and the others the second, and each ponders as it does by default. What a player keeps about a
game lies in `$XDG_DATA_HOME`: an empty folder makes a fair beginning. Rounds go over all games; this
checkout, the candidate, sits in one seat and the other commit in all others, and seats rotate. Openings are
not varied: matches differ because searches against a clock do. Each match appends one line to the file, and
a later call goes on after it. Ctrl-C ends the work.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, Self

from benchmarks.player_process import ENVIRONMENT, ROOT, PlayerProcess, environment_of, pinned
from ggp.confidence_intervals import wilson_interval
from ggp.engines.loading import read_program, stated_roles
from ggp.game import RANDOM_ROLE

GAMES = (
    *(
        "connectfour",
        "breakthrough",
        "hex_7x7",
        "othello",
        "checkers",
        "pentago",
        "nineboard",
        "knightthrough",
    ),
    *("skirmish", "dotsandboxes", "minichess", "blocker", "tron", "goofspiel", "connectfour_3p"),
    *("chinesecheckers_3p", "amazons_5x5", "hex_11x11", "dicerace", "sheepandwolf"),
)
CORPUS_GAMES = ("gomoku_11x11", "tictactoe_3d_2player", "quad", "battle")
"""More games with over 40 moves, from the corpus of rule files (`$GGP_CORPUS`), if it is there."""
CORPUS = Path(os.environ.get("GGP_CORPUS", ROOT.parent / "shared" / "corpus"))
AGENT = "mcts:threads=1"


@dataclass(frozen=True)
class Pairing:
    """One match to play; `seat` is the candidate's, `random` not counted."""

    game: str
    seat: int
    round: int


@dataclass(frozen=True)
class Outcome(Pairing):
    """One match played. `points` are 0..1, a draw 0.5; None if the match was not completed or had a fault."""

    points: float | None
    goals: list[int] | None
    faults: list[str]
    steps: int
    base: str
    candidate: str
    ponders: bool = False


def rule_file(game: str) -> Path:
    """A bundled game, or one of the corpus."""
    bundled = ROOT / "games" / f"{game}.kif"
    return bundled if bundled.exists() else next(CORPUS.rglob(f"{game}.kif"), bundled)


def player_seats(game: str) -> list[int]:
    """Role numbers of the game's players, without `random`."""
    roles = stated_roles(read_program(rule_file(game))[0])
    return [number for number, role in enumerate(roles) if role != RANDOM_ROLE]


def pairings(games: list[str], played: set[tuple[str, int]]) -> Iterator[Pairing]:
    """Rounds over all games without end, except those that were played."""
    number = 0
    while True:
        for game in games:
            if (game, number) not in played:
                yield Pairing(game, number % len(player_seats(game)), number)
        number += 1


def commit_of(folder: Path) -> str:
    """Abbreviated commit that is checked out."""
    command = ["git", "-C", str(folder), "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def warm_up(folder: Path, game: str, core: int) -> None:
    """Compile the game's circuit with the code in `folder`, so that no match waits for it."""
    seats = ["legal"] * len(player_seats(game))
    command = [sys.executable, "-m", "ggp", "match", str(rule_file(game)), *seats]
    subprocess.run(
        [*pinned(core), *command, "--engine", "lanes"],
        env=environment_of(folder),
        cwd=folder,
        check=False,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


class Table:
    """A player of the candidate on the first core, and one of the base for every other seat on the last.

    With two cores they ponder as they do by default.
    """

    def __init__(self, base: Path, cores: list[int], clocks: list[str]) -> None:
        self.base, self.cores, self.clocks = base, cores, clocks
        self.commits = commit_of(base), commit_of(ROOT)
        self._stack = ExitStack()
        self._candidate = self._player(ROOT, cores[0])
        self._others: list[PlayerProcess] = []

    def _player(self, folder: Path, core: int) -> PlayerProcess:
        # Earlier commits lack the option and do not ponder by default.
        command = folder / "ggp" / "cli" / "player.py"
        has_option = command.exists() and "--no-ponder" in command.read_text(encoding="utf-8")
        is_quiet = has_option and len(self.cores) == 1
        options = ["--agent", AGENT, *(["--no-ponder"] if is_quiet else [])]
        player = PlayerProcess(*options, root=folder, core=core)
        self._stack.callback(player.close)
        return player

    def play(self, pairing: Pairing) -> Outcome:
        """Play one match and judge it."""
        seats = player_seats(pairing.game)
        while len(self._others) < len(seats) - 1:  # a process plays one role of a match
            self._others.append(self._player(self.base, self.cores[-1]))
        addresses = [each.address for each in self._others[: len(seats) - 1]]
        addresses.insert(pairing.seat, self._candidate.address)
        with tempfile.TemporaryDirectory() as folder:
            record = Path(folder) / "record.json"
            command = [sys.executable, "-m", "ggp", "manage", str(rule_file(pairing.game)), *addresses]
            command += [*self.clocks, "--seed", str(pairing.round), "--record", str(record)]
            subprocess.run(command, stdout=subprocess.DEVNULL, env=ENVIRONMENT, cwd=ROOT, check=False)
            content = json.loads(record.read_text()) if record.exists() else {}
        return self._judged(pairing, seats, content)

    def _judged(self, pairing: Pairing, seats: list[int], content: Mapping[str, Any]) -> Outcome:
        faults = sorted({code for row in content.get("errors", []) for code in row if code})
        goals = content.get("goalValues")
        points = None
        if content.get("isCompleted") and goals is not None and not faults:
            own = goals[seats[pairing.seat]]
            others = [goals[s] for s in seats if s != seats[pairing.seat]]
            points = (own - fmean(others) + 100) / 200
        base, candidate = self.commits
        steps = len(content.get("moves", []))
        return Outcome(**asdict(pairing), points=points, goals=goals, faults=faults, steps=steps,
                       base=base, candidate=candidate, ponders=len(self.cores) > 1)  # fmt: skip

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()


def read_outcomes(path: Path) -> list[Outcome]:
    """The matches in the file, none if there is no file."""
    return [Outcome(**json.loads(line)) for line in path.read_text().splitlines()] if path.exists() else []


def play_all(given: argparse.Namespace) -> None:
    """Play at one table per core, or per two with pondering, until the time is over."""
    until = time.monotonic() + 60 * given.minutes
    path = Path(given.outcomes)
    todo = pairings(given.games, {(each.game, each.round) for each in read_outcomes(path)})
    clocks = ["--start-clock", str(given.start_clock), "--play-clock", str(given.play_clock)]
    base = Path(given.base).resolve()
    lock = threading.Lock()
    is_warm: set[str] = set()

    def run(cores: list[int]) -> None:
        with Table(base, cores, clocks) as table:
            while time.monotonic() < until:
                with lock:
                    pairing = next(todo)
                if pairing.game not in is_warm:
                    warm_up(base, pairing.game, cores[-1])
                    warm_up(ROOT, pairing.game, cores[0])
                    is_warm.add(pairing.game)
                outcome = table.play(pairing)
                with lock, path.open("a") as file:
                    file.write(json.dumps(asdict(outcome)) + "\n")

    size = 2 if given.ponder else 1
    tables = [given.cores[i : i + size] for i in range(0, len(given.cores), size)]
    with ThreadPoolExecutor(len(tables)) as pool:
        for future in [pool.submit(run, cores) for cores in tables]:
            future.result()


def report(outcomes: list[Outcome]) -> str:
    """Points of the candidate by game as a table in Markdown."""
    by_game: dict[str, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        by_game[outcome.game].append(outcome)
    rows = ["| game | points of the candidate, % | matches | with a fault, not counted | mean steps |"]
    rows.append("|---|---|---:|---:|---:|")
    means = []
    for game, found in sorted(by_game.items()):
        points = [each.points for each in found if each.points is not None]
        if points:
            means.append(fmean(points))
        steps = fmean(each.steps for each in found)
        rows.append(
            f"| {game} | {_share(points)} | {len(points)} | {len(found) - len(points)} | {steps:.0f} |"
        )
    every = [each.points for each in outcomes if each.points is not None]
    rows.append(f"| all matches | {_share(every)} | {len(every)} | {len(outcomes) - len(every)} | |")
    if means:
        rows.append(f"| mean of the games | {100 * fmean(means):.1f} | | | |")
    return "\n".join(rows)


def _share(points: list[float]) -> str:
    if not points:
        return ""
    low, high = wilson_interval(sum(points), len(points))
    return f"{100 * fmean(points):.1f} [{100 * low:.0f}, {100 * high:.0f}]"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("base", help="checkout of the other commit")
    parser.add_argument("outcomes", help="JSON Lines file to append to")
    there = [game for game in CORPUS_GAMES if rule_file(game).exists()]
    parser.add_argument("--games", nargs="+", default=[*GAMES, *there])
    parser.add_argument("--cores", nargs="+", type=int, default=[0])
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--start-clock", type=float, default=10.0)
    parser.add_argument("--play-clock", type=float, default=1.0)
    parser.add_argument("--ponder", action="store_true", help="two cores a match, the candidate on the first")
    parser.add_argument("--report", action="store_true", help="only print the table of what was played")
    given = parser.parse_args()
    if given.ponder and len(given.cores) % 2:
        parser.error("--ponder needs two cores for each match")
    if not given.report:
        play_all(given)
    print(report(read_outcomes(Path(given.outcomes))))


if __name__ == "__main__":
    main()
