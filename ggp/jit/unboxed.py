"""Arguments that are unboxed once: for kernels that are called a hundred thousand times a second.

Each call of a kernel takes every array of its arguments out of its Python object: some 150 ns an array, 12 µs
for the seventy of an environment's step, which itself takes 4 µs for 64 games of connect four. `Unboxed`
keeps a NamedTuple as kernels hold it; handing that over costs 0.3 µs however much is in it.

    @kernel
    def total(counts: Unboxed[Counts]) -> int:
        return unboxed(counts).of.sum() * unboxed(counts).factor

>>> from typing import NamedTuple
>>> class Counts(NamedTuple):
...     of: NDArray[np.int64]
...     factor: int
>>> counts = Unboxed(Counts(np.arange(4), 10))
>>> counts.value.factor
10
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc,attr-defined,type-arg"

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from weakref import WeakValueDictionary

import numpy as np
from llvmlite import ir
from numba import typeof
from numba.core import config, types
from numba.core.registry import cpu_target
from numba.extending import NativeValue, intrinsic, models, register_model, unbox
from numpy.typing import NDArray

from ggp.jit.compiling import kernel

_Value = TypeVar("_Value")

if TYPE_CHECKING or config.DISABLE_JIT:

    class Unboxed(Generic[_Value]):
        """A NamedTuple of arrays and numbers for many calls of kernels, which read it by `unboxed`.

        The arrays are shared; numbers are those of the moment it was made. kind: a name that
        all values with arrays of the same types share; it saves 80 µs of finding these out.
        address: where kernels find it, as long as it is there.
        """

        def __init__(self, value: _Value, kind: Hashable = None) -> None:
            self.value = value
            self.address = id(self)
            _at_address[self.address] = self

        def __reduce__(self) -> tuple[Any, ...]:
            """Copies are at an address of their own."""
            return Unboxed, (self.value,)

        @classmethod
        def made_once(cls, value: _Value) -> Unboxed[_Value]:
            """Make one without compiling a kernel, ten times slower. Raises TypeError for members other than
            arrays and numbers of 64 bits."""
            return cls(value)

    _at_address: WeakValueDictionary[int, Unboxed[Any]] = WeakValueDictionary()

    def value_at(address: int) -> Unboxed[Any]:
        """The `Unboxed` at an address, where kernels run as plain Python."""
        return _at_address[address]

    def unboxed(argument: Unboxed[_Value]) -> _Value:
        """The value of an argument, in a kernel."""
        return argument.value

else:

    class UnboxedType(types.Type):
        """Numba's type of an `Unboxed` of `content`: the address of its memory."""

        def __init__(self, content) -> None:
            self.content = content
            super().__init__(name=f"Unboxed({content})")

    @register_model(UnboxedType)
    class _UnboxedModel(models.PrimitiveModel):
        def __init__(self, manager, kind) -> None:
            super().__init__(manager, kind, ir.IntType(64))

    class Unboxed(Generic[_Value]):
        __slots__ = ("_memory", "_numba_type_", "address", "value")

        def __init__(self, value: _Value, kind: Hashable = None) -> None:
            known = _kinds.get(kind) if kind is not None else None
            content, words = known or _kind_of(value)
            if kind is not None:
                _kinds[kind] = content, words
            self.value = value
            self._numba_type_ = content
            self._memory: NDArray[np.uint64] = np.zeros(words, np.uint64)
            self.address = _keep(value, self._memory)

        @classmethod
        def made_once(cls, value):
            made = cls.__new__(cls)
            content, words = _kind_of(value)
            made.value = value
            made._numba_type_ = content
            made._memory = np.array(list(_words_of(value)), np.uint64)
            if len(made._memory) != words:
                raise TypeError(f"{content} takes {words} words, not {len(made._memory)}")
            made.address = made._memory.ctypes.data
            return made

        def __reduce__(self):
            return Unboxed, (self.value,)

    def _words_of(value):
        """A value as numba lays it out. An array is the owners of its memory (none), size, bytes of an item,
        address, shape and strides."""
        if isinstance(value, np.ndarray):
            yield from (0, 0, value.size, value.itemsize, value.ctypes.data, *value.shape)
            yield from (stride % 2**64 for stride in value.strides)
        elif isinstance(value, tuple):
            for each in value:
                yield from _words_of(each)
        elif isinstance(value, float):
            yield int(np.float64(value).view(np.uint64))
        elif isinstance(value, int) and not isinstance(value, bool):
            yield value % 2**64
        else:
            raise TypeError(f"{type(value).__name__} in an Unboxed that is made once")

    _kinds: dict[Hashable, tuple[UnboxedType, int]] = {}

    def _kind_of(value) -> tuple[UnboxedType, int]:
        """The type of an `Unboxed` of `value`, and the words of its memory."""
        content = typeof(value)
        context = cpu_target.target_context
        size = context.get_abi_sizeof(context.get_value_type(content))
        return UnboxedType(content), -(-size // 8)

    @unbox(UnboxedType)
    def _unbox_address(kind, argument, c):
        number = c.pyapi.object_getattr_string(argument, "address")
        address = c.pyapi.long_as_longlong(number)
        c.pyapi.decref(number)
        return NativeValue(address)

    def _leaves(kind: Any) -> list[tuple[int, ...]]:
        """Places of the numbers and pointers within an LLVM structure."""
        if isinstance(kind, ir.Aggregate):
            parts = kind.elements if not isinstance(kind, ir.ArrayType) else [kind.element] * kind.count
            return [(i, *rest) for i, part in enumerate(parts) for rest in _leaves(part)]
        return [()]

    def _place(builder, start, path):
        return builder.gep(start, [ir.IntType(32)(i) for i in (0, *path)], inbounds=True)

    @intrinsic
    def _write(typing_context, value, memory):
        """Write a value to memory, number by number: LLVM is slow with large structures. Kernels do not count
        references, so that those in it, which end with the call, are never followed."""

        def codegen(context, builder, sig, args):
            data = context.make_array(sig.args[1])(context, builder, args[1]).data
            start = builder.bitcast(data, args[0].type.as_pointer())
            for path in _leaves(args[0].type):
                leaf = builder.extract_value(args[0], path) if path else args[0]
                builder.store(leaf, _place(builder, start, path))
            return context.get_dummy_value()

        return types.void(value, memory), codegen

    @intrinsic
    def unboxed(typing_context, argument):
        """The value of an argument, in a kernel."""
        if not isinstance(argument, UnboxedType):
            return None

        def codegen(context, builder, sig, args):
            kind = context.get_value_type(sig.return_type)
            start = builder.inttoptr(args[0], kind.as_pointer())
            value = ir.Constant(kind, ir.Undefined)
            for path in _leaves(kind):
                value = builder.insert_value(value, builder.load(_place(builder, start, path)), path)
            return value

        return argument.content(argument), codegen

    @kernel
    def _keep(value, memory):
        _write(value, memory)
        return memory.ctypes.data
