"""Layers: states whose key shows how many joint moves have led to them.

On a board that fills up, or with a step counter, no state is reached after different numbers of joint moves.
Then an enumeration looks for a successor among the states of the next layer alone: the key table of one
layer is small, and keys of earlier layers may go to disk. Which states those are is no guess: a *rank*, a
weighted sum of the bits of a key, is fitted to a sample of the layers and then evaluated in every state. If
it is the layer's number in all of them, no state is in two layers.

Letters: N states, D words per key, J masks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggp.jit.compiling import inlined, kernel
from ggp.jit.rows import Index
from ggp.lanes.keys.key_table import Words

LAYERED_FROM = 1 << 16
"""States from which on a rank is looked for: the table of fewer fits into the cache anyway."""
_MAX_MASKS = 16
_MAX_BITS = 256
_SAMPLE = 256
_ROUNDS = 8
_TOLERANCE = 0.25
"""Of the rank, a float; below a half, so that a state has at most one layer."""
_AT_ONCE = 1 << 17
_BLOCK = 1 << 10
_DEPENDENT = 1e-6


class Rank(NamedTuple):
    """The number of joint moves to a state: constant + the sum of weight[j] times bits of mask j in the key.

    mask     uint64[J*D]
    weight   float64[J]
    """

    mask: Words
    weight: NDArray[np.float64]
    constant: float


@inlined
def _bit_count(word: np.uint64) -> Index:
    """The number of bits set (Hacker's Delight 5-1), which becomes one instruction."""
    x = word - ((word >> np.uint64(1)) & np.uint64(0x5555_5555_5555_5555))
    x = (x & np.uint64(0x3333_3333_3333_3333)) + ((x >> np.uint64(2)) & np.uint64(0x3333_3333_3333_3333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F_0F0F_0F0F_0F0F)
    return np.int64((x * np.uint64(0x0101_0101_0101_0101)) >> np.uint64(56))


@kernel
def _find_ranks(
    rank: Rank, keys: Words, words: int, first: int, count: int, found: NDArray[np.float64]
) -> None:
    """found[i] = the rank of state first + i, for `count` states."""
    for i in range(count):
        found[i] = rank.constant
    for j in range(rank.weight.shape[0]):
        for d in range(words):
            weight, mask = rank.weight[j], rank.mask[words * j + d]
            for i in range(count if mask != np.uint64(0) else 0):
                found[i] += weight * _bit_count(keys[words * (first + i) + d] & mask)


@kernel
def _list_misplaced(
    rank: Rank,
    keys: Words,
    words: int,
    layer: int,
    first: int,
    end: int,
    found: NDArray[np.float64],
    wrong: NDArray[np.int64],
) -> int:
    """List those of the states first .. end-1 that are not in `layer`; return how many."""
    count = 0
    for start in range(first, end, found.shape[0]):
        size = min(found.shape[0], end - start)
        _find_ranks(rank, keys, words, start, size, found)
        for i in range(size):
            if abs(found[i] - layer) >= _TOLERANCE:
                wrong[count] = start + i
                count += 1
    return count


def layers_of(rank: Rank, keys: Words, words: int) -> NDArray[np.int64]:
    """int64[N]: the layers in which the states with these keys can be; -1 for none."""
    found = np.empty(len(keys) // words, np.float64)
    _find_ranks(rank, keys, words, 0, len(found), found)
    layer = np.rint(found)
    return np.where(np.abs(found - layer) < _TOLERANCE, layer, -1).astype(np.int64)


def find_rank(keys: Words, words: int, layer_ends: Sequence[int], check: Callable[[], None]) -> Rank | None:
    """A rank that is the number of the layer in all states; None if none is found.

    keys         uint64[N*D]
    layer_ends   layer d, not the only one, ends before state layer_ends[d]
    check        called every few milliseconds
    """
    if 64 * words > _MAX_BITS:
        return None
    chosen: NDArray[np.int64] = np.unique(
        np.linspace([0, layer_ends[-2]], layer_ends[-1] - 1, _SAMPLE).astype(np.int64)
    )
    for _ in range(_ROUNDS):
        rank = _fitted(keys, words, layer_ends, chosen)
        if rank is None:
            break
        wrong = np.concatenate(
            [
                misplaced_states(rank, keys, words, layer_ends, layer, check)
                for layer in range(len(layer_ends))
            ]
        )
        if not len(wrong):
            return rank
        chosen = np.union1d(chosen, wrong[:: -(-len(wrong) // _SAMPLE)])
    return None


def misplaced_states(
    rank: Rank, keys: Words, words: int, layer_ends: Sequence[int], layer: int, check: Callable[[], None]
) -> NDArray[np.int64]:
    """The states of one layer that belong in another according to `rank`; see `find_rank`."""
    first, end = [0, *layer_ends][layer : layer + 2]
    found, listed, wrong = np.empty(_BLOCK, np.float64), np.empty(_AT_ONCE, np.int64), []
    for start in range(first, end, _AT_ONCE):
        stop = min(start + _AT_ONCE, end)
        count = _list_misplaced(rank, keys, words, layer, start, stop, found, listed)
        wrong.append(listed[:count].copy())
        check()
    return np.concatenate(wrong)


def _fitted(keys: Words, words: int, layer_ends: Sequence[int], chosen: NDArray[np.int64]) -> Rank | None:
    """A rank that is right in the `chosen` states; None if there is none."""
    bits = np.unpackbits(keys.reshape(-1, words)[chosen].view(np.uint8), axis=1, bitorder="little")
    varying = np.flatnonzero(bits.min(axis=0) != bits.max(axis=0))
    factors = np.hstack([bits[:, varying], np.ones((len(bits), 1), np.uint8)]).astype(np.int32)
    layer = np.searchsorted(layer_ends, chosen, side="right")
    # Integers keep the product on this thread.
    solved = np.round(_solved(factors.T @ factors, factors.T @ layer), 3)
    weight = np.unique(solved[:-1][solved[:-1] != 0])
    if len(weight) > _MAX_MASKS or (np.abs(factors @ solved - layer) >= _TOLERANCE).any():
        return None
    weights = np.zeros(bits.shape[1])
    weights[varying] = solved[:-1]
    mask = np.packbits(weights == weight[:, None], axis=1, bitorder="little").view(np.uint64)
    return Rank(mask.reshape(-1), weight, float(solved[-1]))


def _solved(square: NDArray[np.int32], right: NDArray[np.int64]) -> NDArray[np.float64]:
    """A solution of a positive semidefinite system, 0 where it is free, for the later unknowns rather than
    the earlier: bits of a step counter come first. By elimination: a library would wake its threads, which
    takes 0.1 CPU seconds of waiting."""
    system = np.column_stack([square, right]).astype(np.float64)
    for i in range(len(system)):
        if system[i, i] < _DEPENDENT:
            system[i] = 0
            continue
        system[i] /= system[i, i]
        factor = system[:, i].copy()
        factor[i] = 0
        system -= np.outer(factor, system[i])
    return system[:, -1]
