"""Calls from one compiled kernel into another through its address: neither becomes part of the other.

A kernel with exchangeable parts, such as a tree search with the policies of its playouts, is then compiled
once for all of them, and each part once. What a part works on it is given as an `Unboxed`; the kernel that
calls it knows only where that lies in memory.

    @kernel
    def double(counts: Unboxed[Counts], i: int) -> int:
        return 2 * unboxed(counts).of[i]

    @kernel
    def total(part: int, counts: int) -> int:
        return call_entry(part, counts, 0) + call_entry(part, counts, 1)

    total(entry_point(double, counts, 0), counts.address)

A part takes an `Unboxed` and then integers, and returns an int64 or nothing; what a call of one that
returns nothing gives is undefined. A call costs a few nanoseconds.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc"

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from llvmlite import ir
from numba import typeof
from numba.core import cgutils, config, types
from numba.extending import intrinsic
from numpy.typing import NDArray

from ggp.jit.plain_rows import Index
from ggp.jit.unboxed import Unboxed

NO_ENTRY = 0
"""The address of no part: never called."""

if TYPE_CHECKING or config.DISABLE_JIT:
    from ggp.jit.unboxed import value_at

    _plain_parts: list[Callable[..., int | None]] = []

    def entry_point(part: Callable[..., int | None], memory: Unboxed[Any], *numbers: int) -> int:
        """The address of the kernel `part` for arguments such as these, compiled or loaded from the cache."""
        if part not in _plain_parts:
            _plain_parts.append(part)
        return 1 + _plain_parts.index(part)

    def compiled_for(part: Callable[..., Any], *arguments: Any) -> Callable[..., Any]:
        """The kernel `part`, called before, for arguments of just these types, which it no longer checks.

        That takes 0.6 of the 0.9 µs of a call from Python.
        """
        return part

    def call_entry(entry: Index, memory: Index, *numbers: Index) -> Index:
        """Call the part at `entry` with the `Unboxed` at `memory` and `numbers`; in a kernel."""
        return _plain_parts[entry - 1](value_at(int(memory)), *numbers) or 0

    def call_on_rows(address: Index, rows: NDArray[np.void], more: NDArray[np.void]) -> None:
        """Call the machine code at `address` with the addresses of two arrays; in a compiled kernel only."""
        raise NotImplementedError("machine code is called by compiled kernels only")

else:

    def entry_point(part, memory, *numbers) -> int:
        kinds = (typeof(memory), *(types.int64 for _ in numbers))
        part.compile(kinds)
        compiled = part.overloads[kinds]
        result = compiled.signature.return_type
        if result not in (types.none, types.int64):
            raise TypeError(f"{part.__name__} returns {result}")
        return compiled.library.get_pointer_to_function(compiled.fndesc.llvm_cfunc_wrapper_name)

    def compiled_for(part, *arguments):
        return part.overloads[tuple(map(typeof, arguments))].entry_point

    _WORD = ir.IntType(64)
    _BYTES = ir.IntType(8).as_pointer()

    @intrinsic
    def call_on_rows(typing_context, address, rows, more):
        def codegen(context, builder, sig, args):
            function = ir.FunctionType(ir.VoidType(), [_BYTES, _BYTES]).as_pointer()
            memory = [
                builder.bitcast(context.make_array(kind)(context, builder, array).data, _BYTES)
                for kind, array in zip(sig.args[1:], args[1:], strict=True)
            ]
            builder.call(builder.inttoptr(args[0], function), memory)
            return context.get_dummy_value()

        return types.void(types.int64, rows, more), codegen

    @intrinsic
    def call_entry(typing_context, entry, memory, *numbers):
        def codegen(context, builder, sig, args):
            words = [args[1], *cgutils.unpack_tuple(builder, args[2])]
            of_part = ir.FunctionType(_WORD, [_WORD] * len(words))
            return builder.call(builder.inttoptr(args[0], of_part.as_pointer()), words)

        of_numbers = types.Tuple([types.int64 for _ in numbers])
        return types.int64(types.int64, types.int64, of_numbers), codegen
