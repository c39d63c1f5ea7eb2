"""Whole numbers at the border of the public API: numpy's are taken as they are, all else is refused by name.

Experiments draw their seeds and counts with numpy. Behind the border they are Python's own integers, which
neither overflow in `seed & mask` nor wrap around in arrays of 32 bits.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence

import numpy as np


def to_integer(value: object, name: str, least: int | None = None, most: int | None = None) -> int:
    """`value` as an int from `least` to `most`.

    >>> to_integer(np.int64(3), "seed")
    3
    >>> to_integer(4.0, "seed")
    Traceback (most recent call last):
    TypeError: seed is an integer, not 4.0

    Raises TypeError for what is not an integer, ValueError for one out of range.
    """
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"{name} is an integer, not {value!r}") from None
    if least is not None and number < least:
        raise ValueError(f"{name} is at least {least:,}, not {number:,}")
    if most is not None and number > most:
        raise ValueError(f"{name} is at most {most:,}, not {number:,}")
    return number


def to_integers(values: object, name: str, count: int) -> list[int]:
    """A list, tuple or array of `count` integers as a list of ints.

    >>> to_integers(np.arange(3), "seed", 3)
    [0, 1, 2]
    >>> to_integers([1, 2], "seed", 3)
    Traceback (most recent call last):
    ValueError: seed has 3 integers, not 2

    Raises TypeError for anything else, ValueError for another number of them.
    """
    if isinstance(values, str) or not isinstance(values, Sequence | np.ndarray):
        raise TypeError(f"{name} is an integer or a list of integers, not {values!r}")
    if len(values) != count:
        raise ValueError(f"{name} has {count:,} integers, not {len(values):,}")
    return [to_integer(value, name) for value in values]


def is_integer(value: object) -> bool:
    """Whether `to_integer` takes a value.

    >>> is_integer(np.uint8(3)), is_integer([3]), is_integer("3")
    (True, False, False)
    """
    try:
        operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        return False
    return True
