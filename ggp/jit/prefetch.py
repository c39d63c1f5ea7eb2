"""Prefetching: many cache misses under way at once."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc,attr-defined"

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llvmlite import ir
from numba.core import config, types
from numba.extending import intrinsic
from numpy.typing import NDArray

if TYPE_CHECKING or config.DISABLE_JIT:

    def prefetch(array: NDArray[Any], index: Any) -> None:
        """Start loading the cache line of element `index`.

        array   one-dimensional and contiguous
        """

else:

    @intrinsic
    def prefetch(typing_context, array, index):
        """Start loading the cache line of element `index`.

        array   one-dimensional and contiguous
        """

        def codegen(context, builder, sig, args):
            data = context.make_array(sig.args[0])(context, builder, args[0]).data
            place = builder.bitcast(builder.gep(data, [args[1]]), ir.IntType(8).as_pointer())
            i32 = ir.IntType(32)
            kind = ir.FunctionType(ir.VoidType(), [place.type, i32, i32, i32])
            function = builder.module.declare_intrinsic("llvm.prefetch", [place.type], kind)
            builder.call(function, [place, i32(0), i32(3), i32(1)])
            return context.get_dummy_value()

        return types.void(array, types.intp), codegen
