"""The kernel compiler: what it compiles, and that it restores numba's settings and the collector."""

import gc
import operator
from typing import NamedTuple

import numpy as np
import pytest
from numba import config, njit
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Flags
from numba.core.errors import TypingError
from numba.core.typed_passes import NativeLowering
from numba.core.types import BaseFunction
from numpy.typing import NDArray

from ggp.jit import quick_compiler
from ggp.jit.compiling import IS_COMPILED, inlined, piece, stage
from ggp.jit.quick_compiler import KernelLowering, PieceLibrary, QuickCompiler, QuickFlags, QuickLowering


class Bounded(NamedTuple):
    values: NDArray[np.int64]
    least: int


pytestmark = pytest.mark.skipif(not IS_COMPILED, reason="kernels run as plain Python")


@pytest.fixture
def seen(monkeypatch):
    """LLVM level and whether garbage collection is on, at every lowering."""
    found = []
    lower = NativeLowering.run_pass

    def watched(self, state):
        found.append((int(config.OPT), gc.isenabled()))
        return lower(self, state)

    monkeypatch.setattr(NativeLowering, "run_pass", watched)
    return found


@pytest.fixture(params=[True, False], ids=["collecting", "not collecting"])
def is_collecting(request):
    was_collecting = gc.isenabled()
    (gc.enable if request.param else gc.disable)()
    yield request.param
    (gc.enable if was_collecting else gc.disable)()


def test_pieces_and_kernels_are_compiled_alike(seen, is_collecting):
    level = config.OPT

    @njit(pipeline_class=QuickCompiler, forceinline=True)
    def piece(x):
        return 3 * x

    @njit(pipeline_class=QuickCompiler, inline="always")
    def stage(x):
        if x > 10:
            return piece(x)
        return x

    @njit(pipeline_class=QuickCompiler)
    def whole(x):
        return stage(x) + piece(x)

    assert (whole(4), whole(20)) == (16, 120)
    assert seen == [(QuickLowering.level, False)] * 2  # the stage is part of the kernel
    assert config.OPT is level
    assert gc.isenabled() == is_collecting


@pytest.mark.parametrize("decorated", [inlined, piece])
def test_pieces_are_compiled_once_for_all_constant_arguments(seen, decorated):
    @decorated
    def part(x, y):
        return 10 * x + y

    @njit(pipeline_class=QuickCompiler)
    def whole(x):
        return part(1, 2) + part(y=3, x=40) + part(x, 1)

    assert whole(100) == 12 + 403 + 1001
    assert whole(5) == 12 + 403 + 51
    assert len(seen) == 2


@pytest.mark.parametrize("decorated", [inlined, piece])
def test_only_kernels_get_machine_code(decorated, monkeypatch):
    compiled = []
    emit = JITCodeLibrary._finalize_specific
    monkeypatch.setattr(
        JITCodeLibrary, "_finalize_specific", lambda self: (compiled.append(self.name), emit(self))
    )

    @decorated
    def part(values, x):
        values[0] += x / 2
        return values[0]

    @njit(pipeline_class=QuickCompiler)
    def whole(values, x):
        return part(values, x) + part(values, 1.0)

    values = np.array([10.0])
    assert whole(values, 6.0) == 13 + 13.5
    assert values[0] == 13.5
    assert [name.rpartition(".")[2] for name in compiled] == ["whole"]
    (of_part,) = part.overloads.values()
    assert PieceLibrary in map(type, of_part)


def test_variables_used_as_indices_count_from_the_start():
    @njit(pipeline_class=QuickCompiler)
    def read(values, i):
        return values[i]

    @njit(pipeline_class=QuickCompiler)
    def read_pair(values, i, j):
        return values[i, j]

    @njit(pipeline_class=QuickCompiler)
    def write(values, i, x):
        values[i] = x

    @njit(pipeline_class=QuickCompiler)
    def last(values):
        values[-2] = 7
        return values[-1], values[1:][0], values[-2:].sum()

    values = np.arange(10)
    inside = values[4:8]  # elements before it exist, so index -1 reads valid memory
    assert [int(read(inside, i)) for i in (0, 3, np.int32(2), np.uint64(1))] == [4, 7, 6, 5]
    assert int(read(inside, -1)) == 3  # numba by default: 7
    table = np.arange(20).reshape(5, 4)
    assert int(read_pair(table, 2, np.int32(3))) == 11
    assert int(read_pair(table[2:], -1, 3)) == 7  # numba by default: 19
    assert read(table, 2).tolist() == [8, 9, 10, 11]
    write(inside, -1, 50)
    write(inside, np.int32(2), 60)
    assert values.tolist() == [0, 1, 2, 50, 4, 5, 60, 7, 8, 9]
    assert last(values) == (9, 1, 7 + 9)  # constants and slices behave as usual


def test_variables_assigned_once_are_not_kept_in_memory(monkeypatch):
    in_memory = set()
    alloca = KernelLowering.alloca
    monkeypatch.setattr(
        KernelLowering, "alloca", lambda self, name, kind: (in_memory.add(name), alloca(self, name, kind))[1]
    )

    @njit(pipeline_class=QuickCompiler, _nrt=False)
    def add_up(pair, count):
        total = 0
        values = pair.values
        for i in range(count):
            if values[i] > pair.least:
                doubled = 2 * values[i]
                if doubled < 100:
                    total += doubled
        return total

    assert add_up(Bounded(np.array([3, 1, 60, 5]), 2), 4) == 2 * (3 + 5)
    assert any(name.startswith("total") for name in in_memory)
    assert not {name for name in in_memory if name.partition(".")[0] in ("pair", "values", "doubled")}


def test_stages_are_inlined_at_every_call_and_into_each_other():
    @stage
    def halve(values, i):
        half = values[i] // 2
        if half > 3:
            return half
        return -half

    @stage
    def halve_both(values, i):
        half = halve(values, i)
        return 10 * half + halve(values, i + 1)

    @njit(pipeline_class=QuickCompiler, _nrt=False)
    def whole(values):
        half = 0
        for i in range(2):
            half += halve_both(values, i)
        return half, halve(values, 0), halve(values, 1)

    assert whole(np.array([4, 10, 6])) == ((-20 + 5) + (50 - 3), -2, 5)


def test_flags_are_equal_if_the_same_options_are_set():
    first, second = QuickFlags(), QuickFlags()
    first.nrt = second.nrt = False
    assert first == second
    assert hash(first) == hash(second)
    assert {first: 1}[second.copy()] == 1
    second.no_cpython_wrapper = True
    assert first != second
    assert first != Flags()
    assert first != "flags"


def test_code_for_an_optional_table_is_not_compiled_without_it():
    @piece
    def read(table):
        return table[0]

    @stage
    def inner(table, x):
        if x > 10:
            if table is not None and x < 20:
                return read(table) + x
            x += 1 if table is None else table[1]
        return x

    @njit(pipeline_class=QuickCompiler)
    def whole(table, x):
        return 100 * inner(table, x) + inner(table, 11)

    assert whole(None, 5) == 500 + 12
    assert not read.overloads
    assert whole(np.array([2, 3]), 20) == 2300 + 13
    assert len(read.overloads) == 1


def test_signatures_of_operators_are_found_once(monkeypatch):
    found = []
    find = BaseFunction.get_call_type

    def watched(function, context, args, kws):
        found.append((function.typing_key, args))
        return find(function, context, args, kws)

    monkeypatch.setattr(BaseFunction, "get_call_type", watched)
    monkeypatch.setattr(quick_compiler, "_signatures", {})

    @njit(pipeline_class=QuickCompiler)
    def whole(x, y):
        return (x * x) * (x * x) - y * y

    assert whole(3, 2.0) == 81 - 4.0
    assert whole(3.0, 2) == 81.0 - 4
    products = [args for key, args in found if key is operator.mul]
    assert len(products) == len(set(products)) == 2  # of integers, of floats


def test_failed_compilation_restores_all_settings(is_collecting):
    level, find = config.OPT, BaseFunction.get_call_type

    @njit(pipeline_class=QuickCompiler)
    def broken(x):
        return x.nothing

    with pytest.raises(TypingError):
        broken(1)
    assert BaseFunction.get_call_type is find
    assert config.OPT is level
    assert gc.isenabled() == is_collecting


def test_a_lower_level_set_by_the_user_is_kept(seen, monkeypatch):
    monkeypatch.setattr(config, "OPT", type(config.OPT)(0))

    @njit(pipeline_class=QuickCompiler)
    def whole(x):
        return x + 1

    assert whole(1) == 2
    assert seen == [(0, False)]
