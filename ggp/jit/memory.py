"""Large memory: mapped by itself, on pages of 2 MiB where the system has them."""

from __future__ import annotations

import mmap
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

LARGE_PAGE = 1 << 21


def map_memory(size: int) -> mmap.mmap:
    """Map `size` zeroed bytes or more, which return to the system when they are dropped; a heap would keep
    them.

    The system clears large pages five times as fast as small ones, and random reads miss the address cache
    less often. It places on whole large pages, and keeps there in moving, only what is a multiple of them.
    Raises MemoryError.

    >>> len(map_memory(100)), len(map_memory(LARGE_PAGE + 1)) // LARGE_PAGE
    (100, 2)
    """
    size = _in_pages(size)
    try:
        # Shared memory would be on small pages.
        memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except OSError as error:
        raise MemoryError(str(error)) from None
    with suppress(AttributeError, OSError):
        memory.madvise(mmap.MADV_HUGEPAGE)
    return memory


def _in_pages(size: int) -> int:
    return size if size < LARGE_PAGE else -(-size // LARGE_PAGE) * LARGE_PAGE


class GrowingArray:
    """An array whose memory grows where it is, or moves page by page instead of being copied.

    >>> numbers = GrowingArray(2, np.uint8)
    >>> numbers.array[:] = 7
    >>> numbers.grow(4)
    >>> numbers.array.tolist()
    [7, 7, 0, 0]
    >>> held = numbers.array
    >>> numbers.grow(5)  # copied, since a view of the old memory is held
    >>> held.tolist(), numbers.array.tolist()
    ([7, 7, 0, 0], [7, 7, 0, 0, 0])
    """

    def __init__(self, count: int, dtype: Any) -> None:
        self._memory = map_memory(count * np.dtype(dtype).itemsize)
        self.array: NDArray[Any] = np.frombuffer(self._memory, dtype, count)

    def grow(self, count: int) -> None:
        """Make room for `count` elements, more than before; the new ones are 0. Raises MemoryError."""
        dtype, held = self.array.dtype, self.array.size
        del self.array
        try:
            self._resize(_in_pages(count * dtype.itemsize))
            held = count
        finally:
            self.array = np.frombuffer(self._memory, dtype, held)

    def release(self, first: int, end: int) -> None:
        """Return pages of elements first .. end-1, which are 0 then, to the system."""
        size = self.array.itemsize
        start, stop = (
            -(-first * size // mmap.PAGESIZE) * mmap.PAGESIZE,
            end * size // mmap.PAGESIZE * mmap.PAGESIZE,
        )
        if start < stop:
            with suppress(AttributeError, OSError):
                self._memory.madvise(mmap.MADV_DONTNEED, start, stop - start)

    def _resize(self, size: int) -> None:
        try:
            self._memory.resize(size)
        except OSError as error:
            raise MemoryError(str(error)) from None
        except (SystemError, BufferError):  # no system to move pages, or a view of it is held
            memory = map_memory(size)
            memory[: len(self._memory)] = self._memory[:]
            self._memory = memory
