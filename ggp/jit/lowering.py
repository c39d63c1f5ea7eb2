"""From typed numba IR to LLVM IR, with fewer instructions than numba's own lowering."""

# mypy: disallow-untyped-calls=false, disable-error-code="attr-defined"
# numba is not typed.

from __future__ import annotations

from collections import Counter
from typing import Any

from numba.core import ir
from numba.core.ir_utils import rename_labels
from numba.core.lowering import Lower
from numba.core.types import Array, BaseTuple, Integer, IntegerLiteral, Tuple, Type, uintp


class KernelLowering(Lower):
    """Lowering that assigns variables once and takes indices to be non-negative.

    Numba keeps a variable that several blocks mention in memory: it stores it, loads it at every mention, and
    fills it with zeros after the last one. Kernels pass NamedTuples of up to 400 numbers around, and LLVM
    spent more time on taking these stores apart than on all other optimization. A variable that is assigned
    once is therefore an LLVM value. What is in memory is not filled with zeros: kernels count no references.

    By default numba also tests every index for being negative, to count from the end then. Kernels use about
    three indices per gate, and these tests took as long as everything else that is done for it. A constant
    index may be negative.
    """

    def __init__(self, context: Any, library: Any, fndesc: Any, func_ir: Any, metadata: Any = None) -> None:
        # Blocks are lowered in the order of their labels; values must be there before they are used.
        func_ir.blocks = rename_labels(func_ir.blocks)
        super().__init__(context, library, fndesc, func_ir, metadata)

    def _find_singly_assigned_variable(self) -> None:
        assigned = Counter(
            each.target.name for block in self.blocks.values() for each in block.find_insts(ir.Assign)
        )
        # Numba has put variables into SSA form, so the only assignment comes before all mentions.
        self._singly_assigned_vars = {name for name, count in assigned.items() if count == 1}
        self._blk_local_varmap: dict[str, Any] = {}

    def delvar(self, name: str) -> None:
        """Do nothing: a variable holds no reference."""

    def lower_getitem(self, resty: Any, expr: Any, value: Any, index: Any, signature: Any) -> Any:
        return super().lower_getitem(resty, expr, value, index, self._from_start(value, index, signature))

    def lower_setitem(self, target: Any, index: Any, value: Any, signature: Any) -> Any:
        return super().lower_setitem(target, index, value, self._from_start(target, index, signature))

    def _from_start(self, array: Any, index: Any, by_numba: Any) -> Any:
        """The signature of an access with an unsigned index."""
        if not isinstance(self.typeof(array.name), Array):
            return by_numba
        kind = _unsigned(self.typeof(index.name))
        return by_numba.replace(args=(by_numba.args[0], kind, *by_numba.args[2:]))


def _unsigned(index: Type) -> Type:
    """The unsigned type of an index. Constants, slices and other types stay as they are."""
    if isinstance(index, BaseTuple):
        return Tuple([_unsigned(each) for each in index])
    is_variable = isinstance(index, Integer) and not isinstance(index, IntegerLiteral)
    return uintp if is_variable else index
