"""The hash of a state: 64 bits of its key, for the tables of the solver, alpha-beta and the tree search."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ggp.jit.compiling import inlined
from ggp.jit.rows import Index

Words = NDArray[np.uint64]


@inlined
def hash_of(keys: Words, place: Index, words: Index) -> np.uint64:
    """64-bit hash of the key that begins at word `place`. Multiply and shift, as in MurmurHash3."""
    mixed = np.uint64(0x9E3779B97F4A7C15)
    for d in range(words):
        mixed = (mixed ^ keys[place + d]) * np.uint64(0xFF51AFD7ED558CCD)
        mixed = (mixed ^ (mixed >> np.uint64(32))) * np.uint64(0xC4CEB9FE1A85EC53)
        mixed = mixed ^ (mixed >> np.uint64(29))
    return mixed
