"""code: machine code of phases, made by LLVM and loaded into this process."""

# mypy: disallow-untyped-calls=false
# llvmlite is not typed.

from __future__ import annotations

import functools
import os
from typing import Any

from llvmlite import binding

from ggp.circuit.tables import CircuitTables, Phase
from ggp.native.emit import Rows, phase_text
from ggp.native.schedule import Layout, schedule_phase

OPTIMIZATION = 1
"""LLVM's level. Code of level 0 is a tenth slower, of level 2 no faster."""
_TERNARY_FEATURES = ("avx512f", "avx512vl")


@functools.cache
def _initialize() -> None:
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()


def processor() -> tuple[str, str]:
    """LLVM's name and features of this machine's processor, or the one chosen by NUMBA_CPU_NAME."""
    chosen = os.environ.get("NUMBA_CPU_NAME")
    if chosen:
        return chosen, os.environ.get("NUMBA_CPU_FEATURES", "")
    return binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten()


def rows_of(words: int, features: str) -> Rows:
    """Rows of `words` words for a processor with these features."""
    known = features.split(",")
    return Rows(words, all(f"+{feature}" in known for feature in _TERNARY_FEATURES))


def _machine() -> Any:
    _initialize()
    cpu, features = processor()
    target = binding.Target.from_default_triple()
    return target.create_target_machine(
        cpu=cpu, features=features, opt=OPTIMIZATION, codemodel="jitdefault", jit=True
    )


def phase_name(phase: Phase) -> str:
    """The name of a phase's function."""
    return f"settle_{phase.name.lower()}"


def compile_phase(tables: CircuitTables, layout: Layout, phase: Phase, words: int) -> bytes:
    """Object code of `phase_name(phase)` for rows of `words` words. Raises ScheduleError."""
    rows = rows_of(words, processor()[1])
    schedule = schedule_phase(tables, layout, phase, inputs=rows.inputs)
    module = binding.parse_assembly(phase_text(schedule, phase_name(phase), rows))
    return bytes(_machine().emit_object(module))


class LoadedCode:
    """The function of one phase in this process; it must outlive every call of it.

    address   takes the address of `value`, the rows
    """

    def __init__(self, object_code: bytes, phase: Phase) -> None:
        self._engine = binding.create_mcjit_compiler(binding.parse_assembly(""), _machine())
        self._engine.add_object_file(binding.ObjectFileRef.from_data(object_code))
        self._engine.finalize_object()
        self.address = int(self._engine.get_function_address(phase_name(phase)))
