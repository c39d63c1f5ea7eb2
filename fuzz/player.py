"""Send mutated HTTP messages to a running player: it must not crash, hang or grow, and still play afterwards.

    python fuzz/player.py [--count 10000] [--seed 1]

Starts its own `ggp player` on a free loopback port. Half of the messages are raw requests with mutated bytes,
half are well-formed requests with a mutated expression, so that both the HTTP front and the code behind it
are exercised.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

from ggp.engines.loading import load
from ggp.match.terms import MatchTerms
from ggp.protocol.manager import manage_match

ROOT = Path(__file__).resolve().parent.parent
RULES = " ".join(
    line.partition(";")[0] for line in (ROOT / "games" / "nim.kif").read_text(encoding="utf-8").splitlines()
)
ROLES = [str(role) for role in load("nim", "reasoner").roles]
EXPRESSIONS = (
    ["( INFO )", "( PLAY m1 NIL )", "( PLAY m2 ( ( take a 1 ) noop ) )", "( PLAY m1 3 noop ( ( sees x ) ) )"]
    * 3
    + ["( STOP m1 ( noop noop ) )", "( ABORT m1 )", "( ABORT m2 )", "( PREVIEW ((role x)) 10 )"] * 2
    + [f"( START m{number} {ROLES[0]} ({RULES}) 5 2 )" for number in (1, 2)]
)
PIECES = [
    b"(",
    b")",
    b"((((",
    b"))))",
    b"\x00",
    b"\xff\xfe",
    b"NIL",
    b"?x",
    b";",
    b'"',
    b"|",
    b"\r\n\r\n",
    b"\n",
]
PIECES += [
    b"9" * 40,
    b"-1",
    b"1e308",
    b"nan",
    b"%28",
    b"START",
    b"PLAY",
    b"(" * 5000,
    b"x" * 5000,
    b"\xe2\x88",
]
PIECES += [
    b"Content-Length: 5\r\n",
    b"Transfer-Encoding: chunked\r\n",
    b"HTTP/9.9",
    b"<=",
    b"Expect: 100-continue\r\n",
]
ANSWER_SECONDS = 40.0
CONNECTIONS = 12


def mutate(data: bytes, rng: random.Random) -> bytes:
    """`data` after one to four random edits."""
    edited = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4))):
        place = rng.randint(0, len(edited))
        length = rng.randint(1, 20)
        edit = rng.randrange(6)
        if edit == 0 and edited:
            edited[place % len(edited)] = rng.randrange(256)
        elif edit == 1:
            del edited[place : place + length]
        elif edit == 2:
            edited[place:place] = rng.choice(PIECES)
        elif edit == 3:
            edited[place:place] = edited[place : place + length] * rng.randint(1, 3)
        elif edit == 4:
            edited[place:place] = rng.randbytes(length)
        elif rng.random() < 0.3:
            del edited[place:]
    return bytes(edited)


def make_request(rng: random.Random) -> bytes:
    """One mutated request."""
    expression = rng.choice(EXPRESSIONS).encode()
    is_raw = rng.random() < 0.5
    body = expression if is_raw else mutate(expression, rng)
    version = rng.choice([b"1.0", b"1.1"])
    if rng.random() < 0.1:
        request = b"GET /" + body.replace(b" ", b"%20") + b" HTTP/" + version + b"\r\n\r\n"
    else:
        head = b"POST / HTTP/" + version + b"\r\nContent-Type: text/acl\r\n"
        request = head + b"Content-Length: %d\r\n\r\n" % len(body) + body
    return mutate(request, rng) if is_raw else request


async def send(port: int, request: bytes) -> str:
    """Outcome of one request: a status, `no reply`, `reset` or `HANG`."""
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            try:
                writer.write(request)
                await writer.drain()
                writer.write_eof()
                reply = await reader.read()
            finally:
                writer.close()
    except TimeoutError:
        return "HANG"
    except OSError:
        return "reset"
    words = reply.split(b" ", 2)
    return words[1].decode("latin-1") if len(words) > 1 else "no reply"


async def fuzz(port: int, count: int, rng: random.Random, process_id: int) -> tuple[Counter[str], list[int]]:
    """Send `count` requests, some concurrently: outcomes, and resident MiB at intervals."""
    outcomes: Counter[str] = Counter()
    memory: list[int] = []
    requests = iter(range(count))

    async def work() -> None:
        for number in requests:
            outcomes[await send(port, make_request(rng))] += 1
            if number % max(1, count // 10) == 0:
                memory.append(resident_mebibytes(process_id))

    await asyncio.gather(*(work() for _ in range(CONNECTIONS)))
    memory.append(resident_mebibytes(process_id))
    return outcomes, memory


def resident_mebibytes(process_id: int) -> int:
    """Memory of a process, from /proc; 0 elsewhere."""
    try:
        pages = int(Path(f"/proc/{process_id}/statm").read_text().split()[1])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE") // 1024**2


def start_player(log: Path) -> tuple[subprocess.Popen[str], int]:
    command = [
        sys.executable,
        "-m",
        "ggp",
        "player",
        "--port",
        "0",
        "--agent",
        "legal",
        "--limit",
        "matches=2",
    ]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(command, stderr=log.open("w"), text=True, env=environment, cwd=ROOT)
    for _ in range(200):
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
        if lines:
            return process, int(lines[0].rpartition(":")[2])
        time.sleep(0.05)
    raise SystemExit("the player does not start")


def play(ports: list[int]) -> bool:
    """Whether a whole match finishes without any fault."""
    terms = MatchTerms(start_clock_seconds=5, play_clock_seconds=3, match_id="after")
    record = asyncio.run(
        manage_match(load("nim", "reasoner"), [f"127.0.0.1:{port}" for port in ports], terms)
    )
    print(
        f"match afterwards: {len(record.moves)} steps, goals {record.goals}, completed {record.is_completed}"
    )
    return record.is_completed and not any(code for row in record.errors for code in row)


def main() -> None:
    with ExitStack() as stack:
        is_well = run(stack)
    sys.exit(0 if is_well else 1)


def run(stack: ExitStack) -> bool:
    """Fuzz, then play; whether all is well."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    process, port = start_player(folder / "player.log")
    other, other_port = start_player(folder / "other.log")
    try:
        begin = time.monotonic()
        rng = random.Random(arguments.seed)
        outcomes, memory = asyncio.run(fuzz(port, arguments.count, rng, process.pid))
        seconds = time.monotonic() - begin
        print(f"{arguments.count} requests in {seconds:.0f} s: {dict(outcomes.most_common())}")
        print(f"resident MiB of the player: {memory}")
        is_alive = process.poll() is None
        print(f"alive: {is_alive}")
        for match_id in ("m1", "m2"):
            body = f"( ABORT {match_id} )".encode()
            head = b"POST / HTTP/1.0\r\nContent-Length: %d\r\n\r\n" % len(body)
            asyncio.run(send(port, head + body))
        is_playing = is_alive and play([port, other_port])
    finally:
        for player in (process, other):
            player.terminate()
            player.wait(10)
    return is_playing and not outcomes["HANG"] and not outcomes["500"]


if __name__ == "__main__":
    main()
