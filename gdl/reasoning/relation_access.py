"""Access of generated code to relations: slots, names and indexes.

They are assigned on first reference. For reasons and representation see `gdl.reasoning.rule_compiler`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, TypeAlias

from gdl.dependencies import DOES, TRUE, Dependencies
from gdl.program import Predicate, Program, arguments_of, predicate_of
from gdl.reasoning.derivation_limits import check_growth, check_rows, is_flat
from gdl.reasoning.evaluation_modes import Adornment, EvaluationModes, adornment_of
from gdl.reasoning.join_order import Statistics, Step
from gdl.reasoning.rule_compiler import (
    BY_FUNCTOR,
    FACTS,
    FIRST_SLOT,
    MOVES,
    Access,
    BodyWriter,
    Environment,
    Path,
    Reader,
    Sink,
    tuple_of,
    value_source,
    write_path,
)
from gdl.reasoning.source_writer import Writer
from gdl.terms import Compound, Symbol, Term

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

    # How a literal reads its relation

    def _body_writer(self, sink: Sink) -> BodyWriter:
        reader = Reader(self._index, self._test, self._ask, lambda predicate: predicate in self._live)
        return BodyWriter(self._writer, reader, sink)

    def _is_static(self, predicate: Predicate) -> bool:
        return predicate not in self.dependencies.dynamic and predicate not in self.on_demand

    def _is_asked(self, predicate: Predicate) -> bool:
        if predicate in self.on_demand:
            return True
        return self.modes is not None and self.modes.is_asked.get(predicate, False)

    def _index(self, access: Access, environment: Environment) -> str:
        path = access.path
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
