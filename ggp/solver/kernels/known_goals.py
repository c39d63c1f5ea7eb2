"""Goals of solved states by key, for searches that treat such states as ends of the game. Letters: N states,
D words per key, S slots of the hash table."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggp.jit.compiling import inlined
from ggp.jit.rows import Index
from ggp.lanes.keys.key_table import Words, make_key_table, slot_of

UNKNOWN_GOAL = -1
_LOW = np.uint64(0xFFFF_FFFF)


class KnownGoals(NamedTuple):
    """The goals of role 0 in states that were solved.

    table   uint64[S] and keys uint64[N*D]: see `ggp.lanes.keys.key_table`
    goal    uint8[N]
    """

    table: Words
    keys: Words
    goal: NDArray[np.uint8]


def no_known_goals() -> KnownGoals:
    """Of no state."""
    return KnownGoals(make_key_table(0), np.zeros(1, np.uint64), np.zeros(0, np.uint8))


@inlined
def known_goal(known: KnownGoals, words: Index, reached: Words, place: Index, mixed: np.uint64) -> Index:
    """The goal in the state whose key begins at word `place` of `reached`, or UNKNOWN_GOAL.

    mixed   the hash of the key, by `prefetch_batch`
    """
    slot = slot_of(known.table, known.keys, words, reached, place, mixed)
    entry = known.table[slot]
    if entry == np.uint64(0):
        return np.int64(UNKNOWN_GOAL)
    return np.int64(known.goal[np.int64(entry & _LOW) - 1])
