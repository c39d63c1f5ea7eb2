"""Operations of `ggp.jit.rows` as LLVM vectors, used by compiled kernels.

Each is a numba intrinsic: a function that types a call and emits its LLVM instructions; operators are lowered
directly, which keeps compilation short.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc,attr-defined,arg-type,no-any-return"
# (numba and llvmlite are hardly typed; `plain_rows` has the types that kernels see)

from __future__ import annotations

import operator
from functools import reduce
from inspect import signature
from typing import Any, NamedTuple

from llvmlite import ir
from numba.core import cgutils, types, typing
from numba.core.typing.templates import AbstractTemplate, infer_global
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

    vector = _NUMBERS

    def __init__(self) -> None:
        super().__init__(name="Numbers")


_numbers = NumbersType()


@register_model(NumbersType)
@register_model(RowType)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, kind.vector)


def _row_type(array: types.Array) -> RowType:
    return RowType(array.dtype.size // 8)


class _Call(NamedTuple):
    """A call of an operation, to be lowered."""

    context: Any
    builder: Any
    signature: Any

    def array(self, value: Any) -> Any:
        """The structure of the first argument, an array."""
        return self.context.make_array(self.signature.args[0])(self.context, self.builder, value)

    def row(self, rows: Any, index: Any) -> Any:
        """Where a row lies."""
        kind = _row_type(self.signature.args[0]).vector.as_pointer()
        return self.builder.gep(self.builder.bitcast(self.array(rows).data, kind), [index])

    def word(self, rows: Any, index: Any, word: Any) -> Any:
        """Where a word of a row lies."""
        place = self.builder.add(self.builder.mul(index, self.words_in_row(rows)), word)
        return self.builder.gep(self.builder.bitcast(self.array(rows).data, _I64.as_pointer()), [place])

    def words_in_row(self, rows: Any) -> Any:
        """W of an array of rows, or of one of words, uint64[n, W]."""
        kind = self.signature.args[0]
        if kind.ndim == 2:
            return self.builder.extract_value(self.array(rows).shape, 1)
        return ir.Constant(_I64, _row_type(kind).words)

    def items(self, array: Any, index: Any, kind: ir.Type) -> Any:
        """Where the items of a one-dimensional array from `index` on lie, as `kind`."""
        return self.builder.bitcast(self.builder.gep(self.array(array).data, [index]), kind.as_pointer())


def _operation(types_of: Any) -> Any:
    """Make an intrinsic of a function that emits its code: `emit(call, *values)`.

    types_of   gives the signature by the types of the arguments
    """

    def operation(emit: Any) -> Any:
        def codegen(context, builder, of_call, args):
            value = emit(_Call(context, builder, of_call), *args)
            return context.get_dummy_value() if of_call.return_type == types.void else value

        def definition(_typing_context, *args):
            return types_of(*args), codegen

        definition.__name__ = emit.__name__
        definition.__signature__ = signature(emit)  # numba asks it for the names of the arguments
        return intrinsic(definition)

    return operation


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
                return typing.signature(args[0], *args)
            return None

    def codegen(context: Any, builder: Any, of_call: Any, args: Any) -> Any:
        return getattr(builder, instruction)(*args)

    lower_builtin(function, *(RowType,) * (1 if instruction == "not_" else 2))(codegen)


_install_operator(operator.and_, "and_")
_install_operator(operator.or_, "or_")
_install_operator(operator.xor, "xor")
_install_operator(operator.invert, "not_")


@_operation(lambda rows, index: _row_type(rows)(rows, types.intp))
def load(call, rows, index):
    return _aligned(call.builder.load(call.row(rows, index)))


@_operation(lambda rows, index, value: types.void(rows, types.intp, _row_type(rows)))
def store(call, rows, index, value):
    _aligned(call.builder.store(value, call.row(rows, index)))


@_operation(lambda rows, index: _row_type(rows)(rows, types.intp))
def literal(call, rows, index):
    builder = call.builder
    loaded = _aligned(builder.load(call.row(rows, builder.lshr(index, ir.Constant(_I64, 1)))))
    sign = builder.neg(builder.and_(index, ir.Constant(_I64, 1)))
    return builder.xor(loaded, _splat(builder, sign, loaded.type))


@_operation(lambda rows, word: _row_type(rows)(rows, types.uint64))
def fill(call, rows, word):
    return _splat(call.builder, word, call.signature.return_type.vector)


@_operation(lambda value: types.boolean(value))
def any_lane(call, value):
    whole = ir.IntType(64 * value.type.count)
    return call.builder.icmp_unsigned("!=", call.builder.bitcast(value, whole), ir.Constant(whole, 0))


@_operation(lambda rows, index, word: types.uint64(rows, types.intp, types.intp))
def get_word(call, rows, index, word):
    return call.builder.load(call.word(rows, index, word))


@_operation(lambda rows, index, word: types.float64(rows, types.intp, types.intp))
def get_float(call, rows, index, word):
    return call.builder.bitcast(call.builder.load(call.word(rows, index, word)), ir.DoubleType())


@_operation(lambda rows, index, word, bits: types.void(rows, types.intp, types.intp, types.uint64))
def set_word(call, rows, index, word, bits):
    call.builder.store(bits, call.word(rows, index, word))


@_operation(lambda rows: types.intp(rows))
def word_count(call, rows):
    return call.words_in_row(rows)


@_operation(lambda value, count: value(value, types.uint64))
def shift_left(call, value, count):
    return call.builder.shl(value, _splat(call.builder, count, value.type))


@_operation(lambda value, count: value(value, types.uint64))
def shift_right(call, value, count):
    return call.builder.lshr(value, _splat(call.builder, count, value.type))


@_operation(lambda left, right: left(left, right))
def add(call, left, right):
    return call.builder.add(left, right)


@_operation(lambda rows, value: _row_type(rows)(rows, types.float64))
def fill_float(call, rows, value):
    return _splat(call.builder, call.builder.bitcast(value, _I64), call.signature.return_type.vector)


def _of_floats(builder: Any, instruction: str, *rows: Any) -> Any:
    floats = ir.VectorType(ir.DoubleType(), rows[0].type.count)
    result = getattr(builder, instruction)(*(builder.bitcast(each, floats) for each in rows))
    return builder.bitcast(result, rows[0].type)


@_operation(lambda left, right: left(left, right))
def multiply(call, left, right):
    return _of_floats(call.builder, "fmul", left, right)


@_operation(lambda left, right: left(left, right))
def subtract(call, left, right):
    return _of_floats(call.builder, "fsub", left, right)


@_operation(lambda bits, left, right: left(types.uint64, left, right))
def choose_words(call, bits, left, right):
    words = left.type.count
    low = call.builder.trunc(bits, ir.IntType(words))
    return call.builder.select(call.builder.bitcast(low, ir.VectorType(_I1, words)), left, right)


@_operation(lambda value: value(value))
def popcount(call, value):
    kind = ir.FunctionType(value.type, [value.type])
    name = f"llvm.ctpop.v{value.type.count}i64"
    return call.builder.call(call.builder.module.declare_intrinsic(name, (), kind), [value])


@_operation(lambda value: types.int64(value))
def sum_words(call, value):
    words = [call.builder.extract_element(value, ir.Constant(_I32, w)) for w in range(value.type.count)]
    return reduce(call.builder.add, words, ir.Constant(_I64, 0))


@_operation(lambda word: types.int64(types.uint64))
def lowest_bit(call, word):
    return call.builder.cttz(word, cgutils.false_bit)


@_operation(lambda target, place, word: types.void(target, types.intp, types.uint64))
def spread_64(call, target, place, word):
    vector = ir.VectorType(_I8, 64)
    bits = call.builder.bitcast(word, ir.VectorType(_I1, 64))
    _aligned(call.builder.store(call.builder.zext(bits, vector), call.items(target, place, vector)), 1)


@_operation(lambda target, place, word, number: types.void(target, types.intp, types.uint64, types.int32))
def store_where(call, target, place, word, number):
    builder = call.builder
    mask = builder.bitcast(word, ir.VectorType(_I1, 64))
    pointer = call.items(target, place, _NUMBERS)
    kind = ir.FunctionType(ir.VoidType(), [_NUMBERS, pointer.type, _I32, mask.type])
    function = builder.module.declare_intrinsic("llvm.masked.store.v64i32.p0", (), kind)
    builder.call(function, [_splat(builder, number, _NUMBERS), pointer, _I32(4), mask])


@_operation(lambda number: _numbers(types.int64))
def fill_numbers(call, number):
    return _splat(call.builder, call.builder.trunc(number, _I32), _NUMBERS)


@_operation(lambda memory, word: _numbers(memory, types.intp))
def load_numbers(call, memory, word):
    pointer = call.builder.bitcast(call.array(memory).data, _NUMBERS.as_pointer())
    return _aligned(call.builder.load(call.builder.gep(pointer, [word])), 4)


@_operation(lambda numbers, word, number: _numbers(numbers, types.uint64, types.int32))
def add_where(call, numbers, word, number):
    mask = call.builder.bitcast(word, ir.VectorType(_I1, 64))
    more = call.builder.add(numbers, _splat(call.builder, number, _NUMBERS))
    return call.builder.select(mask, more, numbers)


@_operation(lambda left, right: types.uint64(left, right))
def exceeds(call, left, right):
    return call.builder.bitcast(call.builder.icmp_unsigned(">", left, right), _I64)


@_operation(lambda numbers, share: numbers(numbers, share))
def share_of(call, numbers, share):
    builder, wide = call.builder, ir.VectorType(_I64, 64)
    product = builder.mul(builder.zext(numbers, wide), builder.zext(share, wide))
    return builder.trunc(builder.lshr(product, ir.Constant(wide, [32] * 64)), _NUMBERS)


@_operation(lambda source, place, number: types.uint64(source, types.intp, types.uint8))
def bytes_equal(call, source, place, number):
    vector = ir.VectorType(_I8, 64)
    loaded = _aligned(call.builder.load(call.items(source, place, vector)), 1)
    is_equal = call.builder.icmp_unsigned("==", loaded, _splat(call.builder, number, vector))
    return call.builder.bitcast(is_equal, _I64)


@_operation(lambda source, place, half: types.uint64(source, types.intp, types.uint64))
def upper_halves_equal(call, source, place, half):
    builder, vector = call.builder, ir.VectorType(_I64, 8)
    loaded = _aligned(builder.load(call.items(source, place, vector)))
    halves = builder.lshr(loaded, ir.Constant(vector, [32] * 8))
    is_equal = builder.icmp_unsigned("==", halves, _splat(builder, half, vector))
    return builder.zext(builder.bitcast(is_equal, _I8), _I64)


@_operation(lambda array, index: types.void(array, types.intp))
def prefetch(call, array, index):
    place = call.items(array, index, _I8)
    kind = ir.FunctionType(ir.VoidType(), [place.type, _I32, _I32, _I32])
    function = call.builder.module.declare_intrinsic("llvm.prefetch", [place.type], kind)
    # Into the second cache: far more of those can be under way, so each takes a third of the time.
    call.builder.call(function, [place, _I32(0), _I32(2), _I32(1)])
