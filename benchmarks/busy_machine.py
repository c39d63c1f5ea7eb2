"""Count the moves that come from a search while other processes keep every core busy.

    python benchmarks/busy_machine.py [--busy 6] [--matches 3] [--play-clock 1] [--game connectfour]

Two `ggp player` processes play all matches at once against each other. Exit status 0 if no move was late.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.player_process import ENVIRONMENT, ROOT, PlayerProcess

MOVE = re.compile(r" PLAY busy\d+ .* in [\d.]+ s \((?P<origin>[a-z ]+)")
"""An answered PLAY in the player's log, with the origin of its move."""


def manage(
    stack: ExitStack, number: int, players: list[PlayerProcess], arguments: argparse.Namespace, folder: Path
) -> subprocess.Popen[bytes]:
    """Start the manager of one match; it ends with `stack`."""
    command = [sys.executable, "-m", "ggp", "manage", arguments.game, *(each.address for each in players)]
    command += ["--start-clock", str(arguments.start_clock), "--play-clock", str(arguments.play_clock)]
    command += ["--match-id", f"busy{number}", "--record", str(folder / f"{number}.json")]
    manager = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=ENVIRONMENT, cwd=ROOT)
    stack.callback(manager.kill)
    return manager


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--busy", type=int, default=6)
    parser.add_argument("--matches", type=int, default=3)
    parser.add_argument("--game", default="connectfour")
    parser.add_argument("--start-clock", type=float, default=5.0)
    parser.add_argument("--play-clock", type=float, default=1.0)
    arguments = parser.parse_args()
    codes: Counter[str] = Counter()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        players = [PlayerProcess() for _ in range(2)]
        for player in players:
            stack.callback(player.close)
        for _ in range(arguments.busy):
            busy = subprocess.Popen([sys.executable, "-c", "while True: pass"])
            stack.callback(busy.kill)
        for manager in [manage(stack, n, players, arguments, folder) for n in range(arguments.matches)]:
            manager.wait()
        for number in range(arguments.matches):
            with contextlib.suppress(OSError):  # the manager has said why there is none
                record = json.loads((folder / f"{number}.json").read_text())
                codes.update(code.split()[0] for row in record["errors"] for code in row if code)
    found = [MOVE.search(line) for player in players for line in list(player.lines)]
    origins = Counter(each["origin"] for each in found if each)
    print(f"{origins.total()} moves, by origin {dict(origins)}; faults {dict(codes)}")
    sys.exit(1 if codes["TO"] else 0)


if __name__ == "__main__":
    main()
