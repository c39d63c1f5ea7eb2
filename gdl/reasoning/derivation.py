"""Generated functions that derive the relations of a program.

The functions are written on demand and share one namespace. Static predicates are evaluated once; for every
dynamic predicate there is either `rows(c)`, which derives all of it, or `ask(c, …)`, which answers calls with
some arguments bound. For reasons and representation see `gdl.reasoning.rule_compiler`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from gdl.dependencies import Layer, rule_layers
from gdl.program import Literal, Predicate, Rule, arguments_of, predicate_of
from gdl.reasoning.derivation_limits import MAX_DERIVED_ROWS, check_rows
from gdl.reasoning.evaluation_modes import Adornment, plan_rule
from gdl.reasoning.join_order import Relation, Step, names_in, plan_body
from gdl.reasoning.magic_sets import demanded_rules, demanded_size
from gdl.reasoning.relation_access import RelationAccess, Row
from gdl.reasoning.rule_compiler import (
    Environment,
    Sink,
    access_to,
    empty_index,
    matching,
    tuple_of,
    value_source,
    write_insert,
)
from gdl.terms import Compound, Symbol, Term, Variable


class Derivation(RelationAccess):
    """Generated code for one program."""

    # Entry points

    def query(self, atom: Symbol | Compound, bound: Sequence[str]) -> Callable[..., list[Row]]:
        """A function `(c, *values of bound)` → distinct rows of the other variables of `atom`."""
        writer = self._writer
        name = writer.fresh("query")
        wanted = tuple(sorted(names_in(atom) - set(bound)))
        parameters = {variable: writer.fresh("p") for variable in bound}
        plan = plan_body([Literal(atom)], frozenset(bound), frozenset(wanted), self.statistics)
        with writer.function(name, ["c", *parameters.values()]):
            self._write_callees_first(predicate_of(atom))
            writer.line("out = {}")
            sink = Sink(
                lambda environment: writer.line(f"out[{tuple_of([environment[v] for v in wanted])}] = None"),
                ("out",),
                frozenset(wanted),
                False,
            )
            self._write_body(sink, plan.steps, dict(parameters))
            writer.line("return list(out)")
        self._finish()
        function: Callable[..., list[Row]] = self._namespace[name]
        return function

    def _write_callees_first(self, root: Predicate) -> None:
        """Derive very long chains of predicates bottom-up, not by nested calls."""
        if self.modes is None or not self.modes.is_deep:
            return
        needed = self.dependencies.reachable([root])
        for component in self.modes.components:
            if component[0] in needed:
                self._writer.line(f"{self._rows_function(component[0])}(c)")

    def evaluate_static(self, component: tuple[Predicate, ...], most_rows: int = MAX_DERIVED_ROWS) -> None:
        """Derive a component of static predicates and store its rows. Its callees must be evaluated.

        Raises ReasoningError beyond `most_rows` of a recursive predicate, or if terms grow too large.
        """
        self._namespace["check_rows"] = lambda rows: check_rows(rows, most_rows)
        if not any(predicate in self._rules for predicate in component):
            self.static_rows.update({predicate: set() for predicate in component})
            return
        name = self._rows_function(component[0])
        self._finish()
        context = self.new_context()
        self._namespace[name](context)
        for predicate in component:
            rows: set[Row] = context[self._rows_slots.pop(predicate)]
            del self._rows_functions[predicate]
            self.static_rows[predicate] = rows
            listed = ((row,) for row in rows) if predicate.arity == 1 else rows
            self.statistics.measure(Relation(predicate), listed, predicate.arity)

    def _write_whole(self, component: tuple[Predicate, ...]) -> None:
        if self.dependencies.is_recursive(component):
            self._write_fixpoint(component)
        else:
            self._write_rows(component[0])

    def _write_rows(self, predicate: Predicate) -> None:
        writer, slot = self._writer, self._rows_slot(predicate)
        with writer.function(self._rows_functions[predicate], ["c"]):
            writer.line(f"out = c[{slot}]", "if out is not None: return out", "out = set()")
            for rule in self._rules.get(predicate, ()):
                arguments = arguments_of(rule.head)
                sink = self._head_sink(rule, arguments, lambda row: writer.line(f"out.add({row})"), ("out",))
                self._write_body(sink, self._plan(rule, None), {})
            writer.line(f"c[{slot}] = out", "return out")

    def _write_ask(self, predicate: Predicate, adornment: Adornment) -> None:
        """Write `ask(c, …)`: the rows that match a call, or whether any does if no argument is wanted."""
        if self.dependencies.is_recursive(self._component_of[predicate]):
            self._write_recursive_ask(predicate, adornment)
            return
        writer, slot = self._writer, self._new_slot()
        parameters = [writer.fresh("p") for letter in adornment if letter == "b"]
        with writer.function(self._ask_functions[predicate, adornment], ["c", *parameters]):
            if parameters:
                key = tuple_of(parameters)
                writer.line(f"memo = c[{slot}]", f"if memo is None: memo = c[{slot}] = {{}}")
                writer.line(f"out = memo.get({key})")
                target = f"memo[{key}]"
            else:
                target = f"c[{slot}]"
                writer.line(f"out = {target}")
            is_test = "f" not in adornment
            writer.line("if out is not None: return out", f"out = {'False' if is_test else '{}'}")
            for rule in self._rules.get(predicate, ()):
                self._write_asked_rule(rule, adornment, parameters, target if is_test else None)
            writer.line(f"{target} = out", "return out")

    def _write_asked_rule(
        self, rule: Rule, adornment: Adornment, parameters: list[str], test_target: str | None
    ) -> None:
        writer = self._writer
        pairs = list(zip(arguments_of(rule.head), adornment, strict=True))
        given = tuple(argument for argument, letter in pairs if letter == "b")
        wanted = tuple(argument for argument, letter in pairs if letter == "f")
        if test_target is None:
            sink = self._head_sink(rule, wanted, lambda row: writer.line(f"out[{row}] = None"), ("out",))
        else:
            sink = Sink(
                lambda _: writer.line(f"{test_target} = True", "return True"),
                ("memo", *parameters) if parameters else (),
                frozenset(),
                True,
            )
        access = access_to(Compound("call", given), frozenset(), names_in(*given))
        self._write_matched(sink, access, parameters, self._plan(rule, adornment), {})

    def _head_sink(
        self,
        rule: Rule,
        arguments: tuple[Term, ...],
        write_row: Callable[[str], None],
        parameters: tuple[str, ...],
    ) -> Sink:
        """A sink that passes to `write_row` the source of a row: `arguments` of the head."""

        where = f"{self._source_name}:{rule.span.line}: " if rule.span else ""

        def write(environment: Environment) -> None:
            values = []
            for argument in arguments:
                source = value_source(self._writer, argument, environment)
                if not self._is_flat and isinstance(argument, Compound) and names_in(argument):
                    place = self._writer.constant(f"{where}the rule for {rule.predicate}")
                    source = f"check_growth({source}, {place})"
                values.append(source)
            write_row(tuple_of(values))

        return Sink(write, parameters, names_in(*arguments), False)

    def _plan(self, rule: Rule, adornment: Adornment | None) -> tuple[Step, ...]:
        return plan_rule(rule, adornment, self.statistics).steps

    # Recursive components

    def _write_fixpoint(self, component: tuple[Predicate, ...]) -> None:
        """Write `rows(c)` for mutually recursive predicates, derived together (semi-naive, row by row).

        Each new row is immediately put on a queue and into the live indexes; a row taken from the queue is
        joined with everything known. A derivation is found when the last of its rows is taken.
        """
        writer = self._writer
        rules = [rule for predicate in component for rule in self._rules.get(predicate, ())]
        fixpoint = writer.fresh("fixpoint")
        self._live, self._live_indexes = component, {}
        begin, layers, _ = self._write_component(component, rule_layers(rules))
        with writer.function(fixpoint, ["c"]):
            starts = [start for started, drain in layers for start in (*started, drain)]
            writer.line(*(f"{name}(c)" for name in (begin, *starts)))
        self._live = ()
        for predicate in component:
            slot = self._rows_slot(predicate)
            with writer.function(self._rows_functions[predicate], ["c"]):
                writer.line(f"if c[{slot}] is None: {fixpoint}(c)", f"return c[{slot}]")

    def _write_recursive_ask(self, predicate: Predicate, adornment: Adornment) -> None:
        """Write `ask(c, …)` for a recursive predicate.

        The function derives what the call leads to, then looks it up.
        Results of earlier calls in the same context are kept; a new call continues from there.
        """
        writer = self._writer
        component = self._component_of[predicate]
        demanded = demanded_rules(self._rules, component, predicate, adornment, self.statistics)
        self.statistics.sizes |= {Relation(made): demanded_size(made) for made in demanded.predicates}
        places = tuple(Variable(str(number)) for number in range(predicate.arity))
        answer = Compound(demanded.answer.name, places)
        bound = frozenset(str(number) for number, letter in enumerate(adornment) if letter == "b")
        wanted = names_in(answer) - bound
        self._live, self._live_indexes = demanded.predicates, {}
        path = access_to(answer, bound, wanted).path
        index = self._live_slot(path)
        begin, layers, adders = self._write_component(
            demanded.predicates, [Layer(demanded.rules, is_recursive=True)]
        )
        ((_, drain),) = layers
        calls = self._rows_slot(demanded.call)
        parameters = [writer.fresh("p") for _ in bound]
        with writer.function(self._ask_functions[predicate, adornment], ["c", *parameters]):
            key = tuple_of(parameters)
            writer.line(f"if c[{calls}] is None: {begin}(c)")
            writer.line(f"if {key} not in c[{calls}]: {adders[demanded.call]}(c, {key}); {drain}(c)")
            writer.line(f"return c[{index}].get({key}, ())" if wanted else f"return {key} in c[{index}]")
        self._live = ()

    def _write_component(
        self, component: tuple[Predicate, ...], layers: Sequence[Layer]
    ) -> tuple[str, list[tuple[list[str], str]], dict[Predicate, str]]:
        """Write the functions of a fixpoint over `component`.

        Returns the name of a function that empties its relations, per layer the functions that start its
        rules and the one that drains the queue, and per predicate the one that adds a row.
        """
        writer = self._writer
        queue = self._new_slot()
        adders = {predicate: writer.fresh("add") for predicate in component}
        written = []
        for layer in layers:
            starts = [self._write_rule_start(rule, adders) for rule in layer.rules]
            deltas: dict[Predicate, list[str]] = {}
            if layer.is_recursive:
                for rule in layer.rules:
                    self._write_rule_deltas(rule, adders, deltas)
            written.append((starts, self._write_drain(component, deltas, queue)))
        for number, predicate in enumerate(component):
            self._write_adder(predicate, adders[predicate], number, queue)
        begin = writer.fresh("begin")
        with writer.function(begin, ["c"]):
            writer.line(*(f"c[{self._rows_slot(predicate)}] = set()" for predicate in component))
            writer.line(*(f"c[{slot}] = {empty_index(path)}" for path, slot in self._live_indexes.items()))
            writer.line(f"c[{queue}] = []")
        return begin, written, adders

    def _write_drain(
        self, component: tuple[Predicate, ...], deltas: Mapping[Predicate, list[str]], queue: int
    ) -> str:
        """Write `drain(c)`: join queued rows until the queue is empty."""
        writer = self._writer
        name = writer.fresh("drain")
        with writer.function(name, ["c"]):
            writer.line(f"queue = c[{queue}]")
            if not deltas:
                writer.line("queue.clear()")
                return name
            with writer.block("while queue:"):
                writer.line("number, row = queue.pop()")
                for number, predicate in enumerate(component):
                    calls = [f"{delta}(c, row)" for delta in deltas.get(predicate, ())]
                    if calls:
                        writer.line(f"if number == {number}: {'; '.join(calls)}")
        return name

    def _write_rule_start(self, rule: Rule, adders: Mapping[Predicate, str]) -> str:
        name = self._writer.fresh("start")
        with self._writer.function(name, ["c"]):
            self._write_body(self._adding_sink(rule, adders), self._plan(rule, None), {})
            self._writer.line("return")
        return name

    def _write_rule_deltas(
        self, rule: Rule, adders: Mapping[Predicate, str], deltas: dict[Predicate, list[str]]
    ) -> None:
        writer = self._writer
        for position, literal in enumerate(rule.literals):
            if literal.predicate not in self._live or not literal.is_positive:
                continue
            rest = [other for number, other in enumerate(rule.literals) if number != position]
            arguments = arguments_of(literal.atom)
            bound = names_in(*arguments)
            sink = self._adding_sink(rule, adders)
            steps = plan_body(rest, bound, sink.needed, self.statistics).steps
            name = writer.fresh("delta")
            with writer.function(name, ["c", "row"]):
                columns = [writer.fresh("v") for _ in arguments]
                if columns:
                    writer.line(f"{', '.join(columns)} = row")
                access = access_to(Compound("row", arguments), frozenset(), bound)
                self._write_matched(sink, access, columns, steps, {})
                writer.line("return")
            deltas.setdefault(literal.predicate, []).append(name)

    def _adding_sink(self, rule: Rule, adders: Mapping[Predicate, str]) -> Sink:
        adder = adders[rule.predicate]
        return self._head_sink(
            rule, arguments_of(rule.head), lambda row: self._writer.line(f"{adder}(c, {row})"), ()
        )

    def _write_adder(self, predicate: Predicate, name: str, number: int, queue: int) -> None:
        """Write `add(c, row)`: store and queue a new row."""
        writer = self._writer
        with writer.function(name, ["c", "row"]):
            writer.line(f"rows = c[{self._rows_slot(predicate)}]", "if row in rows: return")
            writer.line("rows.add(row)", "check_rows(rows)", f"c[{queue}].append(({number}, row))")
            for path, slot in self._live_indexes.items():
                if path.relation.predicate != predicate:
                    continue
                writer.line(f"x = c[{slot}]")
                columns = [writer.fresh("v") for _ in path.shapes]
                if columns:
                    writer.line(f"{', '.join(columns)} = row")
                keys: list[str] = []
                outputs: dict[int, str] = {}
                with matching(writer, list(zip(path.shapes, columns, strict=True)), keys, outputs):
                    write_insert(writer, path, "x", keys, outputs)
