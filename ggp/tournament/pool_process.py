"""A worker process of `pool`: `python -m ggp.tournament.pool_process` calls functions for its parent."""

from __future__ import annotations

import traceback
from typing import Any

from ggp.processes.child_end import Parent
from ggp.processes.isolation import from_text, to_text
from ggp.tournament.pool import CallError


def call(packed: str) -> str:
    """Whether the call has a result, and the result or exception."""
    try:
        function, arguments = from_text(packed)
        outcome: tuple[bool, Any] = True, function(*arguments)
        return to_text(outcome)
    except CallError as error:
        return to_text((False, error))
    except Exception as error:  # any process can unpickle a text
        return to_text((False, RuntimeError("".join(traceback.format_exception(error)).rstrip())))


def main() -> None:
    """Serve calls until the input ends."""
    parent = Parent()
    while True:
        parent.answer(parent.next(), {"call": call}, ())


if __name__ == "__main__":
    main()
