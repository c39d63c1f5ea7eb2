"""Numba's compiler, made faster for kernels that consist of many pieces.

A piece is compiled first by itself, then again as part of every piece and kernel that calls it, and numba
lets LLVM optimize each of these as far as it can. Kernels optimized a little less run as fast; kernels
optimized still less are slower on large circuits. Half of the time is Python's, for numba's own passes:
those that no kernel needs are left out, and numba's findings about an operator are remembered; LLVM gets
the same code as with them. Source: Numba's documentation,
"Customizing the compiler".
"""

# mypy: disallow-untyped-calls=false, disable-error-code="attr-defined"
# numba is not typed.

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba import config
from numba.core import ir
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder, Flags
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.inline_closurecall import InlineWorker, callee_ir_validator
from numba.core.ir_utils import get_definition, guard, rename_labels
from numba.core.lowering import Lower
from numba.core.typed_passes import AnnotateTypes, InlineOverloads, NativeLowering, NopythonRewrites
from numba.core.types import (
    Array,
    BaseFunction,
    BaseNamedTuple,
    BaseTuple,
    Integer,
    IntegerLiteral,
    NoneType,
    Tuple,
    Type,
    uintp,
    unliteral,
)
from numba.core.untyped_passes import (
    DeadBranchPrune,
    FindLiterallyCalls,
    InlineClosureLikes,
    InlineInlinables,
    LiteralPropagationSubPipelinePass,
    LiteralUnroll,
    MakeFunctionToJitFunction,
    RewriteDynamicRaises,
    WithLifting,
)


class PieceLibrary(JITCodeLibrary):
    """Code of a function that only kernels call: optimized, but not compiled to machine code.

    A kernel includes the optimized code of its pieces; machine code of the pieces alone would never run.
    Searches of large circuits ran some 4 % slower when pieces were only inlined and simplified here.
    """

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Return 0: there is no machine code."""
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> Any:
        """The object that numba asks to set a function's environment, a variable in machine code."""
        return self

    def set_env(self, env_name: str, env: Any) -> None:
        """Do nothing: kernels neither raise nor print, so they never read an environment."""


class QuickFlags(Flags):
    """Numba's flags, compared only by the options that are set.

    Numba looks up implementations by their flags, tens of thousands of times per kernel, and would compare
    and hash all options each time. An option set to its default differs from one that is not set: then numba
    compiles an implementation once more.
    """

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Flags) and bool(self._values == other._values)

    def __hash__(self) -> int:
        return len(self._values)


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


@register_pass(mutates_CFG=True, analysis_only=False)
class QuickLowering(NativeLowering):
    """Lowering with LLVM at `level`, or at NUMBA_OPT if that is lower. At level 1, uniform playouts of
    checkers run a fifth slower. Level 0 takes longer to compile than 3."""

    _name = "quick_lowering"
    level = 2

    lowering_class = KernelLowering

    def run_pass(self, state: Any) -> bool:
        # Numba holds its compiler lock and compiles nothing else while it lowers a function.
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


class StageInliner(InlineWorker):
    """Numba's inliner without its copies.

    Numba copies a function's IR twice, and with every block all variables of the function, which took longer
    than everything else it does for inlining. The IR of a stage is made for this call alone.
    """

    def __init__(self, state: Any) -> None:
        super().__init__(
            state.typingctx,
            state.targetctx,
            state.locals,
            state.pipeline,
            state.flags,
            validator=callee_ir_validator,
        )
        # Stages call stages.
        self._compiler_pipeline: Any = lambda of_stage: _finalized(
            DefaultPassBuilder.define_untyped_pipeline(of_stage)
        )

    def inline_function(
        self, caller_ir: Any, block: Any, i: int, function: Any, arg_typs: Any = None
    ) -> tuple[Any, ...]:
        stage_ir = self.run_untyped_passes(function)
        for each in stage_ir.blocks.values():
            each.__deepcopy__ = lambda _, original=each: original
        free = function.__code__.co_freevars
        inlined: tuple[Any, ...] = self.inline_ir(caller_ir, block, i, stage_ir, free, arg_typs=arg_typs)
        return inlined


@register_pass(mutates_CFG=True, analysis_only=False)
class InlineStages(InlineInlinables):
    """Numba's pass with the inliner above."""

    _name = "inline_stages"

    def _do_work(self, state: Any, waiting: Any, block: Any, i: int, call: Any, _by_numba: Any) -> bool:
        return bool(super()._do_work(state, waiting, block, i, call, StageInliner(state)))


@register_pass(mutates_CFG=False, analysis_only=False)
class ArgumentMembers(FunctionPass):
    """Look ahead into NamedTuples that are arguments of a kernel, before dead branches are pruned.

    A member that is None becomes a constant: Numba drops a branch on an argument that is None before it
    infers types; one on a member of a NamedTuple it would otherwise compile, and fail. A member that is a
    NamedTuple itself is read once, at the beginning: each reading takes the whole argument apart, and with
    one for every mention kernels take a tenth longer to compile.
    """

    _name = "argument_members"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        func_ir = state.func_ir
        entry = func_ir.blocks[min(func_ir.blocks)]
        readings = [
            (assignment, *found)
            for block in func_ir.blocks.values()
            for assignment in block.find_insts(ir.Assign)
            if not assignment.target.name.startswith(_MEMBER)
            and (found := _member_of_argument(state, assignment.value)) is not None
        ]
        for assignment, argument, kind in readings:
            reading = assignment.value
            if isinstance(kind, NoneType):
                _replace(func_ir, assignment, ir.Const(None, assignment.loc))
            elif isinstance(kind, BaseNamedTuple):
                name = f"{_MEMBER}{argument.name}.{reading.attr}"
                if name not in func_ir._definitions:
                    _read_at_entry(func_ir, entry, argument, reading.attr, name)
                _replace(func_ir, assignment, ir.Var(assignment.target.scope, name, assignment.loc))
        return bool(readings)


_MEMBER = "$member."


def _member_of_argument(state: Any, value: Any) -> tuple[Any, Any] | None:
    """The argument, a NamedTuple, of which `value` reads a member, and the type of that; else None."""
    if not isinstance(value, ir.Expr) or value.op != "getattr":
        return None
    argument = guard(get_definition, state.func_ir, value.value)
    if not isinstance(argument, ir.Arg):
        return None
    kind: Any = state.args[argument.index]
    members = kind.fields if isinstance(kind, BaseNamedTuple) else ()
    return (argument, kind[members.index(value.attr)]) if value.attr in members else None


def _replace(func_ir: Any, assignment: Any, value: Any) -> None:
    of_target = func_ir._definitions[assignment.target.name]
    of_target[of_target.index(assignment.value)] = value
    assignment.value = value


def _read_at_entry(func_ir: Any, entry: Any, argument: Any, member: str, name: str) -> None:
    """Read a member of an argument into the variable `name`, right after the argument."""
    place, taken = next(
        (i, each)
        for i, each in enumerate(entry.body)
        if isinstance(each, ir.Assign) and each.value is argument
    )
    reading = ir.Expr.getattr(taken.target, member, taken.loc)
    variable = ir.Var(taken.target.scope, name, taken.loc)
    entry.body.insert(place + 1, ir.Assign(reading, variable, taken.loc))
    func_ir._definitions[name].append(reading)


_LEFT_OUT = {
    AnnotateTypes,
    FindLiterallyCalls,
    InlineClosureLikes,
    InlineOverloads,
    LiteralPropagationSubPipelinePass,
    LiteralUnroll,
    MakeFunctionToJitFunction,
    NopythonRewrites,
    RewriteDynamicRaises,
    WithLifting,
}
"""Passes that no kernel needs: closures, `with`, exceptions, loops over tuples, sums of whole arrays.

Each visits every function, and some then find out again where which variable is used.
"""


def _finalized(manager: Any) -> Any:
    """A pipeline of numba with the passes above, and without those left out."""
    ours = {NativeLowering: QuickLowering, InlineInlinables: InlineStages}
    passes: list[Any] = []
    for each, why in manager.passes:
        if each in _LEFT_OUT:
            continue
        if each is DeadBranchPrune:
            passes.append((ArgumentMembers, "members of arguments"))
        passes.append((ours.get(each, each), why))
    manager.passes = passes
    manager.finalize()
    return manager


_signatures: dict[tuple[int, tuple[Any, ...]], tuple[Any, Any]] = {}
"""(id of a function, types of arguments) → the function, which keeps its id that way; its signature."""


@contextmanager
def _remembered_signatures() -> Iterator[None]:
    """Let numba remember signatures of its own functions, operators above all, in the `with` block.

    It would try one implementation after the other at each of thousands of calls in a large kernel, nine
    tenths of which have the types of an earlier one. Belongs inside numba's compiler lock; may be nested.
    """
    patched: Any = BaseFunction
    find = patched.get_call_type

    def get_call_type(function: Any, context: Any, args: Any, kws: Any) -> Any:
        if kws:
            return find(function, context, args, kws)
        known = _signatures.get((id(function), args))
        if known is None:
            known = _signatures[id(function), args] = function, find(function, context, args, kws)
        return known[1]

    is_outermost = find.__module__ != __name__
    if is_outermost:
        patched.get_call_type = get_call_type
    try:
        yield
    finally:
        if is_outermost:
            patched.get_call_type = find


class QuickCompiler(CompilerBase):
    """Numba's pipeline with the passes above. Garbage is not collected meanwhile, which took up to a tenth of
    the time."""

    def define_pipelines(self) -> list[Any]:
        return [_finalized(DefaultPassBuilder.define_nopython_pipeline(self.state))]

    def compile_extra(self, func: Any) -> Any:
        self.state.flags = QuickFlags(self.state.flags)
        was_collecting = gc.isenabled()
        gc.disable()
        try:
            with _remembered_signatures():
                return super().compile_extra(func)
        finally:
            if was_collecting:
                gc.enable()


def without_literals(compiled: Any) -> Any:
    """Compile `compiled` once for all constant arguments, typing them as ordinary numbers.

    Numba has no option for that and would compile a version for each constant. Inside a kernel, LLVM knows
    the constants anyway.
    """
    resolve = compiled.get_call_template

    def get_call_template(args: Any, kws: Any) -> Any:
        return resolve(
            tuple(unliteral(each) for each in args), {name: unliteral(each) for name, each in kws.items()}
        )

    compiled.get_call_template = get_call_template
    return compiled
