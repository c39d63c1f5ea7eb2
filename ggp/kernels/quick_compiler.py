"""Numba's compiler, made to waste less time on kernels that consist of many pieces.

A piece is compiled first by itself, then again as a part of every piece and kernel that calls it, and Numba
gives each of these all that LLVM can do. Kernels that get a little less run as fast, kernels that get less
still do not where circuits are large. `benchmarks/compilation.py` measures both.
Source: Numba's documentation, "Customizing the compiler".
"""

# mypy: disallow-untyped-calls=false
# Numba is not typed.

from __future__ import annotations

import gc
from typing import Any

from numba import config
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder, Flags
from numba.core.compiler_machinery import register_pass
from numba.core.lowering import Lower
from numba.core.typed_passes import NativeLowering
from numba.core.types import Array, BaseTuple, Integer, IntegerLiteral, Tuple, Type, uintp, unliteral


class PieceLibrary(JITCodeLibrary):
    """The code of a function that only kernels call: optimized, and without machine code of its own.

    A kernel is made of the optimized code of its pieces; theirs would never run.
    """

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """No address: there is no machine code."""
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> Any:
        """Whom Numba asks to set a function's environment, which is a variable in machine code."""
        return self

    def set_env(self, env_name: str, env: Any) -> None:
        """Nothing: kernels raise and print nothing, and so never read an environment."""


class QuickFlags(Flags):
    """Numba's flags, compared by those that are set.

    Numba looks implementations up by flags, tens of thousands of times for a kernel, and would compare and
    hash all options each time. An option that is set to its default differs from one that is not: then Numba
    compiles an implementation once more.
    """

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Flags) and bool(self._values == other._values)

    def __hash__(self) -> int:
        return len(self._values)


class IndexLowering(Lower):
    """Lowering in which variables that index arrays count from the start: they must not be negative.

    Numba asks of every index whether it is negative, and would then count from the end. Kernels look up some
    three indices for a gate, and these questions took as long as all else that is done for it. A constant may
    be negative.
    """

    def lower_getitem(self, resty: Any, expr: Any, value: Any, index: Any, signature: Any) -> Any:
        return super().lower_getitem(resty, expr, value, index, self._from_start(value, index, signature))

    def lower_setitem(self, target: Any, index: Any, value: Any, signature: Any) -> Any:
        return super().lower_setitem(target, index, value, self._from_start(target, index, signature))

    def _from_start(self, array: Any, index: Any, by_numba: Any) -> Any:
        """The signature of an access with its index as unsigned."""
        if not isinstance(self.typeof(array.name), Array):
            return by_numba
        kind = _unsigned(self.typeof(index.name))
        return by_numba.replace(args=(by_numba.args[0], kind, *by_numba.args[2:]))


def _unsigned(index: Type) -> Type:
    """The type of an index without its sign. Constants, slices and whatever else is no number stay."""
    if isinstance(index, BaseTuple):
        return Tuple([_unsigned(each) for each in index])  # type: ignore[attr-defined]
    is_variable = isinstance(index, Integer) and not isinstance(index, IntegerLiteral)
    return uintp if is_variable else index


@register_pass(mutates_CFG=True, analysis_only=False)
class QuickLowering(NativeLowering):
    """Lowering with LLVM at `level`, or at that of NUMBA_OPT if it is lower.

    At level 1 uniform playouts of checkers run a fifth slower. Level 0 takes longer to compile than 3.
    """

    _name = "quick_lowering"
    level = 2

    @property
    def lowering_class(self) -> type[Lower]:
        return IndexLowering

    def run_pass(self, state: Any) -> bool:
        # Numba holds its lock of the compiler, and compiles nothing else while it lowers a function.
        flags = state.flags
        if flags.no_cpython_wrapper and flags.no_cfunc_wrapper:
            state["library"] = PieceLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        settings: Any = config
        before = settings.OPT
        settings.OPT = min(before, type(before)(self.level))
        try:
            return bool(super().run_pass(state))
        finally:
            settings.OPT = before


class QuickCompiler(CompilerBase):
    """Numba's steps with the lowering above, and no garbage collected, up to a tenth of the time."""

    def define_pipelines(self) -> list[Any]:
        manager: Any = DefaultPassBuilder.define_nopython_pipeline(self.state)
        manager.passes = [
            (QuickLowering if each is NativeLowering else each, why) for each, why in manager.passes
        ]
        manager.finalize()
        return [manager]

    def compile_extra(self, func: Any) -> Any:
        self.state.flags = QuickFlags(self.state.flags)
        was_collecting = gc.isenabled()
        gc.disable()
        try:
            return super().compile_extra(func)
        finally:
            if was_collecting:
                gc.enable()


def without_literals(compiled: Any) -> Any:
    """Compile `compiled` once for all constants it is called with: they are typed as numbers like others.

    Numba has no option for that and would compile it for each of them. Where it becomes part of a kernel,
    LLVM knows the constants anyway.
    """
    resolve = compiled.get_call_template

    def get_call_template(args: Any, kws: Any) -> Any:
        return resolve(
            tuple(unliteral(each) for each in args), {name: unliteral(each) for name, each in kws.items()}
        )

    compiled.get_call_template = get_call_template
    return compiled
