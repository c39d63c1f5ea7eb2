"""Conversion between the bits of a word and as many bytes of an array.

What kernels compute is one bit per game; what readers of arrays want is one byte per game and fact, and what
they give is one number per game. With AVX-512 64 bits become as many bytes in two instructions.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc,attr-defined,no-any-return"

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from llvmlite import ir
from numba.core import config, types
from numba.extending import intrinsic
from numpy.typing import NDArray

if TYPE_CHECKING or config.DISABLE_JIT:

    def _bits(word: Any) -> NDArray[np.uint8]:
        return np.unpackbits(np.array([word], np.uint64).view(np.uint8), bitorder="little")

    def spread_8(target: NDArray[np.uint8], place: Any, word: Any) -> None:
        """target[place : place + 8] = the lowest eight bits of `word`, as bytes 0 and 1."""
        target[place : place + 8] = _bits(word)[:8]

    def spread_16(target: NDArray[np.uint8], place: Any, word: Any) -> None:
        """target[place : place + 16] = the lowest 16 bits of `word`, as bytes 0 and 1."""
        target[place : place + 16] = _bits(word)[:16]

    def spread_32(target: NDArray[np.uint8], place: Any, word: Any) -> None:
        """target[place : place + 32] = the lowest 32 bits of `word`, as bytes 0 and 1."""
        target[place : place + 32] = _bits(word)[:32]

    def spread_64(target: NDArray[np.uint8], place: Any, word: Any) -> None:
        """target[place : place + 64] = the bits of `word`, as bytes 0 and 1."""
        target[place : place + 64] = _bits(word)

    def bytes_equal(source: NDArray[np.uint8], place: Any, number: Any) -> np.uint64:
        """Bit j: whether source[place + j] is `number`."""
        is_equal = source[place : place + 64] == number
        return np.uint64(np.packbits(is_equal, bitorder="little").view(np.uint64)[0])

else:

    def _spread(count):
        @intrinsic
        def spread(typing_context, target, place, word):
            def codegen(context, builder, sig, args):
                data = context.make_array(sig.args[0])(context, builder, args[0]).data
                vector = ir.VectorType(ir.IntType(8), count)
                bits = builder.trunc(args[2], ir.IntType(count)) if count < 64 else args[2]
                mask = builder.bitcast(bits, ir.VectorType(ir.IntType(1), count))
                pointer = builder.bitcast(builder.gep(data, [args[1]]), vector.as_pointer())
                builder.store(builder.zext(mask, vector), pointer).align = 1
                return context.get_dummy_value()

            return types.void(target, types.intp, types.uint64), codegen

        return spread

    @intrinsic
    def bytes_equal(typing_context, source, place, number):
        def codegen(context, builder, sig, args):
            data = context.make_array(sig.args[0])(context, builder, args[0]).data
            vector = ir.VectorType(ir.IntType(8), 64)
            loaded = builder.load(builder.bitcast(builder.gep(data, [args[1]]), vector.as_pointer()))
            loaded.align = 1
            first = builder.insert_element(
                ir.Constant(vector, ir.Undefined), args[2], ir.Constant(ir.IntType(32), 0)
            )
            everywhere = ir.Constant(ir.VectorType(ir.IntType(32), 64), [0] * 64)
            numbers = builder.shuffle_vector(first, ir.Constant(vector, ir.Undefined), everywhere)
            return builder.bitcast(builder.icmp_unsigned("==", loaded, numbers), ir.IntType(64))

        return types.uint64(source, types.intp, types.uint8), codegen

    spread_8 = _spread(8)
    spread_16 = _spread(16)
    spread_32 = _spread(32)
    spread_64 = _spread(64)
