"""Proofs whose kernels are still being compiled when a match begins.

A search without proofs plays already, while a second process compiles their kernels, as many as those of the
search. Once that has ended, a thread loads them, and the search goes on with proofs from its next move on.
All players of this process share both.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from ggp.jit.second_process import SecondProcess, begin_second_process


class LateProofs:
    """The kernels of proofs, on their way."""

    def __init__(self, process: SecondProcess, load: Callable[[], None]) -> None:
        """`process` compiles them; `load` loads them from the cache, in a thread."""
        self._process = process
        self._load = load
        self._loading: threading.Thread | None = None

    @property
    def are_ready(self) -> bool:
        """Whether proofs may begin; never waits.

        The first question after all are compiled has them loaded. If that failed, proofs never begin.
        """
        if self._loading is None and self._process.has_succeeded:
            self._loading = threading.Thread(target=self._load, daemon=True)
            self._loading.start()
        return self._loading is not None and not self._loading.is_alive()

    @property
    def is_compiling(self) -> bool:
        """Whether the process is still at work."""
        return not self._process.is_over

    def wait(self) -> None:
        """Wait until all are compiled, for the next match and the next start."""
        self._process.wait()


_late: LateProofs | None = None


def begin_late_proofs(load: Callable[[], None]) -> LateProofs | None:
    """Begin to compile the kernels of proofs, if no player of this process has done so.

    None if there is nothing to wait for: they are there, or there is no second process for them.
    """
    global _late
    if _late is None:
        process = begin_second_process("ggp.search.proving")
        _late = None if process is None else LateProofs(process, load)
    return _late if _late is not None and _late.is_compiling else None


def late_proofs() -> LateProofs | None:
    """Those that were begun in this process; None without."""
    return _late
