"""Code generator: rules to Python source for `gdl.reasoning.reasoner`.

Every predicate becomes one or more small functions over a *context* `c`, a list of everything
known about one state:

    c[FACTS]       frozenset of the facts that are true
    c[BY_FUNCTOR]  {(name, length): [fact, …]} of the compound facts
    c[MOVES]       {role: move}, None while no joint move is given
    c[k], k ≥ 3    memo slots: rows, indexes and answers, filled on first use

A literal reads its relation through a `Path`: an index from the bound parts of the literal to the
parts that are still wanted. Rows are tuples of values; the rows of a predicate with one argument are
scalars, and the row of a predicate without arguments is `()`.

Text of rule sheets never reaches the generated source: constants are passed by reference, and every
name in the source is a letter and a number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from itertools import count
from typing import Any, NamedTuple, TypeAlias

from gdl.reasoning.join_order import Relation, columns_of, names_in, relation_of
from gdl.reasoning.values import Value, value_of
from gdl.terms import Compound, Symbol, Term, Variable, variables

FACTS, BY_FUNCTOR, MOVES, FIRST_SLOT = 0, 1, 2, 3

MANY_VARIABLES = 100
"""Terms with more variables are checked when built: values are bounded, but not combinations of many."""

Shape: TypeAlias = "tuple[Any, ...]"
"""("key",) a bound part, ("out", i) a wanted one, ("any",) neither, ("compound", name, shapes) nested."""

KEY: Shape = ("key",)
ANY: Shape = ("any",)


class Path(NamedTuple):
    """How a literal reads a relation.

    shapes   the shape of each column
    keys     number of bound parts
    outputs  number of wanted parts
    """

    relation: Relation
    shapes: tuple[Shape, ...]
    keys: int
    outputs: int


class Access(NamedTuple):
    """A path with the terms of its keys and its output variables."""

    path: Path
    key_terms: tuple[Term, ...]
    output_names: tuple[str, ...]


def access_to(atom: Symbol | Compound, bound: frozenset[str], needed: frozenset[str]) -> Access:
    """The access to `atom` with `bound` and `needed` variables."""
    keys: list[Term] = []
    outputs: list[str] = []
    occurrences = [variable.name for variable in variables(atom)]

    def shape(term: Term) -> Shape:
        if names_in(term) <= bound:
            keys.append(term)
            return KEY
        if isinstance(term, Variable):
            if term.name in outputs:
                return ("out", outputs.index(term.name))
            if term.name not in needed and occurrences.count(term.name) == 1:
                return ANY
            outputs.append(term.name)
            return ("out", len(outputs) - 1)
        assert isinstance(term, Compound)
        return ("compound", term.name, tuple(shape(argument) for argument in term.arguments))

    shapes = tuple(shape(column) for column in columns_of(atom))
    return Access(Path(relation_of(atom), shapes, len(keys), len(outputs)), tuple(keys), tuple(outputs))


class Writer:
    """Python source under construction, its constants, and its supply of fresh names.

    >>> writer = Writer({})
    >>> with writer.function("double", ["x"]):
    ...     writer.line("return x + x")
    >>> writer.execute()
    >>> writer.namespace["double"](4)
    8
    """

    def __init__(self, namespace: dict[str, Any], numbers: Iterator[int] | None = None) -> None:
        self.namespace = namespace
        self.numbers = count(1) if numbers is None else numbers
        self.functions: list[str] = []
        self._lines: list[str] = []
        self._indent = 0
        self._constants: dict[Value, str] = {}

    def fresh(self, letter: str) -> str:
        """A unique name: `letter` and a number."""
        return f"{letter}{next(self.numbers)}"

    def constant(self, value: Value) -> str:
        """The name by which generated code refers to `value`."""
        if value not in self._constants:
            name = self._constants[value] = self.fresh("k")
            self.namespace[name] = value
        return self._constants[value]

    @property
    def depth(self) -> int:
        return self._indent

    def line(self, *texts: str) -> None:
        self._lines += [" " * self._indent + text for text in texts]

    @contextmanager
    def block(self, header: str) -> Iterator[None]:
        self.line(header)
        self._indent += 1
        yield
        self._indent -= 1

    @contextmanager
    def function(self, name: str, parameters: Sequence[str]) -> Iterator[None]:
        """Write a module-level function, even while another one is being written."""
        outer = self._lines, self._indent
        self._lines, self._indent = [], 0
        with self.block(f"def {name}({', '.join(parameters)}):"):
            yield
        self.functions.append("\n".join(self._lines))
        self._lines, self._indent = outer

    def execute(self) -> None:
        """Define every function written so far in the namespace."""
        source = "\n\n".join(self.functions)
        self.functions = []
        exec(compile(source, "<rules>", "exec"), self.namespace)


Environment: TypeAlias = dict[str, str]
"""Variable name → Python expression for its value."""


def tuple_of(parts: Sequence[str]) -> str:
    """Python source of a row or key. A scalar for one part, else a tuple.

    >>> tuple_of(["v1"]), tuple_of(["v1", "v2"]), tuple_of([])
    ('v1', '(v1, v2)', '()')
    """
    return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"


def value_source(writer: Writer, term: Term, environment: Environment) -> str:
    """Python source of the value of `term`. All its variables are in `environment`."""
    source = _plain_source(writer, term, environment)
    if len(list(variables(term))) <= MANY_VARIABLES:
        return source
    place = writer.constant(f"a rule with a term of many variables, {term.name},")
    return f"check_growth({source}, {place})"


def _plain_source(writer: Writer, term: Term, environment: Environment) -> str:
    if isinstance(term, Variable):
        return environment[term.name]
    if isinstance(term, Symbol) or not names_in(term):
        return writer.constant(value_of(term))
    parts = [writer.constant(term.name), *(_plain_source(writer, a, environment) for a in term.arguments)]
    return f"({', '.join(parts)},)"


@contextmanager
def matching(
    writer: Writer, pairs: Sequence[tuple[Shape, str]], keys: list[str], outputs: dict[int, str]
) -> Iterator[None]:
    """Open a block that runs if each expression has its shape. Collect key and output expressions.

    One condition for shapes of any depth and width: Python allows at most 100 levels of indentation.
    """
    tests = []
    stack = list(reversed(pairs))
    while stack:
        shape, expression = stack.pop()
        if shape == KEY:
            keys.append(expression)
        elif shape[0] == "out":
            if shape[1] in outputs:
                tests.append(f"{outputs[shape[1]]} == {expression}")
            else:
                outputs[shape[1]] = expression
        elif shape[0] == "compound":
            name, inner = writer.constant(shape[1]), shape[2]
            tests.append(f"{expression}.__class__ is tuple and len({expression}) == {len(inner) + 1}")
            tests.append(f"{expression}[0] == {name}")
            names = [writer.fresh("v") for _ in inner]
            parts = "".join(f"{part} := {expression}[{i}], " for i, part in enumerate(names, start=1))
            if parts:
                tests.append(f"({parts})")
            stack.extend(reversed(list(zip(inner, names, strict=True))))
    with writer.block(f"if {' and '.join(tests)}:") if tests else nullcontext():
        yield


def write_insert(writer: Writer, path: Path, target: str, keys: list[str], outputs: dict[int, str]) -> None:
    """Add one matched row to the index `target` of `path`."""
    output = tuple_of([outputs[i] for i in range(path.outputs)])
    key = tuple_of(keys)
    if not path.keys:
        writer.line(f"{target}[{output if path.outputs else 'True'}] = None")
    elif not path.outputs:
        writer.line(f"{target}.add({key})")
    else:
        # A dict of outputs, not a list: projection makes duplicates, and order must not depend on hashes.
        with writer.block("try:"):
            writer.line(f"{target}[{key}][{output}] = None")
        with writer.block("except KeyError:"):
            writer.line(f"{target}[{key}] = {{{output}: None}}")


def empty_index(path: Path) -> str:
    """Source of an empty index of `path`."""
    return "set()" if path.keys and not path.outputs else "{}"


def write_path(writer: Writer, path: Path, rows: str, name: str, slot: int | None) -> None:
    """Write `name(c)`, which builds the index of `path` from `rows` and stores it in `slot`, if any."""
    with writer.function(name, ["c"]):
        writer.line(f"x = {empty_index(path)}")
        columns = [writer.fresh("v") if shape != ANY else "_" for shape in path.shapes]
        target = tuple_of(columns if path.relation.functor is None else ["_", *columns]) if columns else "_"
        with writer.block(f"for {target} in {rows}:"):
            keys: list[str] = []
            outputs: dict[int, str] = {}
            with matching(writer, list(zip(path.shapes, columns, strict=True)), keys, outputs):
                write_insert(writer, path, "x", keys, outputs)
        if slot is not None:
            writer.line(f"c[{slot}] = x")
        writer.line("return x")


class Sink(NamedTuple):
    """What to do with a solution of a body.

    write        writes the code for one solution, given the environment
    parameters   names besides `c` to which the code refers
    needed       variables that the code reads
    stops        whether the function returns True at the first solution
    """

    write: Callable[[Environment], None]
    parameters: tuple[str, ...]
    needed: frozenset[str]
    stops: bool
