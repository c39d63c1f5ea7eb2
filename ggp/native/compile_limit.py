"""compile_limit: how much work the machine code of a game may take. Imports neither numpy nor llvmlite."""

from __future__ import annotations

from dataclasses import dataclass

CPU_SECONDS = 20.0
"""Of the process that compiles, for one circuit and row width."""
COMPILE_THREAD = "ggp.native"
"""The name of threads that wait for machine code; they may outlive a match."""


@dataclass
class CompileLimit:
    """CPU seconds to compile a circuit of a game, and whether machine code is used at all.

    One object for all circuits of a game.
    """

    cpu_seconds: float = CPU_SECONDS
    is_on: bool = True
