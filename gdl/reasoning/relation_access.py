"""Rule bodies as nested loops over relations, with the slots, names and indexes by which code reads them.

They are assigned on first reference. For reasons and representation see `gdl.reasoning.rule_compiler`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any, TypeAlias

from gdl.dependencies import DISTINCT, DOES, TRUE, Dependencies
from gdl.program import Predicate, Program, arguments_of, predicate_of
from gdl.reasoning.derivation_limits import check_growth, check_rows, is_flat
from gdl.reasoning.evaluation_modes import Adornment, EvaluationModes, adornment_of
from gdl.reasoning.join_order import Statistics, Step, names_in
from gdl.reasoning.rule_compiler import (
    BY_FUNCTOR,
    FACTS,
    FIRST_SLOT,
    MOVES,
    Access,
    Environment,
    Path,
    Shape,
    Sink,
    Writer,
    access_to,
    matching,
    tuple_of,
    value_source,
    write_path,
)
from gdl.terms import Compound, Symbol, Term

MAX_BLOCKS = 16
"""Python allows 20 nested loops and 100 levels of indentation; longer bodies continue elsewhere."""

Context: TypeAlias = list[Any]
"""Everything known about one state; see `gdl.reasoning.rule_compiler`."""

Row: TypeAlias = Any
"""A tuple of values; the value itself for predicates of one argument."""


class RelationAccess(ABC):
    """Source code that reads relations. `Derivation` writes the functions to which it refers.

    static_rows   {predicate: set of rows} of the static predicates evaluated so far
    on_demand     static predicates too large to derive completely: answered per call like dynamic ones
    slot_count    required length of a context
    """

    def __init__(
        self,
        program: Program,
        dependencies: Dependencies,
        statistics: Statistics,
        static_rows: dict[Predicate, set[Row]],
        on_demand: frozenset[Predicate],
    ) -> None:
        self.dependencies = dependencies
        self.statistics = statistics
        self.static_rows = static_rows
        self.on_demand = on_demand
        self.slot_count = FIRST_SLOT
        self.modes: EvaluationModes | None = None
        self._rules = program.by_predicate
        self._source_name = program.source.name
        self._is_flat = is_flat(program)
        self._component_of = {p: component for component in dependencies.components for p in component}
        self._namespace: dict[str, Any] = {"check_growth": check_growth, "check_rows": check_rows}
        self._writer = Writer(self._namespace)
        self._rows_slots: dict[Predicate, int] = {}
        self._rows_functions: dict[Predicate, str] = {}
        self._ask_functions: dict[tuple[Predicate, Adornment], str] = {}
        self._indexes: dict[Path, tuple[int, str]] = {}
        self._static_indexes: dict[Path, str] = {}
        self._static_sets: dict[Predicate, str] = {}
        self._live_indexes: dict[Path, int] = {}
        self._live: tuple[Predicate, ...] = ()
        self._pending: list[Callable[[], None]] = []

    def new_context(self) -> Context:
        """An empty context."""
        return [None] * self.slot_count

    # Loops of a body

    def _write_body(self, sink: Sink, steps: Sequence[Step], environment: Environment) -> None:
        """Write code that runs the sink for every solution of `steps`."""
        writer = self._writer
        if not steps:
            sink.write(environment)
            return
        if writer.depth > MAX_BLOCKS:
            self._continue_elsewhere(sink, steps, environment)
            return
        step, rest = steps[0], steps[1:]
        literal = step.literal
        if literal.predicate == DISTINCT:
            left, right = (value_source(writer, a, environment) for a in arguments_of(literal.atom))
            with writer.block(f"if {left} {'!=' if literal.is_positive else '=='} {right}:"):
                self._write_body(sink, rest, environment)
        elif names_in(literal.atom) <= step.bound:
            condition = self._test(literal.atom, environment)
            with writer.block(f"if {condition}:" if literal.is_positive else f"if not {condition}:"):
                self._write_body(sink, rest, environment)
        elif predicate_of(literal.atom) == DOES:
            self._write_does(sink, step, rest, environment)
        else:
            self._write_loop(sink, step, rest, environment)

    def _write_does(self, sink: Sink, step: Step, rest: Sequence[Step], environment: Environment) -> None:
        """Match moves directly, not through an index: they are few."""
        writer = self._writer
        role, move = arguments_of(step.literal.atom)
        access = access_to(Compound("does", (role, move)), step.bound, step.needed)
        names = [writer.fresh("v")]
        if names_in(role) <= step.bound:
            writer.line(f"{names[0]} = c[{MOVES}].get({value_source(writer, role, environment)})")
            header = f"if {names[0]} is not None:"
            path = access.path._replace(shapes=access.path.shapes[1:])
            access = access._replace(path=path, key_terms=access.key_terms[1:])
        else:
            names.insert(0, writer.fresh("v"))
            header = f"for {names[0]}, {names[1]} in c[{MOVES}].items():"
        with writer.block(header):
            self._write_matched(sink, access, names, rest, environment)

    def _write_matched(
        self, sink: Sink, access: Access, names: Sequence[str], rest: Sequence[Step], environment: Environment
    ) -> None:
        """Write the rest of a body for rows whose columns, in variables `names`, match an access."""
        keys: list[str] = []
        outputs: dict[int, str] = {}
        pairs: list[tuple[Shape, str]] = list(zip(access.path.shapes, names, strict=True))
        with matching(self._writer, pairs, keys, outputs):
            environment = environment | {name: outputs[i] for i, name in enumerate(access.output_names)}
            tests = [
                f"{key} == {value_source(self._writer, term, environment)}"
                for key, term in zip(keys, access.key_terms, strict=True)
            ]
            with self._writer.block(f"if {' and '.join(tests)}:") if tests else nullcontext():
                self._write_body(sink, rest, environment)

    def _write_loop(self, sink: Sink, step: Step, rest: Sequence[Step], environment: Environment) -> None:
        writer = self._writer
        asked = self._ask(step, environment)
        if asked is not None:
            self._write_answers(sink, *asked, step, rest, environment)
            return
        access = access_to(step.literal.atom, step.bound, step.needed)
        index = self._index(access.path)
        keys = tuple_of([value_source(writer, term, environment) for term in access.key_terms])
        if not access.output_names:
            with writer.block(f"if {keys} in {index}:" if access.key_terms else f"if {index}:"):
                self._write_body(sink, rest, environment)
            return
        names = [writer.fresh("v") for _ in access.output_names]
        source = f"{index}.get({keys}, ())" if access.key_terms else index
        if access.path.relation.predicate in self._live:
            # Rows added in the meantime are in the queue; only those known now are joined here.
            source = f"list({source})"
        with writer.block(f"for {tuple_of(names)} in {source}:"):
            inner = environment | dict(zip(access.output_names, names, strict=True))
            self._write_body(sink, rest, inner)

    def _write_answers(
        self,
        sink: Sink,
        rows: str,
        columns: tuple[Term, ...],
        step: Step,
        rest: Sequence[Step],
        environment: Environment,
    ) -> None:
        """Loop over the answers of a subgoal. Its columns are the terms that it left open."""
        if not columns:
            with self._writer.block(f"if {rows}:"):
                self._write_body(sink, rest, environment)
            return
        access = access_to(Compound("answer", columns), step.bound, step.needed)
        names = [self._writer.fresh("v") for _ in columns]
        with self._writer.block(f"for {tuple_of(names)} in {rows}:"):
            self._write_matched(sink, access, names, rest, environment)

    def _continue_elsewhere(self, sink: Sink, steps: Sequence[Step], environment: Environment) -> None:
        writer = self._writer
        name = writer.fresh("part")
        wanted = names_in(*(step.literal.atom for step in steps)) | sink.needed
        carried = {variable: source for variable, source in environment.items() if variable in wanted}
        parameters = {variable: writer.fresh("p") for variable in carried}
        call = f"{name}(c, {', '.join([*sink.parameters, *carried.values()])})"
        with writer.function(name, ["c", *sink.parameters, *parameters.values()]):
            self._write_body(sink, steps, parameters)
            if sink.stops:
                writer.line("return False")
        if sink.stops:
            with writer.block(f"if {call}:"):
                sink.write(environment)
        else:
            writer.line(call)

    # How a literal reads its relation

    def _is_static(self, predicate: Predicate) -> bool:
        return predicate not in self.dependencies.dynamic and predicate not in self.on_demand

    def _is_asked(self, predicate: Predicate) -> bool:
        if predicate in self.on_demand:
            return True
        return self.modes is not None and self.modes.is_asked.get(predicate, False)

    def _index(self, path: Path) -> str:
        """Source of the index of `path`, after lines that fetch it."""
        predicate = path.relation.predicate
        if predicate in self._live:
            return f"c[{self._live_slot(path)}]"
        if self._is_static(predicate):
            return self._static_index(path)
        if path not in self._indexes:
            self._indexes[path] = self._new_slot(), self._writer.fresh("index")
            self._pending.append(lambda: self._write_index(path))
        slot, name = self._indexes[path]
        local = self._writer.fresh("x")
        self._writer.line(f"{local} = c[{slot}]", f"if {local} is None: {local} = {name}(c)")
        return local

    def _test(self, atom: Symbol | Compound, environment: Environment) -> str:
        """Source of a condition all of whose variables have values."""
        writer = self._writer
        predicate = predicate_of(atom)
        values = [value_source(writer, argument, environment) for argument in arguments_of(atom)]
        if predicate == TRUE:
            return f"{values[0]} in c[{FACTS}]"
        if predicate == DOES:
            return f"c[{MOVES}].get({values[0]}) == {values[1]}"
        if predicate in self._live:
            return f"{tuple_of(values)} in c[{self._rows_slot(predicate)}]"
        if self._is_static(predicate):
            return f"{tuple_of(values)} in {self._static_set(predicate)}"
        if self._is_asked(predicate):
            return f"{self._ask_function(predicate, 'b' * predicate.arity)}({', '.join(['c', *values])})"
        local = writer.fresh("x")
        writer.line(f"{local} = c[{self._rows_slot(predicate)}]")
        writer.line(f"if {local} is None: {local} = {self._rows_function(predicate)}(c)")
        return f"{tuple_of(values)} in {local}"

    def _ask(self, step: Step, environment: Environment) -> tuple[str, tuple[Term, ...]] | None:
        """Source of a call that answers a step, and the columns of the answer; None if all is derived."""
        atom = step.literal.atom
        predicate = predicate_of(atom)
        if predicate in self._live or not self._is_asked(predicate):
            return None
        adornment = adornment_of(atom, step.bound, step.needed)
        if self.dependencies.is_recursive(self._component_of[predicate]):
            adornment = adornment.replace("_", "f")
        pairs = list(zip(arguments_of(atom), adornment, strict=True))
        values = [value_source(self._writer, a, environment) for a, letter in pairs if letter == "b"]
        call = f"{self._ask_function(predicate, adornment)}({', '.join(['c', *values])})"
        return call, tuple(argument for argument, letter in pairs if letter == "f")

    # Slots and names

    def _new_slot(self) -> int:
        self.slot_count += 1
        return self.slot_count - 1

    def _rows_slot(self, predicate: Predicate) -> int:
        if predicate not in self._rows_slots:
            self._rows_slots[predicate] = self._new_slot()
        return self._rows_slots[predicate]

    def _live_slot(self, path: Path) -> int:
        if path not in self._live_indexes:
            self._live_indexes[path] = self._new_slot()
        return self._live_indexes[path]

    def _static_set(self, predicate: Predicate) -> str:
        if predicate not in self._static_sets:
            name = self._static_sets[predicate] = self._writer.fresh("s")
            self._namespace[name] = self.static_rows.get(predicate, set())
        return self._static_sets[predicate]

    def _static_index(self, path: Path) -> str:
        if path not in self._static_indexes:
            builder = Writer(self._namespace, self._writer.numbers)
            name, function = self._writer.fresh("i"), self._writer.fresh("index")
            write_path(builder, path, self._static_set(path.relation.predicate), function, None)
            builder.execute()
            self._namespace[name] = self._namespace.pop(function)([])
            self._static_indexes[path] = name
        return self._static_indexes[path]

    def _rows_function(self, predicate: Predicate) -> str:
        if predicate not in self._rows_functions:
            component = self._component_of[predicate]
            for member in component:
                self._rows_functions[member] = self._writer.fresh("rows")
            self._pending.append(lambda: self._write_whole(component))
        return self._rows_functions[predicate]

    def _ask_function(self, predicate: Predicate, adornment: Adornment) -> str:
        key = predicate, adornment
        if key not in self._ask_functions:
            self._ask_functions[key] = self._writer.fresh("ask")
            self._pending.append(lambda: self._write_ask(predicate, adornment))
        return self._ask_functions[key]

    def _finish(self) -> None:
        while self._pending:
            self._pending.pop()()
        self._writer.execute()

    @abstractmethod
    def _write_whole(self, component: tuple[Predicate, ...]) -> None:
        """Write the `rows(c)` functions of a component of predicates."""

    @abstractmethod
    def _write_ask(self, predicate: Predicate, adornment: Adornment) -> None:
        """Write `ask(c, …)` of a predicate for one adornment."""

    def _write_index(self, path: Path) -> None:
        slot, name = self._indexes[path]
        relation = path.relation
        if relation.functor is not None:
            key = self._writer.fresh("k")
            self._namespace[key] = (relation.functor, relation.arity + 1)
            rows = f"c[{BY_FUNCTOR}].get({key}, ())"
        elif relation.predicate == TRUE:
            rows = f"c[{FACTS}]"
        else:
            rows = f"{self._rows_function(relation.predicate)}(c)"
        write_path(self._writer, path, rows, name, slot)
