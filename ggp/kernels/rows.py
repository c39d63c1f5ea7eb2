"""The row type: one circuit node in 64*W games at once, as a value inside kernels.

A *row* holds W 64-bit words; bit b of word w belongs to lane 64*w + b, that is, to one game. Inside compiled
kernels it is an LLVM vector, so that with AVX-512 and W = 8 a row is one register and `x & y` one
instruction for 512 games; narrower machines split it. LLVM does that on its own.

Arrays of rows are one-dimensional numpy arrays whose dtype carries W (`row_dtype`), 64-byte aligned
(`make_rows`). Because W is part of the array type, one kernel serves every W and caches on disk.

    load(rows, i)  store(rows, i, x)        memory
    literal(rows, l)                        row of node l >> 1, negated where l is odd
    x & y   x | y   x ^ y   ~x              all lanes at once
    zeros(rows)  ones(rows)                 constants of the width of `rows`
    fill(rows, word)                        every word the same
    any_lane(x)                             is a bit set anywhere?
    get_word(rows, i, w)  set_word(...)     one word, for scalar code
    shift_left, shift_right, add, popcount  word by word; `sum_words` adds the words up

Rows are values. Write `x = x & y`, never `x &= y`: with NUMBA_DISABLE_JIT=1 rows are numpy arrays and
an augmented assignment would change every name that the array goes by.
"""

from __future__ import annotations

import operator
from typing import Any, TypeAlias

import numpy as np
from llvmlite import ir
from numba.core import cgutils, config, types
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model
from numpy.typing import NDArray

Rows: TypeAlias = NDArray[np.void]
Row: TypeAlias = Any
ALIGNMENT = 64
ALL_ONES = np.uint64(0xFFFF_FFFF_FFFF_FFFF)


def row_dtype(words: int) -> np.dtype[np.void]:
    """The dtype of an array of rows of `words` 64-bit words."""
    return np.dtype([("words", np.uint64, (words,))])


def make_rows(count: int, words: int) -> Rows:
    """`count` zeroed rows, aligned to ALIGNMENT bytes."""
    size = 8 * words * count
    memory = np.zeros(size + ALIGNMENT, np.uint8)
    start = -memory.ctypes.data % ALIGNMENT
    return memory[start : start + size].view(row_dtype(words))


def words_of(rows: Rows) -> NDArray[np.uint64]:
    """The same memory as uint64[count, W]."""
    return rows["words"]  # type: ignore[no-any-return]


def width_of(rows: Rows) -> int:
    """W, the number of words per row."""
    return rows.dtype.itemsize // 8


class RowType(types.Type):  # type: ignore[misc]
    """Numba's type of a row of `words` words."""

    def __init__(self, words: int) -> None:
        self.words = words
        super().__init__(name=f"Row{words}")

    @property
    def vector(self) -> ir.Type:
        return ir.VectorType(_I64, self.words)


_I64 = ir.IntType(64)
_I32 = ir.IntType(32)


@register_model(RowType)
class _RowModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, row_type: RowType) -> None:
        super().__init__(manager, row_type, row_type.vector)


def _row_type(array: types.Array) -> RowType:
    return RowType(array.dtype.size // 8)


def _pointer(context: Any, builder: Any, array_type: types.Array, array: Any, index: Any) -> Any:
    data = context.make_array(array_type)(context, builder, array).data
    vector = _row_type(array_type).vector
    return builder.gep(builder.bitcast(data, vector.as_pointer()), [index])


def _aligned(instruction: Any, words: int) -> Any:
    """Mark a load or store as aligned to its own size, which `make_rows` guarantees up to 64 bytes."""
    instruction.align = min(8 * words, ALIGNMENT)
    return instruction


def _splat(builder: Any, word: Any, words: int) -> Any:
    vector = ir.VectorType(_I64, words)
    first = builder.insert_element(ir.Constant(vector, ir.Undefined), word, ir.Constant(_I32, 0))
    nowhere = ir.Constant(ir.VectorType(_I32, words), [ir.Constant(_I32, 0)] * words)
    return builder.shuffle_vector(first, ir.Constant(vector, ir.Undefined), nowhere)


def _install_operator(function: Any, instruction: str) -> None:
    @infer_global(function)
    class _RowOperator(AbstractTemplate):  # type: ignore[misc]
        def generic(self, args: Any, kws: Any) -> Any:
            if args and all(isinstance(a, RowType) and a == args[0] for a in args):
                return signature(args[0], *args)
            return None

    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return getattr(builder, instruction)(*args)

    operands = (RowType,) * (1 if instruction == "not_" else 2)
    lower_builtin(function, *operands)(lower)


_install_operator(operator.and_, "and_")
_install_operator(operator.or_, "or_")
_install_operator(operator.xor, "xor")
_install_operator(operator.invert, "not_")


@intrinsic
def _load(typing_context, rows, index):  # type: ignore[no-untyped-def]
    row = _row_type(rows)

    def codegen(context, builder, sig, args):  # type: ignore[no-untyped-def]
        pointer = _pointer(context, builder, sig.args[0], args[0], args[1])
        return _aligned(builder.load(pointer), row.words)

    return row(rows, types.intp), codegen


@intrinsic
def _store(typing_context, rows, index, value):  # type: ignore[no-untyped-def]
    row = _row_type(rows)

    def codegen(context, builder, sig, args):  # type: ignore[no-untyped-def]
        pointer = _pointer(context, builder, sig.args[0], args[0], args[1])
        _aligned(builder.store(args[2], pointer), row.words)
        return context.get_dummy_value()

    return types.void(rows, types.intp, row), codegen


@intrinsic
def _literal(typing_context, rows, index):  # type: ignore[no-untyped-def]
    row = _row_type(rows)

    def codegen(context, builder, sig, args):  # type: ignore[no-untyped-def]
        node = builder.lshr(args[1], ir.Constant(_I64, 1))
        loaded = builder.load(_pointer(context, builder, sig.args[0], args[0], node))
        sign = builder.neg(builder.and_(args[1], ir.Constant(_I64, 1)))
        return builder.xor(_aligned(loaded, row.words), _splat(builder, sign, row.words))

    return row(rows, types.intp), codegen


@intrinsic
def _fill(typing_context, rows, word):  # type: ignore[no-untyped-def]
    row = _row_type(rows)

    def codegen(context, builder, sig, args):  # type: ignore[no-untyped-def]
        return _splat(builder, args[1], row.words)

    return row(rows, types.uint64), codegen


@intrinsic
def _any_lane(typing_context, value):  # type: ignore[no-untyped-def]
    def codegen(context, builder, sig, args):  # type: ignore[no-untyped-def]
        whole = ir.IntType(64 * value.words)
        return builder.icmp_unsigned("!=", builder.bitcast(args[0], whole), ir.Constant(whole, 0))

    return types.boolean(value), codegen


def _word_pointer(context, builder, sig, args):  # type: ignore[no-untyped-def]
    data = context.make_array(sig.args[0])(context, builder, args[0]).data
    words = _row_type(sig.args[0]).words
    offset = builder.add(builder.mul(args[1], ir.Constant(_I64, words)), args[2])
    return builder.gep(builder.bitcast(data, _I64.as_pointer()), [offset])


@intrinsic
def _get_word(typing_context, rows, index, word):  # type: ignore[no-untyped-def]
    def codegen(context, builder, sig, args):  # type: ignore[no-untyped-def]
        return builder.load(_word_pointer(context, builder, sig, args))

    return types.uint64(rows, types.intp, types.intp), codegen


@intrinsic
def _set_word(typing_context, rows, index, word, bits):  # type: ignore[no-untyped-def]
    def codegen(context, builder, sig, args):  # type: ignore[no-untyped-def]
        builder.store(args[3], _word_pointer(context, builder, sig, args))
        return context.get_dummy_value()

    return types.void(rows, types.intp, types.intp, types.uint64), codegen


@intrinsic
def _shift_left(typing_context, value, count):  # type: ignore[no-untyped-def]
    def codegen(context, builder, sig, args):  # type: ignore[no-untyped-def]
        return builder.shl(args[0], _splat(builder, args[1], value.words))

    return value(value, types.uint64), codegen


@intrinsic
def _shift_right(typing_context, value, count):  # type: ignore[no-untyped-def]
    def codegen(context, builder, sig, args):  # type: ignore[no-untyped-def]
        return builder.lshr(args[0], _splat(builder, args[1], value.words))

    return value(value, types.uint64), codegen


@intrinsic
def _add(typing_context, left, right):  # type: ignore[no-untyped-def]
    def codegen(context, builder, sig, args):  # type: ignore[no-untyped-def]
        return builder.add(args[0], args[1])

    return left(left, right), codegen


@intrinsic
def _popcount(typing_context, value):  # type: ignore[no-untyped-def]
    def codegen(context, builder, sig, args):  # type: ignore[no-untyped-def]
        kind = ir.FunctionType(value.vector, [value.vector])
        name = f"llvm.ctpop.v{value.words}i64"
        return builder.call(builder.module.declare_intrinsic(name, (), kind), args)

    return value(value), codegen


@intrinsic
def _sum_words(typing_context, value):  # type: ignore[no-untyped-def]
    def codegen(context, builder, sig, args):  # type: ignore[no-untyped-def]
        total = ir.Constant(_I64, 0)
        for w in range(value.words):
            total = builder.add(total, builder.extract_element(args[0], ir.Constant(_I32, w)))
        return total

    return types.int64(value), codegen


@intrinsic
def _word_count(typing_context, rows):  # type: ignore[no-untyped-def]
    words = _row_type(rows).words

    def codegen(context, builder, sig, args):  # type: ignore[no-untyped-def]
        return ir.Constant(_I64, words)

    return types.intp(rows), codegen


@intrinsic
def _count_bits(typing_context, word):  # type: ignore[no-untyped-def]
    def codegen(context, builder, sig, args):  # type: ignore[no-untyped-def]
        return builder.ctpop(args[0])

    return types.int64(types.uint64), codegen


@intrinsic
def _lowest_bit(typing_context, word):  # type: ignore[no-untyped-def]
    def codegen(context, builder, sig, args):  # type: ignore[no-untyped-def]
        return builder.cttz(args[0], cgutils.false_bit)

    return types.int64(types.uint64), codegen


if config.DISABLE_JIT:
    from ggp.kernels.plain_rows import (
        add,
        any_lane,
        count_bits,
        fill,
        get_word,
        literal,
        load,
        lowest_bit,
        popcount,
        set_word,
        shift_left,
        shift_right,
        store,
        sum_words,
        word_count,
    )
else:
    load, store, literal, fill, any_lane = _load, _store, _literal, _fill, _any_lane
    get_word, set_word, word_count = _get_word, _set_word, _word_count
    shift_left, shift_right, add = _shift_left, _shift_right, _add
    popcount, sum_words = _popcount, _sum_words
    count_bits, lowest_bit = _count_bits, _lowest_bit
