"""emit: a schedule as LLVM's intermediate language, for any row width and instruction set.

    define void @phase1(ptr %value, ptr %scratch)   calls the functions of phase 1 one after another
    define internal void @phase1_0(ptr, ptr)        loads rows, computes, stores

Text instead of llvmlite's builder, which would take longer than LLVM itself. A row that is wider than a
register is computed part by part: the same functions are called for each part. Rows are loaded and stored as
aligned to a word only, as kernels do: numpy does not align those that it has copied or unpickled to more.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ggp.native.schedule import NO_ROW, SCRATCH, Schedule

VECTOR_WORDS = 8
"""Words of the widest register."""
_TERNARY = "llvm.x86.avx512.pternlog.q"


@dataclass(frozen=True)
class Rows:
    """How rows lie in memory and which instructions compute them.

    words         of a row: 1, 2, 4, 8, 16 or 32
    has_ternary   whether the processor has AVX-512 with vectors of all widths (vpternlogq)

    >>> Rows(16, True).inputs, Rows(16, True).vector, Rows(1, True).inputs
    (3, '<8 x i64>', 2)
    """

    words: int
    has_ternary: bool

    @property
    def inputs(self) -> int:
        """Inputs of an operation at most."""
        return 3 if self.has_ternary and self.words > 1 else 2

    @property
    def part_words(self) -> int:
        """Words that one instruction computes."""
        return min(self.words, VECTOR_WORDS)

    @property
    def vector(self) -> str:
        """LLVM's type of these words."""
        return f"<{self.part_words} x i64>"

    @property
    def ternary(self) -> str:
        """LLVM's name of the instruction with three inputs."""
        return f"@{_TERNARY}.{64 * self.part_words}"


def part_text(schedule: Schedule, name: str, rows: Rows) -> str:
    """A module with the function `name`, which computes one part.

    >>> import numpy as np
    >>> conjunction = Schedule(
    ...     np.array([0xC0], np.uint8), np.array([[1, 2, 1]], np.int32), np.array([3], np.int32),
    ...     np.array([0, 1], np.int32), np.ones((1, 3), np.bool_),
    ... )
    >>> print(part_text(conjunction, "phase0", Rows(1, has_ternary=False)))
    define internal void @phase0_0(ptr noalias %value, ptr noalias %scratch) noinline nounwind {
    %p0 = getelementptr i8, ptr %value, i64 8
    %x0 = load <1 x i64>, ptr %p0, align 8
    %p1 = getelementptr i8, ptr %value, i64 16
    %x1 = load <1 x i64>, ptr %p1, align 8
    %t0 = and <1 x i64> %x0, %x1
    %s0 = getelementptr i8, ptr %value, i64 24
    store <1 x i64> %t0, ptr %s0, align 8
    ret void
    }
    define void @phase0(ptr noalias %value, ptr noalias %scratch) nounwind {
    call void @phase0_0(ptr %value, ptr %scratch)
    ret void
    }
    """
    functions = len(schedule.function) - 1
    lines = []
    if rows.inputs == 3:
        lines.append(f"declare {rows.vector} {rows.ternary}({', '.join([rows.vector] * 3)}, i32)")
    for c in range(functions):
        lines.append(
            f"define internal void @{name}_{c}(ptr noalias %value, ptr noalias %scratch) noinline nounwind {{"
        )
        lines += _function_lines(schedule, c, rows)
        lines += ["ret void", "}"]
    lines.append(f"define void @{name}(ptr noalias %value, ptr noalias %scratch) nounwind {{")
    parts = range(rows.words // rows.part_words)
    for part in parts[1:]:
        for base in ("value", "scratch"):
            lines.append(f"%{base}{part} = getelementptr i8, ptr %{base}, i64 {8 * part * rows.part_words}")
    for c in range(functions):
        for suffix in ("", *parts[1:]):
            lines.append(f"call void @{name}_{c}(ptr %value{suffix}, ptr %scratch{suffix})")
    return "\n".join([*lines, "ret void", "}"])


def _function_lines(schedule: Schedule, function: int, rows: Rows) -> Iterator[str]:
    begin, end = schedule.function[function : function + 2].tolist()
    stride = 8 * rows.words
    table, source = schedule.table[begin:end].tolist(), schedule.source[begin:end].tolist()
    target, is_loaded = schedule.target.tolist(), schedule.is_loaded[begin:end].tolist()
    name_of: dict[int, str] = {}
    loads = 0
    for i in range(end - begin):
        for each in {x: None for x, is_ in zip(source[i], is_loaded[i], strict=True) if is_}:
            yield f"%p{loads} = {_place(each if each >= 0 else target[~each], stride)}"
            yield f"%x{loads} = load {rows.vector}, ptr %p{loads}, align 8"
            name_of[each] = f"%x{loads}"
            loads += 1
        given = [name_of[each] for each in source[i]]
        name_of[~(begin + i)] = f"%t{i}"
        if rows.inputs == 3 and not _is_simple(table[i], source[i]):
            inputs = ", ".join(f"{rows.vector} {x}" for x in given)
            yield f"%t{i} = call {rows.vector} {rows.ternary}({inputs}, i32 {table[i]})"
        else:
            yield from _binary_lines(f"%t{i}", table[i], given[0], given[1], rows)
        if target[begin + i] != NO_ROW:
            yield f"%s{i} = {_place(target[begin + i], stride)}"
            yield f"store {rows.vector} %t{i}, ptr %s{i}, align 8"


def _place(row: int, stride: int) -> str:
    base, number = ("value", row) if row < SCRATCH else ("scratch", row - SCRATCH)
    return f"getelementptr i8, ptr %{base}, i64 {number * stride}"


_OF_TWO = {
    0b0000: ("xor", "a", "a"),
    0b0001: ("and", "~a", "~b"),
    0b0010: ("and", "~a", "b"),
    0b0011: ("and", "~a", "~a"),
    0b0100: ("and", "a", "~b"),
    0b0101: ("and", "~b", "~b"),
    0b0110: ("xor", "a", "b"),
    0b0111: ("or", "~a", "~b"),
    0b1000: ("and", "a", "b"),
    0b1001: ("xor", "a", "~b"),
    0b1010: ("and", "b", "b"),
    0b1011: ("or", "~a", "b"),
    0b1100: ("and", "a", "a"),
    0b1101: ("or", "a", "~b"),
    0b1110: ("or", "a", "b"),
    0b1111: ("or", "a", "~a"),
}
"""Functions of a and b as LLVM's instruction and its inputs; bit 2*a + b of the key is the result."""
_SIMPLE = (0b1000, 0b1110, 0b0110, 0b0100, 0b0010)
"""Of these AND, OR, XOR and AND NOT."""


def _key(table: int) -> int:
    """The key of a function that does not depend on its third input."""
    return sum((table >> 2 * pattern & 1) << pattern for pattern in range(4))


def _is_simple(table: int, source: list[int]) -> bool:
    """Whether there is an instruction for it that keeps its inputs; that of three inputs overwrites one."""
    depends_on_third = (table >> 1 ^ table) & 0x55
    return source[0] != source[1] and not depends_on_third and _key(table) in _SIMPLE


def _binary_lines(result: str, table: int, a: str, b: str, rows: Rows) -> Iterator[str]:
    """A function of two inputs, whose table does not depend on the third."""
    name, *inputs = _OF_TWO[_key(table)]
    names = {"a": a, "b": b, "~a": f"{result}na", "~b": f"{result}nb"}
    ones = ", ".join(["i64 -1"] * rows.part_words)
    for each in sorted({*inputs} & {"~a", "~b"}):
        yield f"{names[each]} = xor {rows.vector} {names[each[1]]}, <{ones}>"
    yield f"{result} = {name} {rows.vector} {names[inputs[0]]}, {names[inputs[1]]}"
