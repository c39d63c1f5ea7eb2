"""Is a program meaningful? The checks without which reasoning about it makes no sense.

What is odd but has a meaning passes: undefined relations are false, a missing `init` is an empty
initial state. `CODES` lists every diagnostic that `gdl` reports; docs/diagnostics.md explains them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gdl.dependencies import Dependencies, negative_cycles
from gdl.errors import Diagnostic, GdlValidationError, Related, Severity
from gdl.keywords import KEYWORDS, Keyword
from gdl.normalize import normalize, oversized_rules
from gdl.program import Literal, Predicate, Program, Rule, literals_in, predicate_of
from gdl.terms import Compound, Span, Symbol, Variable, variables

CODES: Mapping[str, str] = {
    "GDL101": "unclosed parenthesis",
    "GDL102": "unmatched closing parenthesis",
    "GDL103": "parentheses nested too deep",
    "GDL104": "control character",
    "GDL105": "text too long",
    "GDL106": "empty list",
    "GDL107": "list that does not begin with a name",
    "GDL108": "rule without a head",
    "GDL109": "variable without a name",
    "GDL110": "not with other than one operand",
    "GDL111": "connective in the wrong place",
    "GDL112": "unexpected part of an infix rule",
    "GDL113": "variable in the place of an atom",
    "GDL114": "quoted name that KIF cannot write or that is not closed",
    "GDL115": "not exactly one term",
    "GDL201": "no roles",
    "GDL202": "keyword with the wrong number of arguments",
    "GDL203": "keyword that rules cannot define",
    "GDL204": "keyword that bodies cannot use",
    "GDL205": "unsafe variable",
    "GDL206": "dependence on the state or the moves where there is none",
    "GDL207": "negation in a cycle",
    "GDL210": "rule with too many alternatives",
    "GDL211": "sheet with too many literals",
    "GDL301": "relation used with a number of arguments for which it has no rules",
}

MAX_FINDINGS = 100
"""Longest list of diagnostics that is reported for one sheet."""


def check(program: Program) -> list[Diagnostic]:
    """Every finding about `program` (normalized or not), by place; at most MAX_FINDINGS."""
    found = list(oversized_rules(program))
    found += _roles(program)
    for rule in program.rules:
        found += _keyword_places(rule)
    found += _arities(program)
    found += _misplaced_dependencies(program)
    if not any(diagnostic.code in ("GDL210", "GDL211") for diagnostic in found):
        plain = normalize(program)
        for rule in plain.rules:
            found += _unsafe_variables(rule)
        found += _negative_cycles(plain)
    unique = dict.fromkeys(found)
    return sorted(unique, key=lambda diagnostic: diagnostic.span or Span(0, 0, 0, 0))[:MAX_FINDINGS]


def require_valid(program: Program) -> None:
    """Raise GdlValidationError with the errors (not the warnings) of `check`, if there are any."""
    errors = [diagnostic for diagnostic in check(program) if diagnostic.severity is Severity.ERROR]
    if errors:
        raise GdlValidationError(errors, program.source)


def _error(code: str, message: str, span: Span | None, *related: Related) -> Diagnostic:
    return Diagnostic(code, Severity.ERROR, message, span, related)


def _roles(program: Program) -> Iterator[Diagnostic]:
    if not program.rules_for("role", 1):
        yield _error("GDL201", "no roles: name who plays, such as (role white)", None)


def _keyword_places(rule: Rule) -> Iterator[Diagnostic]:
    """Heads and bodies in which a keyword has the wrong arity or does not belong."""
    keyword = KEYWORDS.get(rule.head.name)
    if keyword is not None:
        yield from _arity_fault(rule.head, keyword)
        if not keyword.may_be_head and rule.predicate == keyword.predicate:
            message = f"'{keyword.name}' is given by the match and cannot be defined by rules or facts"
            if keyword.name == "distinct":
                message = "'distinct' is built in and cannot be defined by rules or facts"
            yield _error("GDL203", message, rule.head.span)
    for formula in rule.body:
        for literal, _ in literals_in(formula):
            keyword = KEYWORDS.get(literal.atom.name)
            if keyword is None:
                continue
            yield from _arity_fault(literal.atom, keyword)
            if not keyword.may_be_body and literal.predicate == keyword.predicate:
                message = f"'{keyword.name}' says {keyword.meaning} and cannot be used in a body"
                yield _error("GDL204", message, literal.atom.span)


def _arity_fault(atom: Symbol | Compound, keyword: Keyword) -> Iterator[Diagnostic]:
    arity = predicate_of(atom).arity
    if keyword.is_strict and arity != keyword.arity:
        message = f"'{keyword.name}' takes {_arguments(keyword.arity)}, not {arity}"
        yield _error("GDL202", message, atom.span)


def _arguments(count: int) -> str:
    return f"{count or 'no'} argument{'' if count == 1 else 's'}"


def _arities(program: Program) -> Iterator[Diagnostic]:
    """Body literals without rules for their arity whose relation has rules with another one."""
    defined: dict[str, Rule] = {}
    for rule in program.rules:
        defined.setdefault(rule.head.name, rule)
    seen: set[Predicate] = set()
    for rule in program.rules:
        for formula in rule.body:
            for literal, _ in literals_in(formula):
                predicate = literal.predicate
                if predicate in seen or predicate.name not in defined or predicate.name in KEYWORDS:
                    continue
                seen.add(predicate)
                if predicate not in program.by_predicate:
                    other = defined[predicate.name]
                    message = (
                        f"'{predicate.name}' has no rules with {_arguments(predicate.arity)}:"
                        " this is never true"
                    )
                    note = Related(f"here it has {other.predicate.arity}", other.head.span)
                    yield Diagnostic("GDL301", Severity.WARNING, message, literal.atom.span, (note,))


def _unsafe_variables(rule: Rule) -> Iterator[Diagnostic]:
    """Variables that no positive literal of the (normalized) body gives a value."""
    bound: set[str] = set()
    for literal in rule.literals:
        if literal.is_positive and literal.atom.name != "distinct":
            bound.update(variable.name for variable in variables(literal.atom))
    reported: set[str] = set()
    for place, variable in _variables_to_bind(rule):
        if variable.name not in bound and variable.name not in reported:
            reported.add(variable.name)
            if rule.body:
                message = (
                    f"variable {variable} in {place} has no value: use it in a positive literal of the body"
                )
            else:
                message = f"variable {variable} in a fact: facts hold constants only"
            yield _error("GDL205", message, variable.span or rule.span)


def _variables_to_bind(rule: Rule) -> Iterator[tuple[str, Variable]]:
    for variable in variables(rule.head):
        yield "the head", variable
    for literal in rule.literals:
        if literal.atom.name == "distinct":
            place = "'distinct'"
        elif not literal.is_positive:
            place = "a negation"
        else:
            continue
        for variable in variables(literal.atom):
            yield place, variable


def _misplaced_dependencies(program: Program) -> Iterator[Diagnostic]:
    """Rules for init, legal, goal, terminal, role that need `true` or `does` where there is none yet."""
    dependencies = Dependencies(program)
    for keyword in KEYWORDS.values():
        for needed in keyword.never_needs:
            if keyword.predicate not in program.by_predicate:
                continue
            path = _path_to(dependencies, keyword.predicate, KEYWORDS[needed].predicate)
            if path:
                first, *_ = path
                chain = " needs ".join([keyword.name, *(str(predicate.name) for predicate in path)])
                rule, literal = _use_of(program, keyword.predicate, first)
                message = f"'{keyword.name}' must not depend on '{needed}': {chain}"
                yield _error("GDL206", message, literal.atom.span or rule.span)


def _path_to(dependencies: Dependencies, start: Predicate, target: Predicate) -> list[Predicate]:
    """A shortest path of predicates from `start` (excluded) to `target`; empty if there is none."""
    previous: dict[Predicate, Predicate] = {start: start}
    frontier = [start]
    while frontier and target not in previous:
        following = []
        for predicate in frontier:
            for callee in dependencies.callees(predicate):
                if callee not in previous:
                    previous[callee] = predicate
                    following.append(callee)
        frontier = following
    if target not in previous:
        return []
    path = [target]
    while previous[path[-1]] != start:
        path.append(previous[path[-1]])
    return path[::-1]


def _use_of(program: Program, caller: Predicate, callee: Predicate) -> tuple[Rule, Literal]:
    """The first rule for `caller` with a literal of `callee`, and that literal."""
    for rule in program.by_predicate[caller]:
        for formula in rule.body:
            for literal, _ in literals_in(formula):
                if literal.predicate == callee:
                    return rule, literal
    raise AssertionError(f"{caller} does not use {callee}")


def _negative_cycles(plain: Program) -> Iterator[Diagnostic]:
    for cycle in negative_cycles(plain):
        names = [str(rule.head) for rule in cycle.rules]
        chain = " needs ".join([*names, names[0]])
        message = f"negation in a cycle: {chain}, once through this negation"
        notes = [Related(f"rule for {rule.head}", rule.head.span) for rule in cycle.rules[:3]]
        yield _error("GDL207", message, cycle.span, *notes)
