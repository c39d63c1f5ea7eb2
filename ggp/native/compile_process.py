"""Compile parts in a process of low priority: `python -m ggp.native.compile_process`.

It reads pickled `Order`s from its input and writes the pickled members of an `Answer` for every part of each
in the order given. It ends when the CPU seconds of an order are used up, and when its input ends: then the
process that ordered is no more, however it ended.
"""

from __future__ import annotations

import math
import os
import pickle
import queue
import sys
import threading
import time
from contextlib import suppress
from enum import IntEnum
from typing import NamedTuple

from ggp.circuit.tables import CircuitTables
from ggp.native.code import compile_part
from ggp.native.parts import Layout, Part
from ggp.native.schedule import ScheduleError

NICENESS = 10


class Outcome(IntEnum):
    """What became of a part: CODE, or a reason: IMPOSSIBLE for every processor of this kind, or FAILED."""

    CODE = 0
    IMPOSSIBLE = 1
    FAILED = 2


class Order(NamedTuple):
    """What to compile.

    parts         in order
    words         of a row
    cpu_seconds   for all of it
    """

    tables: CircuitTables
    layout: Layout
    parts: tuple[Part, ...]
    words: int
    cpu_seconds: float


class Answer(NamedTuple):
    """One part of an order: object code, or the reason why there is none; and the CPU seconds it took."""

    part: Part
    outcome: Outcome
    content: bytes
    cpu_seconds: float


def _run() -> None:
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    orders: queue.SimpleQueue[Order] = queue.SimpleQueue()
    threading.Thread(target=_read_orders, args=(orders,), daemon=True).start()
    with suppress(BrokenPipeError):
        while True:
            order = orders.get()
            _limit_cpu_seconds(order.cpu_seconds)
            for part in order.parts:
                begin = time.process_time()
                outcome, content = _compiled(order, part)
                answer = int(part), int(outcome), content, time.process_time() - begin
                sys.stdout.buffer.write(pickle.dumps(answer))
                sys.stdout.buffer.flush()
    os._exit(0)


def _compiled(order: Order, part: Part) -> tuple[Outcome, bytes]:
    try:
        return Outcome.CODE, compile_part(order.tables, order.layout, part, order.words)
    except ScheduleError as error:
        return Outcome.IMPOSSIBLE, str(error).encode()
    except Exception as error:  # the parent logs it, and keeps the interpreter
        return Outcome.FAILED, f"{type(error).__name__}: {error}".encode()


def _read_orders(orders: queue.SimpleQueue[Order]) -> None:
    while True:
        try:
            orders.put(pickle.load(sys.stdin.buffer))
        except Exception:  # the end of the input, or of the parent amid an order
            os._exit(0)


def _limit_cpu_seconds(seconds: float) -> None:
    """End this process by SIGXCPU when it has used that many more CPU seconds."""
    try:
        import resource
    except ImportError:  # Windows
        return
    limit, (_, allowed) = math.ceil(time.process_time() + seconds), resource.getrlimit(resource.RLIMIT_CPU)
    if allowed != resource.RLIM_INFINITY:
        limit = min(limit, allowed)
    resource.setrlimit(resource.RLIMIT_CPU, (limit, allowed))
    # That signal would leave an image of the memory.
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


if __name__ == "__main__":
    _run()
