"""Row operations as LLVM vectors, used by compiled kernels.

Same names and meaning as in `ggp.jit.rows`. Each is a numba intrinsic: a function that types a call and
emits its LLVM instructions; operators are lowered directly, which keeps compilation short.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc,attr-defined,arg-type,no-any-return"
# (numba and llvmlite are hardly typed; `plain_rows` has the types that kernels see)

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model

ALIGNMENT = 64
"""Bytes to which arrays of rows are aligned."""


def _name_by_content(record: types.Record) -> tuple[str, tuple[str]]:
    """Name of a record type, such as that of rows, within the names of compiled functions.

    Numba's own choice is a number that counts the types of a process. So a function for rows of one word and
    the same function for rows of eight, compiled in two processes, had one name; a third process that loaded
    both from the cache ran one of them for both.
    """
    return type(record).__name__, (record.name,)


types.Record.mangling_args = property(_name_by_content)  # type: ignore[method-assign, assignment]


class RowType(types.Type):
    """Numba's type of a row of `words` words."""

    def __init__(self, words: int) -> None:
        self.words = words
        super().__init__(name=f"Row{words}")

    @property
    def vector(self) -> ir.Type:
        return ir.VectorType(_I64, self.words)


_I64 = ir.IntType(64)
_DOUBLE = ir.DoubleType()
_I32 = ir.IntType(32)


@register_model(RowType)
class _RowModel(models.PrimitiveModel):
    def __init__(self, manager: Any, row_type: RowType) -> None:
        super().__init__(manager, row_type, row_type.vector)


def _row_type(array: types.Array) -> RowType:
    return RowType(array.dtype.size // 8)


def _pointer(context: Any, builder: Any, array_type: types.Array, array: Any, index: Any) -> Any:
    data = context.make_array(array_type)(context, builder, array).data
    vector = _row_type(array_type).vector
    return builder.gep(builder.bitcast(data, vector.as_pointer()), [index])


def _aligned(instruction: Any) -> Any:
    """Mark a load or store as aligned to a word only.

    `make_rows` aligns rows to their size, which makes them fast. An array that numpy has copied or unpickled
    is slower then, but not the end of the process; instructions for aligned memory would gain nothing.
    """
    instruction.align = 8
    return instruction


def _splat(builder: Any, word: Any, words: int) -> Any:
    vector = ir.VectorType(_I64, words)
    first = builder.insert_element(ir.Constant(vector, ir.Undefined), word, ir.Constant(_I32, 0))
    zeros = ir.Constant(ir.VectorType(_I32, words), [ir.Constant(_I32, 0)] * words)
    return builder.shuffle_vector(first, ir.Constant(vector, ir.Undefined), zeros)


def _install_operator(function: Any, instruction: str) -> None:
    @infer_global(function)
    class _RowOperator(AbstractTemplate):
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
def load(typing_context, rows, index):
    row = _row_type(rows)

    def codegen(context, builder, sig, args):
        pointer = _pointer(context, builder, sig.args[0], args[0], args[1])
        return _aligned(builder.load(pointer))

    return row(rows, types.intp), codegen


@intrinsic
def store(typing_context, rows, index, value):
    row = _row_type(rows)

    def codegen(context, builder, sig, args):
        pointer = _pointer(context, builder, sig.args[0], args[0], args[1])
        _aligned(builder.store(args[2], pointer))
        return context.get_dummy_value()

    return types.void(rows, types.intp, row), codegen


@intrinsic
def literal(typing_context, rows, index):
    row = _row_type(rows)

    def codegen(context, builder, sig, args):
        node = builder.lshr(args[1], ir.Constant(_I64, 1))
        loaded = builder.load(_pointer(context, builder, sig.args[0], args[0], node))
        sign = builder.neg(builder.and_(args[1], ir.Constant(_I64, 1)))
        return builder.xor(_aligned(loaded), _splat(builder, sign, row.words))

    return row(rows, types.intp), codegen


@intrinsic
def fill(typing_context, rows, word):
    row = _row_type(rows)

    def codegen(context, builder, sig, args):
        return _splat(builder, args[1], row.words)

    return row(rows, types.uint64), codegen


@intrinsic
def any_lane(typing_context, value):
    def codegen(context, builder, sig, args):
        whole = ir.IntType(64 * value.words)
        return builder.icmp_unsigned("!=", builder.bitcast(args[0], whole), ir.Constant(whole, 0))

    return types.boolean(value), codegen


def _word_pointer(context, builder, sig, args):
    array = context.make_array(sig.args[0])(context, builder, args[0])
    words = _words_in_row(builder, sig.args[0], array)
    offset = builder.add(builder.mul(args[1], words), args[2])
    return builder.gep(builder.bitcast(array.data, _I64.as_pointer()), [offset])


def _words_in_row(builder, kind, array):
    """W of an array of rows, or of one of words, uint64[n, W]."""
    if kind.ndim == 2:
        return builder.extract_value(array.shape, 1)
    return ir.Constant(_I64, _row_type(kind).words)


@intrinsic
def get_word(typing_context, rows, index, word):
    def codegen(context, builder, sig, args):
        return builder.load(_word_pointer(context, builder, sig, args))

    return types.uint64(rows, types.intp, types.intp), codegen


@intrinsic
def set_word(typing_context, rows, index, word, bits):
    def codegen(context, builder, sig, args):
        builder.store(args[3], _word_pointer(context, builder, sig, args))
        return context.get_dummy_value()

    return types.void(rows, types.intp, types.intp, types.uint64), codegen


def _shift(instruction):
    @intrinsic
    def shift(typing_context, value, count):
        def codegen(context, builder, sig, args):
            return getattr(builder, instruction)(args[0], _splat(builder, args[1], value.words))

        return value(value, types.uint64), codegen

    return shift


shift_left = _shift("shl")
shift_right = _shift("lshr")


@intrinsic
def add(typing_context, left, right):
    def codegen(context, builder, sig, args):
        return builder.add(args[0], args[1])

    return left(left, right), codegen


@intrinsic
def fill_float(typing_context, rows, value):
    row = _row_type(rows)

    def codegen(context, builder, sig, args):
        return _splat(builder, builder.bitcast(args[1], _I64), row.words)

    return row(rows, types.float64), codegen


@intrinsic
def get_float(typing_context, rows, index, word):
    def codegen(context, builder, sig, args):
        return builder.bitcast(builder.load(_word_pointer(context, builder, sig, args)), _DOUBLE)

    return types.float64(rows, types.intp, types.intp), codegen


def _of_floats(instruction):
    @intrinsic
    def operation(typing_context, left, right):
        def codegen(context, builder, sig, args):
            floats = ir.VectorType(_DOUBLE, left.words)
            result = getattr(builder, instruction)(*(builder.bitcast(each, floats) for each in args))
            return builder.bitcast(result, left.vector)

        return left(left, right), codegen

    return operation


multiply = _of_floats("fmul")
subtract = _of_floats("fsub")


@intrinsic
def choose_words(typing_context, bits, left, right):
    def codegen(context, builder, sig, args):
        low = builder.trunc(args[0], ir.IntType(left.words))
        chosen = builder.bitcast(low, ir.VectorType(ir.IntType(1), left.words))
        return builder.select(chosen, args[1], args[2])

    return left(types.uint64, left, right), codegen


@intrinsic
def popcount(typing_context, value):
    def codegen(context, builder, sig, args):
        kind = ir.FunctionType(value.vector, [value.vector])
        name = f"llvm.ctpop.v{value.words}i64"
        return builder.call(builder.module.declare_intrinsic(name, (), kind), args)

    return value(value), codegen


@intrinsic
def sum_words(typing_context, value):
    def codegen(context, builder, sig, args):
        total = ir.Constant(_I64, 0)
        for w in range(value.words):
            total = builder.add(total, builder.extract_element(args[0], ir.Constant(_I32, w)))
        return total

    return types.int64(value), codegen


@intrinsic
def word_count(typing_context, rows):
    def codegen(context, builder, sig, args):
        array = context.make_array(sig.args[0])(context, builder, args[0])
        return _words_in_row(builder, sig.args[0], array)

    return types.intp(rows), codegen


@intrinsic
def count_bits(typing_context, word):
    def codegen(context, builder, sig, args):
        return builder.ctpop(args[0])

    return types.int64(types.uint64), codegen


@intrinsic
def lowest_bit(typing_context, word):
    def codegen(context, builder, sig, args):
        return builder.cttz(args[0], cgutils.false_bit)

    return types.int64(types.uint64), codegen
