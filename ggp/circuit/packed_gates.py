"""Gates as two arrays, for circuits whose tuples would fill the memory.

A circuit of twenty million gate inputs takes 1.6 GB as tuples and 80 MB here.

Letters: G gates, E gate inputs in all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, pairwise
from typing import TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from gdl.slices import slice_offsets, slice_places

Gate: TypeAlias = tuple[int, ...]
Gates: TypeAlias = "tuple[Gate, ...] | PackedGates"
Int32Array: TypeAlias = NDArray[np.int32]
Int64Array: TypeAlias = NDArray[np.int64]


class PackedGates(Sequence[Gate]):
    """A sequence of gates, kept as arrays; equal to a tuple of them.

    first   int64[G+1]; gate g reads input[first[g] : first[g+1]]
    input   int32[E]; literals, sorted within a gate

    Reading a single gate is slow; `as_tuples` makes all of them at once.
    """

    def __init__(self, first: Int64Array, inputs: Int32Array) -> None:
        self.first = first
        self.input = inputs

    def __len__(self) -> int:
        return len(self.first) - 1

    @overload
    def __getitem__(self, place: int) -> Gate: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Gate]: ...
    def __getitem__(self, place: int | slice) -> Gate | Sequence[Gate]:
        if isinstance(place, slice):
            return self.as_tuples()[place]
        gate = range(len(self))[place]
        return tuple(self.input[self.first[gate] : self.first[gate + 1]].tolist())

    def __iter__(self) -> Iterator[Gate]:
        return iter(self.as_tuples())

    def __eq__(self, other: object) -> bool:
        if isinstance(other, PackedGates):
            return np.array_equal(self.first, other.first) and np.array_equal(self.input, other.input)
        return isinstance(other, tuple) and self.as_tuples() == other

    def __hash__(self) -> int:
        return hash(self.as_tuples())

    def as_tuples(self) -> tuple[Gate, ...]:
        inputs = self.input.tolist()
        return tuple([tuple(inputs[begin:end]) for begin, end in pairwise(self.first.tolist())])


def packed(gates: Gates) -> PackedGates:
    """`gates` as arrays."""
    if isinstance(gates, PackedGates):
        return gates
    first = slice_offsets(np.fromiter(map(len, gates), np.int64, len(gates)))
    return PackedGates(first, np.fromiter(chain.from_iterable(gates), np.int32, int(first[-1])))


def as_tuples(gates: Gates) -> tuple[Gate, ...]:
    return gates.as_tuples() if isinstance(gates, PackedGates) else gates


def input_count(gates: Gates) -> int:
    """Gate inputs in all."""
    return len(gates.input) if isinstance(gates, PackedGates) else sum(map(len, gates))


def mark_needed(
    gates: PackedGates, gate0: int, literals: Sequence[int], is_marked: NDArray[np.bool_]
) -> None:
    """Mark in is_marked, bool[G], the gates that `literals` need. Marked ones are not followed further."""
    frontier = np.array(literals, np.int64) // 2 - gate0
    frontier = np.unique(frontier[frontier >= 0])
    frontier = frontier[~is_marked[frontier]]
    is_new = np.zeros(len(gates), np.bool_)
    while len(frontier):
        is_marked[frontier] = True
        begin = gates.first[frontier]
        read = (gates.input[slice_places(begin, gates.first[frontier + 1] - begin)] >> 1) - gate0
        read = read[read >= 0]
        read = read[~is_marked[read]]
        if len(read) < 1000:
            frontier = np.unique(read)
        else:
            is_new[read] = True
            frontier = np.flatnonzero(is_new)
            is_new[frontier] = False


def selected(gates: PackedGates, gate0: int, kept: NDArray[np.bool_]) -> tuple[PackedGates, Int64Array]:
    """The gates of a closed set, in order, and the new node numbers.

    kept   bool[G]: the set; only the numbers of kept nodes are meaningful
    """
    node = np.arange(gate0 + len(gates))
    node[gate0:] = gate0 - 1 + np.cumsum(kept)
    places = np.flatnonzero(kept)
    begin = gates.first[places]
    length = gates.first[places + 1] - begin
    old = gates.input[slice_places(begin, length)]
    return PackedGates(slice_offsets(length), (2 * node[old >> 1] | old & 1).astype(np.int32)), node
