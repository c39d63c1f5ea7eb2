"""The child's end of a link to the web server: requests in, replies and events out, one JSON object a line.

A request has a number and the name of what to do; its reply has the same number. Events have none.
"""

from __future__ import annotations

import gc
import json
import logging
import threading
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO

from gdl.errors import GdlError
from ggp.game import GameError
from ggp.match.player import PlayerError
from ggp.match.record import RecordError
from ggp.processes.child_end import LineQueue, end_process_group, limit_memory, take_stdin, take_stdout

log = logging.getLogger("ggp.web")
MESSAGE_CHARACTERS = 2000
TOO_DEEP = "the rules are nested too deeply"
GARBAGE_OBJECTS = 100_000
"""New objects before garbage is collected: a state with 2,000 moves has 20,000 that all stay."""


class RequestError(Exception):
    """A request that cannot be met; its text is shown to the person.

    >>> str(RequestError("it is not your turn"))
    'it is not your turn'
    """


class Wire:
    """Lines to the server. May be written from any thread; the process ends if nobody reads them."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._lock = threading.Lock()

    def send(self, message: Mapping[str, Any]) -> None:
        """Write one message."""
        line = json.dumps(message).encode() + b"\n"
        with self._lock:
            try:
                self._stream.write(line)
                self._stream.flush()
            except (OSError, ValueError):
                end_process_group()


def answer(line: bytes, methods: Mapping[str, Callable[..., Any]]) -> dict[str, Any]:
    """The reply to one request; errors of rules, moves, players and records are told to the person.

    What is not foreseen is logged and answered as well: it costs one request, and not the match.

    >>> answer(b'{"number": 7, "do": "double", "value": 4}', {"double": lambda value: 2 * value})
    {'number': 7, 'result': 8}
    """
    number = None
    try:
        request = json.loads(line)
        number = request.pop("number")
        return {"number": number, "result": methods[request.pop("do")](**request)}
    except (RequestError, GdlError, GameError, PlayerError, RecordError) as error:
        return {"number": number, "error": str(error)[:MESSAGE_CHARACTERS]}
    except RecursionError:
        return {"number": number, "error": TOO_DEEP}
    except MemoryError:
        raise
    except Exception as error:
        return {"number": number, "error": unforeseen(error)}


def unforeseen(error: Exception) -> str:
    """A sentence for an unforeseen error; its traceback goes to the log.

    >>> logging.disable(logging.CRITICAL)
    >>> unforeseen(ValueError("no date"))
    'a mistake of the program, not yours: ValueError: no date'
    >>> logging.disable(logging.NOTSET)
    """
    log.error("request failed", exc_info=error)
    return f"a mistake of the program, not yours: {type(error).__name__}: {error}"[:MESSAGE_CHARACTERS]


def serve(mebibytes: int, make: Callable[[LineQueue, Wire], None]) -> None:
    """Run `make` on this process's lines, under a memory limit; the process ends with it."""
    lines, wire = LineQueue(take_stdin()), Wire(take_stdout())
    limit_memory(mebibytes)
    gc.freeze()  # what is imported stays: going through it all takes longer than a click may
    gc.set_threshold(GARBAGE_OBJECTS)
    try:
        make(lines, wire)
    except (MemoryError, OSError):
        end_process_group(3)
