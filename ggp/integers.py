"""Integers in the public API: numpy's are converted, other types are refused with the parameter's name.

Experiments draw their seeds and counts with numpy. Behind the border they are Python's own integers, which
neither overflow in `seed & mask` nor wrap around in arrays of 32 bits.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import fields
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # a player that waits for matches does not load numpy
    import numpy as np
    from _typeshed import DataclassInstance
    from numpy.typing import ArrayLike, NDArray


def to_integer(value: object, name: str, least: int | None = None, most: int | None = None) -> int:
    """`value` as an int from `least` to `most`.

    >>> import numpy as np
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

    >>> import numpy as np
    >>> to_integers(np.arange(3), "seed", 3)
    [0, 1, 2]
    >>> to_integers([1, 2], "seed", 3)
    Traceback (most recent call last):
    ValueError: seed has 3 integers, not 2

    Raises TypeError for anything else, ValueError for another number of them.
    """
    is_list = isinstance(values, Sequence) or getattr(values, "shape", ()) != ()
    if isinstance(values, str | bytes) or not is_list:
        raise TypeError(f"{name} is an integer or a list of integers, not {values!r}")
    listed = list(values)  # type: ignore[call-overload]
    if len(listed) != count:
        raise ValueError(f"{name} has {count:,} integers, not {len(listed):,}")
    return [to_integer(value, name) for value in listed]


def to_integer_array(values: ArrayLike, name: str, least: int | None = None) -> NDArray[np.int64]:
    """An integer, or integers of any shape, as int64.

    >>> to_integer_array([100, 0], "simulations").dtype
    dtype('int64')

    Raises TypeError for floats and text, which numpy would cut, ValueError for numbers below `least`.
    """
    import numpy as np

    found = np.asarray(values)
    if found.size and found.dtype.kind not in "iu":
        raise TypeError(f"{name} is an integer or integers, not {values!r}")
    if least is not None and found.size and found.min() < least:
        raise ValueError(f"{name} is at least {least:,}, not {found.min():,}")
    return found.astype(np.int64)


def check_integers(record: DataclassInstance, **least: int | None) -> None:
    """Convert fields of a frozen dataclass to ints with a minimum each; None is kept if it is the default.

    >>> import numpy as np
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Terms:
    ...     seed: int = 0
    ...     threads: int | None = None
    ...     def __post_init__(self) -> None:
    ...         check_integers(self, seed=None, threads=1)
    >>> Terms(np.int64(3)), type(Terms(np.int64(3)).seed)
    (Terms(seed=3, threads=None), <class 'int'>)

    Raises what `to_integer` raises.
    """
    defaults = {each.name: each.default for each in fields(record)}
    for name, bound in least.items():
        value = getattr(record, name)
        if value is not None or defaults[name] is not None:
            object.__setattr__(record, name, to_integer(value, name, bound))


def require_bool(value: object, name: str) -> None:
    """Raise TypeError unless `value` is True, False, 0 or 1; other values are true by accident.

    >>> require_bool("no", "check")
    Traceback (most recent call last):
    TypeError: check is True or False, not 'no'
    """
    if not is_integer(value) or value not in (0, 1):
        raise TypeError(f"{name} is True or False, not {value!r}")


def is_integer(value: object) -> bool:
    """Whether `to_integer` accepts a value.

    >>> import numpy as np
    >>> is_integer(np.uint8(3)), is_integer([3]), is_integer("3")
    (True, False, False)
    """
    try:
        operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        return False
    return True
