"""Bits of words as bytes of arrays and back, against numpy."""

import numpy as np
import pytest

from ggp.jit.compiling import kernel
from ggp.jit.rows import bytes_equal, spread_8, spread_16, spread_32, spread_64


@kernel
def spread_all(target, word):
    spread_8(target, 1, word)
    spread_16(target, 101, word)
    spread_32(target, 201, word)
    spread_64(target, 301, word)


@kernel
def equal_to(source, place, number):
    return bytes_equal(source, place, np.uint8(number))


@pytest.mark.parametrize("word", [0, 1, 2**63, 0x0123_4567_89AB_CDEF, 2**64 - 1])
def test_bits_become_bytes_where_they_belong_and_nowhere_else(word):
    target = np.full(400, 9, np.uint8)
    spread_all(target, np.uint64(word))
    expected = np.full(400, 9, np.uint8)
    for start, count in (1, 8), (101, 16), (201, 32), (301, 64):
        expected[start : start + count] = [word >> i & 1 for i in range(count)]
    np.testing.assert_array_equal(target, expected)


@pytest.mark.parametrize("number", [0, 1, 127, 128, 255])
def test_equal_bytes_become_bits(number):
    source = np.random.default_rng(number).choice(np.array([0, 1, 127, 128, 255], np.uint8), 80)
    found = int(equal_to(source, 3, number))
    assert [found >> i & 1 for i in range(64)] == [int(byte == number) for byte in source[3:67]]
    assert found > 0
