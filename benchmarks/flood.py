"""Attack a `ggp player` while it plays matches: no late move, INFO answered, memory back to what it was.

    python -m benchmarks.flood [--seconds 60] [--explosions 1000] [--play-clock 1]

Matches run over loopback, one after the other, while strangers send: 60 messages of 99 kB at once, STARTs of
1.9 and 7.9 MB, and bodies without a length; then STARTs with rules of 10^9 initial facts, aborted at once.
It counts late moves, moves without a search, the time of INFO, the memory of the server before and after, and
the seconds from SIGTERM to the end. Exit status 0 if no move was late, INFO took at most 0.1 s (95th
percentile), memory is within 50 MiB, and the server ended within 2 s.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import time

from benchmarks.player_process import ROOT, PlayerProcess, resident_mebibytes

RULES = (ROOT / "games" / "tictactoe.kif").read_text(encoding="utf-8")
NUMBERS = " ".join(f"(n {number})" for number in range(1000))
EXPLOSION = (
    f"(role x) {NUMBERS} (<= (init (cell ?a ?b ?c)) (n ?a) (n ?b) (n ?c)) (<= (next ?f) (true ?f))"
    "(legal x go) (goal x 0) (<= terminal (true q))"
)


async def post(port: int, text: str, *, has_length: bool = True) -> str:
    """The body of the answer; empty if the connection fails."""
    length = f"Content-Length: {len(text)}\r\n" if has_length else ""
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(f"POST / HTTP/1.0\r\n{length}\r\n{text}".encode())
        await writer.drain()
        reply = await reader.read()
        writer.close()
    except OSError:
        return ""
    return reply.decode().partition("\r\n\r\n")[2]


class Flood:
    """The player, the attacks on it, and what was measured meanwhile."""

    def __init__(self, player: PlayerProcess, play_clock: float) -> None:
        self.port = player.port
        self.play_clock = play_clock
        self.is_over = False
        self.info_seconds: list[float] = []
        self.move_seconds: list[float] = []

    async def ask_info(self) -> None:
        """Measure INFO ten times per second."""
        while not self.is_over:
            begin = time.monotonic()
            await post(self.port, "( INFO )")
            self.info_seconds.append(time.monotonic() - begin)
            await asyncio.sleep(0.1)

    async def play(self) -> None:
        """Ask for the first move of one match after the other, as a manager with a short clock."""
        number = 0
        while not self.is_over:
            number += 1
            match = f"honest{number}"
            if await post(self.port, f"( START {match} x ({RULES}) 5 {self.play_clock:g} )") != "ready":
                await asyncio.sleep(0.2)
                continue
            joint_move = "NIL"
            for _ in range(3):
                begin = time.monotonic()
                move = await post(self.port, f"( PLAY {match} {joint_move} )")
                self.move_seconds.append(time.monotonic() - begin)
                joint_move = "NIL" if move == "noop" else f"( {move} noop )"
            await post(self.port, f"( STOP {match} {joint_move} )")

    async def send_long_messages(self) -> None:
        """Messages that are long to read, in turn."""
        start = "( START flood x (" + "(a b) " * 330_000 + ") 5 1 )"
        while not self.is_over:
            plays = "( PLAY m (" + "(mark 1 1) " * 9_000 + ") )"
            await asyncio.gather(*(post(self.port, plays) for _ in range(60)))
            nested = "( START flood x (" + "(a " * 900 + "b " * 47_000 + ")" * 900 + ") 5 1 )"
            await asyncio.gather(*(post(self.port, nested) for _ in range(60)))
            await asyncio.gather(*(post(self.port, start) for _ in range(6)))
            await asyncio.gather(*(post(self.port, start * 4) for _ in range(6)))
            await asyncio.gather(*(post(self.port, start, has_length=False) for _ in range(6)))

    async def explode(self, count: int) -> None:
        """START and ABORT of rules whose states never fit."""
        for number in range(count):
            start = f"( START bad{number} x ({EXPLOSION}) 30 5 )"
            starting = asyncio.create_task(post(self.port, start))
            while not starting.done():
                await asyncio.sleep(0.02)
                if await post(self.port, f"( ABORT bad{number} )") == "aborted":
                    break
            await starting


async def attack(player: PlayerProcess, arguments: argparse.Namespace) -> Flood:
    flood = Flood(player, arguments.play_clock)
    tasks = [asyncio.create_task(work()) for work in (flood.ask_info, flood.play, flood.send_long_messages)]
    await asyncio.sleep(arguments.seconds)
    flood.is_over = True
    await asyncio.gather(*tasks)
    begin = time.monotonic()
    await flood.explode(arguments.explosions)
    print(f"{arguments.explosions} explosions in {time.monotonic() - begin:.1f} s")
    return flood


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--explosions", type=int, default=1000)
    parser.add_argument("--play-clock", type=float, default=1.0)
    arguments = parser.parse_args()
    player = PlayerProcess()
    before = resident_mebibytes(player.process.pid)
    flood = asyncio.run(attack(player, arguments))
    time.sleep(1.0)
    after = resident_mebibytes(player.process.pid)
    begin = time.monotonic()
    player.process.terminate()
    player.process.wait(30)
    end_seconds = time.monotonic() - begin
    late = sum(seconds > arguments.play_clock for seconds in flood.move_seconds)
    info = statistics.quantiles(flood.info_seconds, n=20)[-1]
    unsearched = player.count(" PLAY honest", "(random)", "(guess)", "(short search)")
    print(
        f"{len(flood.move_seconds)} moves, {late} late, slowest {max(flood.move_seconds, default=0):.3f} s, "
        f"{unsearched} without search; {len(flood.info_seconds)} INFO, 95th percentile {info:.3f} s, slowest "
        f"{max(flood.info_seconds):.3f} s; {before:.0f} MiB before, {after:.0f} after; "
        f"SIGTERM {end_seconds:.2f} s"
    )
    sys.exit(0 if late == 0 and info <= 0.1 and after - before <= 50 and end_seconds <= 2 else 1)


if __name__ == "__main__":
    main()
