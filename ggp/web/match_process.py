"""The process of one match: `python -m ggp.web.match_process MIB`, started by the web server.

Requests name a method of `ShownMatch` and its arguments:

    prepare                                  load rules that will probably be opened
    open, replay                             of them the first, answered with what does not change
    show, view, explore, record              what the page shows, also as files
    position                                 rules and facts of what is to be explained
    play, undo, think, rest, review, abort   in a match that is played here
    resign                                   how persons end it

Searches load the rules on the fastest engine in a process of lower priority (`agent_process`). Events:
`state` with what has changed, `phase` when a search gets ready or begins, `think` while it runs, `review` for
every choice of a review, `failed` if a search ended without a move.
"""

from __future__ import annotations

import gc
import queue
import sys

from gdl.errors import GdlError
from ggp.game import GameError
from ggp.match.player import PlayerError
from ggp.match.record import RecordError
from ggp.processes.child_end import FULL_STATUS, Parent, end_process_group, limit_memory, sentence
from ggp.web.agent_thread import Finding
from ggp.web.shown_match import ShownMatch

_REQUESTS = (
    *("prepare", "open", "replay", "show", "view", "explore", "position"),
    *("record", "resign"),
    *("play", "undo", "think", "rest", "review", "abort"),
)
MISTAKES = (GdlError, GameError, PlayerError, RecordError)
_GARBAGE_OBJECTS = 100_000
"""New objects between garbage collections: a state with 2,000 moves has 20,000 lasting objects."""


def main() -> None:
    parent, mebibytes = Parent(), int(sys.argv[1])
    limit_memory(mebibytes)
    gc.freeze()  # imports stay alive: collecting them would take longer than a click may
    gc.set_threshold(_GARBAGE_OBJECTS)
    match = ShownMatch(parent.send, parent.put, mebibytes)
    methods = {name: getattr(match, name) for name in _REQUESTS}
    seconds: float | None = None
    while True:
        try:
            item = parent.next(timeout=seconds)
        except queue.Empty:
            item = None
        try:
            if isinstance(item, Finding):
                match.take(item)
            elif item is not None:
                parent.answer(item, methods, MISTAKES)
            seconds = match.run_on()
        except MemoryError:
            end_process_group(FULL_STATUS)
        except Exception as error:
            seconds = None
            match.fail(sentence(error, MISTAKES))


if __name__ == "__main__":
    main()
