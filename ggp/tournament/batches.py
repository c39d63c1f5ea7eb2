"""Divide matches into those played one by one and batches played side by side.

kind_of           kind of player in a seat
is_side_by_side   whether a match can be played next to others: its players are `uct` and `random`
batches           the matches that a worker plays in one call
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ggp.tournament.config import SIMULATION_CLOCK_SECONDS
from ggp.tournament.schedule import Cell, MatchTask

MAX_MATCHES = 512
"""Matches of one batch: the lanes of a forest."""

MAX_UNTIL_DECIDED = 128
"""Matches of one batch in runs with a stopping rule, where surplus matches are wasted."""

MIN_SHARED = 128
"""Size from which the last batch of a game is halved: smaller halves cost too much time per match."""

Batch = tuple[tuple[Cell, MatchTask], ...]
"""The matches that a worker plays in one call."""


def kind_of(player: str | None) -> str:
    """The kind of player in a seat, without options; None is `random`.

    >>> kind_of("uct:c=20"), kind_of(None)
    ('uct', 'random')
    """
    return (player or "random").partition(":")[0]


def is_side_by_side(task: MatchTask) -> bool:
    """Whether all players of a match are `uct` or `random`, one of them `uct`, without a clock.

    Not in games that may hide information, which these searches would know. With a clock, searches that share
    lanes would end at other times than those that do not.
    """
    kinds = set(map(kind_of, task.players))
    return (
        "uct" in kinds
        and kinds <= {"uct", "random"}
        and task.play_clock_seconds == SIMULATION_CLOCK_SECONDS
        and "sees" not in task.rules.lower()
    )


def batches(tasks: Iterable[tuple[Cell, MatchTask]], most: int = MAX_MATCHES) -> Iterator[Batch]:
    """Matches one by one, and those side by side in batches of one game and condition, at most `most`."""
    waiting: dict[tuple[str, str], list[tuple[Cell, MatchTask]]] = {}
    for cell, task in tasks:
        if not is_side_by_side(task):
            yield ((cell, task),)
            continue
        batch = waiting.setdefault((task.condition, task.game), [])
        batch.append((cell, task))
        if len(batch) == most:
            yield tuple(waiting.pop((task.condition, task.game)))
    for batch in waiting.values():
        # Always half, because matches must not depend on the number of workers.
        half = -(-len(batch) // 2) if len(batch) >= MIN_SHARED else len(batch)
        yield from (tuple(batch[first : first + half]) for first in range(0, len(batch), half))
