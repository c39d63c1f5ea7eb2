"""Proofs whose kernels are still being compiled when a match begins.

The match is played by a search without proofs while a second process compiles their kernels, which takes as
long as those of the search. Once it has succeeded, a thread loads them, and proofs join in at the next move.
All players of this process share both.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from ggp.jit.second_process import SecondProcess, begin_second_process


class LateProofs:
    """Kernels of proofs that are being compiled or loaded."""

    def __init__(self, process: SecondProcess, load: Callable[[], None]) -> None:
        """`process` compiles them; `load` loads them from the cache, in a thread."""
        self._process = process
        self._load = load
        self._loading: threading.Thread | None = None

    @property
    def are_ready(self) -> bool:
        """Whether proofs may begin; never waits.

        The first call after all are compiled begins to load them. If compiling failed, proofs never begin.
        """
        if self._loading is None and self._process.has_succeeded:
            self._loading = threading.Thread(target=self._load, daemon=True)
            self._loading.start()
        return self._loading is not None and not self._loading.is_alive()

    @property
    def have_failed(self) -> bool:
        return self._process.is_over and not self._process.has_succeeded

    @property
    def is_compiling(self) -> bool:
        return not self._process.is_over

    def leave(self) -> bool:
        """Let the process finish without this one; return whether it is still compiling."""
        return self._process.leave()


_late: LateProofs | None = None


def begin_late_proofs(load: Callable[[], None]) -> LateProofs | None:
    """Start to compile the kernels of proofs, unless another player of this process has.

    None if they are compiled already, or no second process can compile them.
    """
    global _late
    if _late is None:
        process = begin_second_process("ggp.proofs")
        _late = None if process is None else LateProofs(process, load)
    return _late if _late is not None and _late.is_compiling else None


def leave_late_proofs() -> bool:
    """Leave the remaining compilation to the other process; return whether there is any."""
    return _late is not None and _late.leave()
