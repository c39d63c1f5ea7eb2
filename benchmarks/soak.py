"""Play many matches over HTTP with a short clock: no START lost, no move missing, no growth of memory.

    python -m benchmarks.soak [--matches 200] [--minutes M] [--play-clock 1] [--start-clock 5]
                               [--at-once 1] [--busy 0] [--no-ponder]

A manager like that of `ggp manage` referees long-lived `ggp player` processes on loopback, in ten games of
different kinds in turn, with rotating roles; with `--busy 2`, while two processes per core do nothing but
compute. Prints a line per match: STARTs that were not answered `ready`, faults of moves by code, moves drawn
at random and those of the short search, both without an answer from the search process in time, and the size
of each player process after the match. At the end it counts them and fits a line to each player's sizes after
the first tenth of the matches. Exit code 0 if no START was lost,
every move was an answer and none of them random, and no player grew by more than a mebibyte per ten matches.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from benchmarks.player_process import PlayerProcess, resident_mebibytes
from ggp.engines.loading import load
from ggp.game import Game
from ggp.match.terms import MatchTerms
from ggp.protocol.manager import manage_match

GAMES = (
    *("tictactoe", "goofspiel", "connectfour_4x4", "dicerace", "nim", "connectfour_3p", "blocker"),
    *("kuhn_poker", "breakthrough_4x4", "tron"),
)
"""Moves in turn and at once, chance, three roles, hidden information."""
MAX_PLAYERS = 3
GROWTH_ALLOWED = 0.1
"""Mebibytes per match."""


@dataclass
class Outcome:
    """One match: seconds, what was lost, and MiB per player, joined by spaces."""

    number: int
    game: str
    players: str
    steps: int
    seconds: float
    is_completed: bool
    goals: str
    lost_starts: int
    late: int
    no_connection: int
    illegal: int
    random: int
    short_searches: int
    slowest_seconds: float
    player_mebibytes: str
    load: float


async def play(
    number: int, game: Game[Any], players: list[PlayerProcess], clocks: tuple[float, float]
) -> Outcome:
    """Referee match `number`; roles rotate with every round of the games."""
    turn = number // len(GAMES)
    count = 3 if game.name.endswith("_3p") else 2
    seats = [(turn + index) % count for index in range(count)]
    match_id = f"soak{number}"
    terms = MatchTerms(*clocks, seed=number, match_id=match_id)
    begin = time.monotonic()
    record = await manage_match(game, [players[seat].address for seat in seats], terms)
    faults = [
        [str(fault).partition(" ")[0] for fault in step.faults if fault is not None] for step in record.steps
    ]
    codes = Counter(code for row in faults[1:] for code in row)
    used = [value for step in record.steps[1:] for value in step.seconds if value is not None]
    return Outcome(
        number=number,
        game=game.name,
        players=" ".join(map(str, seats)),
        steps=len(record.moves),
        seconds=round(time.monotonic() - begin, 1),
        is_completed=record.is_completed,
        goals=" ".join(map(str, record.goals or [])),
        lost_starts=len(faults[0]) if faults else count,
        late=codes["TO"],
        no_connection=codes["CE"],
        illegal=codes["IL"],
        random=sum(player.count(f" {match_id} ", "(random)", "(guess)") for player in players),
        short_searches=sum(player.count(f" {match_id} ", "(short search)") for player in players),
        slowest_seconds=max(used, default=0.0),
        player_mebibytes=" ".join(f"{resident_mebibytes(p.process.pid):.1f}" for p in players),
        load=round(os.getloadavg()[0], 2),
    )


async def play_all(
    players: list[PlayerProcess], arguments: argparse.Namespace, report: Callable[[Outcome], None]
) -> None:
    """Play the matches, some of them at once; after `--minutes` none begins."""
    games = [load(name) for name in GAMES]
    begin, numbers = time.monotonic(), iter(range(arguments.matches))

    async def play_some() -> None:
        for number in numbers:
            if arguments.minutes is not None and time.monotonic() - begin > 60 * arguments.minutes:
                return
            game = games[number % len(games)]
            report(await play(number, game, players, (arguments.start_clock, arguments.play_clock)))

    await asyncio.gather(*(play_some() for _ in range(arguments.at_once)))


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
    lost = {
        name: sum(getattr(outcome, name) for outcome in outcomes)
        for name in ("lost_starts", "late", "no_connection", "illegal", "random")
    }
    incomplete = [o.number for o in outcomes if not o.is_completed]
    slopes = [growth(outcomes, player) for player in range(MAX_PLAYERS)]
    print(
        f"{len(outcomes)} matches, {sum(o.steps for o in outcomes)} steps; {lost}; "
        f"not completed {incomplete}; {sum(o.short_searches for o in outcomes)} moves of the short search; "
        f"slowest move {max(o.slowest_seconds for o in outcomes):.3f} s"
    )
    for player, slope in enumerate(slopes):
        first, last = (float(o.player_mebibytes.split()[player]) for o in (outcomes[0], outcomes[-1]))
        print(
            f"player {player}: {first:.1f} MiB after the first match, {last:.1f} after the last,"
            f" {slope:+.3f} per match"
        )
    return not any(lost.values()) and not incomplete and max(slopes) <= GROWTH_ALLOWED


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--matches", type=int, default=200)
    parser.add_argument("--minutes", type=float, help="begin no match later than this")
    parser.add_argument("--start-clock", type=float, default=5.0)
    parser.add_argument("--play-clock", type=float, default=1.0)
    parser.add_argument("--agent", default="mcts")
    parser.add_argument("--no-ponder", action="store_true")
    parser.add_argument("--at-once", type=int, default=1, help="matches played at the same time")
    parser.add_argument("--busy", type=int, default=0, help="busy processes per core")
    arguments = parser.parse_args()
    options = ["--agent", arguments.agent, *(["--no-ponder"] if arguments.no_ponder else [])]
    outcomes: list[Outcome] = []
    with ExitStack() as stack:
        players = [PlayerProcess(*options) for _ in range(MAX_PLAYERS)]
        for player in players:
            stack.callback(player.close)
        for _ in range(arguments.busy * (os.cpu_count() or 1)):
            stack.callback(subprocess.Popen([sys.executable, "-c", "while True: pass"]).kill)

        def report(outcome: Outcome) -> None:
            outcomes.append(outcome)
            print(outcome, flush=True)

        asyncio.run(play_all(players, arguments, report))
        is_well = summarize(outcomes)
    sys.exit(0 if is_well else 1)


if __name__ == "__main__":
    main()
