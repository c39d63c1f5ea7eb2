"""Operations of `ggp.jit.rows` as LLVM vectors, used by compiled kernels.

Each is a numba intrinsic: a function that types a call and emits its LLVM instructions; operators are lowered
directly, which keeps compilation short.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc,attr-defined,arg-type,no-any-return"
# (numba and llvmlite are hardly typed; `plain_rows` has the types that kernels see)

from __future__ import annotations

import operator
from functools import reduce
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


_I1, _I8, _I32, _I64 = map(ir.IntType, (1, 8, 32, 64))
_NUMBERS = ir.VectorType(_I32, 64)


class NumbersType(types.Type):
    """Numba's type of 64 numbers, one per lane of a word."""

    def __init__(self) -> None:
        super().__init__(name="Numbers")


_numbers = NumbersType()


@register_model(NumbersType)
class _NumbersModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: NumbersType) -> None:
        super().__init__(manager, kind, _NUMBERS)


@register_model(RowType)
class _RowModel(models.PrimitiveModel):
    def __init__(self, manager: Any, row_type: RowType) -> None:
        super().__init__(manager, row_type, row_type.vector)


def _row_type(array: types.Array) -> RowType:
    return RowType(array.dtype.size // 8)


def _code(emit: Any) -> Any:
    """The code of an operation on values: `emit(builder, *values)`."""
    return lambda context, builder, sig, args: emit(builder, *args)


def _row_pointer(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    data = context.make_array(sig.args[0])(context, builder, args[0]).data
    return builder.gep(builder.bitcast(data, _row_type(sig.args[0]).vector.as_pointer()), [args[1]])


def _item_pointer(context: Any, builder: Any, sig: Any, args: Any, kind: ir.Type) -> Any:
    """Where the items of a one-dimensional array from args[1] on lie, as `kind`."""
    data = context.make_array(sig.args[0])(context, builder, args[0]).data
    return builder.bitcast(builder.gep(data, [args[1]]), kind.as_pointer())


def _aligned(instruction: Any, count: int = 8) -> Any:
    """Mark a load or store of rows as aligned to a word only.

    `make_rows` aligns rows to their size, which makes them fast. An array that numpy has copied or unpickled
    is slower then, but not the end of the process; instructions for aligned memory would gain nothing.
    """
    instruction.align = count
    return instruction


def _splat(builder: Any, number: Any, kind: ir.VectorType) -> Any:
    undefined = ir.Constant(kind, ir.Undefined)
    first = builder.insert_element(undefined, number, ir.Constant(_I32, 0))
    everywhere = ir.Constant(ir.VectorType(_I32, kind.count), [0] * kind.count)
    return builder.shuffle_vector(first, undefined, everywhere)


def _install_operator(function: Any, instruction: str) -> None:
    @infer_global(function)
    class _RowOperator(AbstractTemplate):
        def generic(self, args: Any, kws: Any) -> Any:
            if args and all(isinstance(a, RowType) and a == args[0] for a in args):
                return signature(args[0], *args)
            return None

    operands = (RowType,) * (1 if instruction == "not_" else 2)
    lower_builtin(function, *operands)(_code(lambda builder, *args: getattr(builder, instruction)(*args)))


_install_operator(operator.and_, "and_")
_install_operator(operator.or_, "or_")
_install_operator(operator.xor, "xor")
_install_operator(operator.invert, "not_")


@intrinsic
def load(typing_context, rows, index):
    def codegen(context, builder, sig, args):
        return _aligned(builder.load(_row_pointer(context, builder, sig, args)))

    return _row_type(rows)(rows, types.intp), codegen


@intrinsic
def store(typing_context, rows, index, value):
    def codegen(context, builder, sig, args):
        _aligned(builder.store(args[2], _row_pointer(context, builder, sig, args)))
        return context.get_dummy_value()

    return types.void(rows, types.intp, _row_type(rows)), codegen


@intrinsic
def literal(typing_context, rows, index):
    def codegen(context, builder, sig, args):
        array, number = args
        node = builder.lshr(number, ir.Constant(_I64, 1))
        loaded = _aligned(builder.load(_row_pointer(context, builder, sig, (array, node))))
        sign = builder.neg(builder.and_(number, ir.Constant(_I64, 1)))
        return builder.xor(loaded, _splat(builder, sign, loaded.type))

    return _row_type(rows)(rows, types.intp), codegen


@intrinsic
def fill(typing_context, rows, word):
    row = _row_type(rows)
    return row(rows, types.uint64), _code(lambda builder, _, word: _splat(builder, word, row.vector))


@intrinsic
def any_lane(typing_context, value):
    whole = ir.IntType(64 * value.words)

    def emit(builder, row):
        return builder.icmp_unsigned("!=", builder.bitcast(row, whole), ir.Constant(whole, 0))

    return types.boolean(value), _code(emit)


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
def get_float(typing_context, rows, index, word):
    def codegen(context, builder, sig, args):
        return builder.bitcast(builder.load(_word_pointer(context, builder, sig, args)), ir.DoubleType())

    return types.float64(rows, types.intp, types.intp), codegen


@intrinsic
def set_word(typing_context, rows, index, word, bits):
    def codegen(context, builder, sig, args):
        builder.store(args[3], _word_pointer(context, builder, sig, args))
        return context.get_dummy_value()

    return types.void(rows, types.intp, types.intp, types.uint64), codegen


@intrinsic
def word_count(typing_context, rows):
    def codegen(context, builder, sig, args):
        array = context.make_array(sig.args[0])(context, builder, args[0])
        return _words_in_row(builder, sig.args[0], array)

    return types.intp(rows), codegen


def _shift(instruction):
    @intrinsic
    def shift(typing_context, value, count):
        def emit(builder, row, number):
            return getattr(builder, instruction)(row, _splat(builder, number, row.type))

        return value(value, types.uint64), _code(emit)

    return shift


shift_left = _shift("shl")
shift_right = _shift("lshr")


@intrinsic
def add(typing_context, left, right):
    return left(left, right), _code(lambda builder, x, y: builder.add(x, y))


@intrinsic
def fill_float(typing_context, rows, value):
    row = _row_type(rows)

    def emit(builder, _, number):
        return _splat(builder, builder.bitcast(number, _I64), row.vector)

    return row(rows, types.float64), _code(emit)


def _of_floats(instruction):
    @intrinsic
    def operation(typing_context, left, right):
        floats = ir.VectorType(ir.DoubleType(), left.words)

        def emit(builder, *rows):
            result = getattr(builder, instruction)(*(builder.bitcast(each, floats) for each in rows))
            return builder.bitcast(result, left.vector)

        return left(left, right), _code(emit)

    return operation


multiply = _of_floats("fmul")
subtract = _of_floats("fsub")


@intrinsic
def choose_words(typing_context, bits, left, right):
    def emit(builder, bits, x, y):
        low = builder.trunc(bits, ir.IntType(left.words))
        return builder.select(builder.bitcast(low, ir.VectorType(_I1, left.words)), x, y)

    return left(types.uint64, left, right), _code(emit)


@intrinsic
def popcount(typing_context, value):
    def emit(builder, row):
        kind = ir.FunctionType(row.type, [row.type])
        name = f"llvm.ctpop.v{value.words}i64"
        return builder.call(builder.module.declare_intrinsic(name, (), kind), [row])

    return value(value), _code(emit)


@intrinsic
def sum_words(typing_context, value):
    def emit(builder, row):
        words = [builder.extract_element(row, ir.Constant(_I32, w)) for w in range(value.words)]
        return reduce(builder.add, words, ir.Constant(_I64, 0))

    return types.int64(value), _code(emit)


@intrinsic
def count_bits(typing_context, word):
    return types.int64(types.uint64), _code(lambda builder, word: builder.ctpop(word))


@intrinsic
def lowest_bit(typing_context, word):
    return types.int64(types.uint64), _code(lambda builder, word: builder.cttz(word, cgutils.false_bit))


@intrinsic
def spread_64(typing_context, target, place, word):
    def codegen(context, builder, sig, args):
        vector = ir.VectorType(_I8, 64)
        mask = builder.bitcast(args[2], ir.VectorType(_I1, 64))
        pointer = _item_pointer(context, builder, sig, args, vector)
        _aligned(builder.store(builder.zext(mask, vector), pointer), 1)
        return context.get_dummy_value()

    return types.void(target, types.intp, types.uint64), codegen


@intrinsic
def store_where(typing_context, target, place, word, number):
    def codegen(context, builder, sig, args):
        mask = builder.bitcast(args[2], ir.VectorType(_I1, 64))
        numbers = _splat(builder, args[3], _NUMBERS)
        pointer = _item_pointer(context, builder, sig, args, numbers.type)
        kind = ir.FunctionType(ir.VoidType(), [numbers.type, pointer.type, _I32, mask.type])
        function = builder.module.declare_intrinsic("llvm.masked.store.v64i32.p0", (), kind)
        builder.call(function, [numbers, pointer, _I32(4), mask])
        return context.get_dummy_value()

    return types.void(target, types.intp, types.uint64, types.int32), codegen


@intrinsic
def fill_numbers(typing_context, number):
    def emit(builder, number):
        return _splat(builder, builder.trunc(number, _I32), _NUMBERS)

    return _numbers(types.int64), _code(emit)


@intrinsic
def load_numbers(typing_context, memory, word):
    def codegen(context, builder, sig, args):
        data = context.make_array(sig.args[0])(context, builder, args[0]).data
        pointer = builder.bitcast(data, _NUMBERS.as_pointer())
        return _aligned(builder.load(builder.gep(pointer, [args[1]])), 4)

    return _numbers(memory, types.intp), codegen


@intrinsic
def add_where(typing_context, numbers, word, number):
    def emit(builder, numbers, word, number):
        mask = builder.bitcast(word, ir.VectorType(_I1, 64))
        more = builder.add(numbers, _splat(builder, number, _NUMBERS))
        return builder.select(mask, more, numbers)

    return _numbers(numbers, types.uint64, types.int32), _code(emit)


@intrinsic
def exceeds(typing_context, left, right):
    def emit(builder, x, y):
        return builder.bitcast(builder.icmp_unsigned(">", x, y), _I64)

    return types.uint64(left, right), _code(emit)


@intrinsic
def share_of(typing_context, numbers, share):
    wide = ir.VectorType(_I64, 64)

    def emit(builder, x, y):
        product = builder.mul(builder.zext(x, wide), builder.zext(y, wide))
        return builder.trunc(builder.lshr(product, ir.Constant(wide, [32] * 64)), _NUMBERS)

    return numbers(numbers, share), _code(emit)


@intrinsic
def bytes_equal(typing_context, source, place, number):
    def codegen(context, builder, sig, args):
        vector = ir.VectorType(_I8, 64)
        loaded = _aligned(builder.load(_item_pointer(context, builder, sig, args, vector)), 1)
        is_equal = builder.icmp_unsigned("==", loaded, _splat(builder, args[2], vector))
        return builder.bitcast(is_equal, _I64)

    return types.uint64(source, types.intp, types.uint8), codegen


@intrinsic
def upper_halves_equal(typing_context, source, place, half):
    def codegen(context, builder, sig, args):
        vector = ir.VectorType(_I64, 8)
        loaded = _aligned(builder.load(_item_pointer(context, builder, sig, args, vector)))
        halves = builder.lshr(loaded, ir.Constant(vector, [32] * 8))
        is_equal = builder.icmp_unsigned("==", halves, _splat(builder, args[2], vector))
        return builder.zext(builder.bitcast(is_equal, _I8), _I64)

    return types.uint64(source, types.intp, types.uint64), codegen


@intrinsic
def prefetch(typing_context, array, index):
    def codegen(context, builder, sig, args):
        place = _item_pointer(context, builder, sig, args, _I8)
        kind = ir.FunctionType(ir.VoidType(), [place.type, _I32, _I32, _I32])
        function = builder.module.declare_intrinsic("llvm.prefetch", [place.type], kind)
        # Into the second cache: far more of those can be under way, so each takes a third of the time.
        builder.call(function, [place, _I32(0), _I32(2), _I32(1)])
        return context.get_dummy_value()

    return types.void(array, types.intp), codegen
