"""code: machine code of parts of a game, made by LLVM and loaded into this process."""

# mypy: disallow-untyped-calls=false
# llvmlite is not typed.

from __future__ import annotations

import functools
import os
from typing import Any

from llvmlite import binding

from ggp.circuit.tables import CircuitTables, Phase
from ggp.native.choice import schedule_choice
from ggp.native.emit import Rows, part_text
from ggp.native.fusion import schedule_fused, schedule_in_place
from ggp.native.parts import Layout, Part
from ggp.native.schedule import Schedule, ScheduleError, schedule_phase

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


def part_name(part: Part) -> str:
    """The name of a part's function."""
    return f"native_{part.name.lower()}"


def schedule_part(tables: CircuitTables, layout: Layout, part: Part, inputs: int) -> Schedule:
    """The schedule of a part for operations with `inputs` inputs. Raises ScheduleError."""
    if part < Part.COUNT:
        return schedule_phase(tables, layout, Phase(part), inputs=inputs)
    if inputs < 3:
        raise ScheduleError("moves are counted by operations with three inputs")
    if part == Part.AFTER_DRAW and tables.role_count == 0:
        return schedule_in_place(tables, layout)
    if part >= Part.BEFORE_DRAW:
        return schedule_fused(tables, layout, part)
    return schedule_choice(layout, part)


def compile_part(tables: CircuitTables, layout: Layout, part: Part, words: int) -> bytes:
    """Object code of the function `part_name(part)` for rows of `words` words. Raises ScheduleError."""
    rows = rows_of(words, processor()[1])
    schedule = schedule_part(tables, layout, part, rows.inputs)
    module = binding.parse_assembly(part_text(schedule, part_name(part), rows))
    return bytes(_machine().emit_object(module))


class LoadedCode:
    """The function of one part in this process; it must outlive every call of it.

    address   takes the addresses of two arrays of rows: value, and scratch for choosing moves

    Raises RuntimeError for what is not its object code.
    """

    def __init__(self, object_code: bytes, part: Part) -> None:
        self._engine = binding.create_mcjit_compiler(binding.parse_assembly(""), _machine())
        self._engine.add_object_file(binding.ObjectFileRef.from_data(object_code))
        self._engine.finalize_object()
        self.address = int(self._engine.get_function_address(part_name(part)))
