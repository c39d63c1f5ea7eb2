"""Bits of words as bytes of arrays and back, against numpy."""

import numpy as np
import pytest

from ggp.jit.compiling import kernel
from ggp.jit.rows import bytes_equal, spread_64, store_where, upper_halves_equal


@kernel
def spread(target, word):
    spread_64(target, 301, word)


@kernel
def store_seven_where(target, word):
    store_where(target, 3, word, np.int32(7))


@kernel
def equal_to(source, place, number):
    return bytes_equal(source, place, np.uint8(number))


@kernel
def upper_halves_equal_to(source, place, half):
    return upper_halves_equal(source, place, np.uint64(half))


@pytest.mark.parametrize("word", [0, 1, 2**63, 0x0123_4567_89AB_CDEF, 2**64 - 1])
def test_bits_become_bytes_where_they_belong_and_nowhere_else(word):
    bits = [word >> i & 1 for i in range(64)]
    target = np.full(400, 9, np.uint8)
    spread(target, np.uint64(word))
    assert target.tolist() == [9] * 301 + bits + [9] * 35
    numbers = np.full(70, -1, np.int32)
    store_seven_where(numbers, np.uint64(word))
    assert numbers.tolist() == [-1] * 3 + [7 if bit else -1 for bit in bits] + [-1] * 3


@pytest.mark.parametrize("number", [0, 1, 127, 128, 255])
def test_equal_bytes_become_bits(number):
    source = np.random.default_rng(number).choice(np.array([0, 1, 127, 128, 255], np.uint8), 80)
    found = int(equal_to(source, 3, number))
    assert [found >> i & 1 for i in range(64)] == [int(byte == number) for byte in source[3:67]]
    assert found > 0


def test_equal_upper_halves_become_bits():
    source = np.array([5, 3 << 32, 3 << 32 | 9, 2**64 - 1, 0, 3 << 33, 3 << 32, 7 << 32, 8], np.uint64)
    assert upper_halves_equal_to(source, 1, 3) == 0b100011
    assert upper_halves_equal_to(source, 1, 0) == 0b10001000
    assert upper_halves_equal_to(source, 1, 2**32 - 1) == 0b100
