"""Training targets of a network: the values of the roles, and the visits of each move."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from gdl.slices import slice_offsets, slice_places

Float32Array = NDArray[np.float32]
Int32Array = NDArray[np.int32]


@dataclass(frozen=True)
class Samples:
    """N states, with the legal moves of every role that had a choice, one state after another.

    states  uint8[N, ceil(F/8)]: fluents, packed as `np.packbits` does
    values  float32[N, R]: 0..1
    first   int64[N+1]: moves of state n are first[n] .. first[n+1] - 1
    move    int32[*]: counted over all roles
    role    int32[*]: whose move it is
    share   float32[*]: of the visits of its role; they sum up to 1 for each state and role
    """

    states: NDArray[np.uint8]
    values: Float32Array
    first: NDArray[np.int64]
    move: Int32Array
    role: Int32Array
    share: Float32Array

    def __len__(self) -> int:
        return len(self.states)

    @classmethod
    def empty(cls, fluents: int, roles: int) -> Samples:
        states, values = np.zeros((0, -(-fluents // 8)), np.uint8), np.zeros((0, roles), np.float32)
        numbers = np.zeros(0, np.int32)
        return cls(states, values, np.zeros(1, np.int64), numbers, numbers, np.zeros(0, np.float32))

    def chosen(self, places: NDArray[np.int64]) -> Samples:
        """Those at int64[K] places."""
        sizes = np.diff(self.first)[places]
        edges = slice_places(self.first[places], sizes)
        of_edges = self.move[edges], self.role[edges], self.share[edges]
        return Samples(self.states[places], self.values[places], slice_offsets(sizes), *of_edges)

    def newest(self, count: int) -> Samples:
        """The last `count` at most."""
        return self if len(self) <= count else self.chosen(np.arange(len(self) - count, len(self)))


def joined_samples(parts: Sequence[Samples]) -> Samples:
    """Samples of one game as one, in order. At least one part."""
    offsets = np.cumsum([0, *(part.first[-1] for part in parts)])
    first = [part.first[:-1] + offset for part, offset in zip(parts, offsets, strict=False)]
    arrays = {each.name: [getattr(part, each.name) for part in parts] for each in fields(Samples)}
    arrays["first"] = [*first, offsets[-1:]]
    return Samples(**{name: np.concatenate(array) for name, array in arrays.items()})
