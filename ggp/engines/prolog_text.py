"""GDL as Prolog source, for the optional SWI-Prolog engine.

Constants become quoted atoms (numbers too, so that `01` stays `01`), compounds Prolog compounds, and each
predicate `p` of n arguments the Prolog predicate 'gdl p'/n, so that no name clashes with a built-in one.
Facts of a state are clauses of 'gdl true', moves of 'gdl does'.
"""

from __future__ import annotations

from collections.abc import Iterable

from gdl.dependencies import DISTINCT, DOES, TRUE, Dependencies
from gdl.program import Literal, Predicate, Program, Rule, arguments_of
from gdl.reasoning.join_order import names_in
from gdl.terms import Compound, Symbol, Term, Variable

SUPPORT = r"""
gdl_text(Term, Text) :- with_output_to(string(Text), gdl_write(Term)).
gdl_write(Term) :- atom(Term), !, write(Term).
gdl_write(Term) :- compound_name_arguments(Term, Name, Arguments),
    write('('), write(Name), forall(member(A, Arguments), (write(' '), gdl_write(A))), write(')').
gdl_all(Template, Goal, Texts) :- findall(Template, Goal, Found), sort(Found, Unique),
    maplist(gdl_text, Unique, Texts).
gdl_state(Facts, Moves) :- abolish_all_tables, retractall('gdl true'(_)), retractall('gdl does'(_, _)),
    forall(member(F, Facts), assertz('gdl true'(F))),
    forall(member(R-M, Moves), assertz('gdl does'(R, M))).
"""
"""Prolog predicates for the engine: gdl_state loads facts and moves, gdl_all returns answers as KIF."""


def prolog_program(program: Program) -> str:
    """Prolog source of a normalized program: declarations, then one clause per rule."""
    dependencies = Dependencies(program)
    predicates = dependencies.predicates
    lines = [":- style_check(-singleton).", ":- style_check(-discontiguous)."]
    declared = sorted({*predicates, TRUE, DOES, *ASKED})
    lines += [f":- dynamic {_name(predicate.name)}/{predicate.arity}." for predicate in declared]
    for component in dependencies.components:
        if dependencies.is_recursive(component) and not _negates_itself(component, program):
            lines += [f":- table {_name(p.name)}/{p.arity}." for p in component]
    lines += [clause(rule) for rule in program.rules]
    return "\n".join(lines) + SUPPORT


ASKED = tuple(
    Predicate(name, arity)
    for name, arity in (("init", 1), ("legal", 2), ("next", 1), ("goal", 2), ("terminal", 0), ("sees", 2))
)


def clause(rule: Rule) -> str:
    """One rule as a clause; filters come after the literals that bind their variables."""
    goals = [_goal(literal) for literal in _ordered(rule.literals)]
    head = _atom(rule.head)
    return f"{head} :- {', '.join(goals)}." if goals else f"{head}."


def term_text(term: Term) -> str:
    """A term in Prolog syntax.

    >>> from gdl.syntax.parser import parse_term
    >>> term_text(parse_term("(cell 01 ?x it's)"))
    "'cell'('01', Vx, 'it\\\\'s')"
    """
    if isinstance(term, Variable):
        return "V" + "".join(c if c.isascii() and c.isalnum() else f"_{ord(c):x}_" for c in term.name)
    if isinstance(term, Symbol):
        return _quoted(term.name)
    return f"{_quoted(term.name)}({', '.join(map(term_text, term.arguments))})"


def _ordered(literals: Iterable[Literal]) -> list[Literal]:
    ordered: list[Literal] = []
    waiting: list[Literal] = []
    bound: frozenset[str] = frozenset()
    for literal in literals:
        if literal.is_positive and literal.predicate != DISTINCT:
            ordered.append(literal)
            bound |= names_in(literal.atom)
        else:
            waiting.append(literal)
        ready = [other for other in waiting if names_in(other.atom) <= bound]
        ordered += ready
        waiting = [other for other in waiting if other not in ready]
    return ordered


def _goal(literal: Literal) -> str:
    if literal.predicate == DISTINCT:
        left, right = map(term_text, arguments_of(literal.atom))
        operator = "\\==" if literal.is_positive else "=="
        return f"{left} {operator} {right}"
    return _atom(literal.atom) if literal.is_positive else f"\\+ {_atom(literal.atom)}"


def _atom(atom: Symbol | Compound) -> str:
    arguments = ", ".join(map(term_text, arguments_of(atom)))
    return f"{_name(atom.name)}({arguments})" if arguments else _name(atom.name)


def _name(name: str) -> str:
    return _quoted(f"gdl {name}")


def _quoted(name: str) -> str:
    return "'" + name.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _negates_itself(component: tuple[Predicate, ...], program: Program) -> bool:
    return any(
        literal.predicate in component and not literal.is_positive
        for predicate in component
        for rule in program.rules_for(*predicate)
        for literal in rule.literals
    )
