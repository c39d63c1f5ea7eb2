"""Keywords: with how many arguments, and where they may stand."""

from __future__ import annotations

from collections.abc import Iterator

from gdl.forms import CONNECTIVES
from gdl.keywords import FORMS, KEYWORDS, Keyword
from gdl.program import Rule, predicate_of
from gdl.terms import Compound, Symbol, Variable
from gdl.validation.codes import Findings, error, warning
from gdl.validation.sheet import Sheet, atoms_of, body_literals, counted, terms_below

DECLARATIONS = ("base", "input")
"""Relations that only describe the game; nothing is to depend on them."""


def wrong_arities(sheet: Sheet) -> Findings:
    """GDL202."""
    for atom, keyword in _keyword_atoms(sheet):
        arity = predicate_of(atom).arity
        if keyword.is_strict and arity != keyword.arity:
            message = (
                f"'{keyword.name}' takes {counted(keyword.arity, 'argument')}, not {arity or 'none'}:"
                f" for instance {FORMS[keyword.name]}"
            )
            yield error("GDL202", message, atom.span)


def misplaced_keywords(sheet: Sheet) -> Findings:
    """GDL203 and GDL204."""
    for rule in sheet.program.rules:
        keyword = KEYWORDS.get(rule.head.name)
        if keyword is not None and not keyword.may_be_head and rule.predicate == keyword.predicate:
            given = "is built in" if keyword.name == "distinct" else "is given by the match"
            message = f"'{keyword.name}' {given} and cannot be defined by rules or facts"
            yield error("GDL203", message, rule.head.span)
        for literal, _ in body_literals(rule):
            keyword = KEYWORDS.get(literal.atom.name)
            if keyword is not None and not keyword.may_be_body and literal.predicate == keyword.predicate:
                hint = ": ask for 'true'" if keyword.name in ("init", "next") else ""
                message = f"'{keyword.name}' says {keyword.meaning} and cannot be used in a body{hint}"
                yield error("GDL204", message, literal.atom.span)


def misplaced_declarations(sheet: Sheet) -> Findings:
    """GDL204 for base and input, GDL213, GDL321: a game with these can still be played."""
    for rule in sheet.program.rules:
        if rule.body and rule.head.name == "role":
            message = "roles are facts: write (role name) for each, not a rule"
            yield error("GDL213", message, rule.span)
        for literal, _ in body_literals(rule):
            keyword = KEYWORDS.get(literal.atom.name)
            if keyword and keyword.name in DECLARATIONS and literal.predicate == keyword.predicate:
                message = f"'{keyword.name}' says {keyword.meaning} and cannot be used in a body"
                yield error("GDL204", message, literal.atom.span)
    reported: set[str] = set()
    for atom, keyword in _keyword_atoms(sheet):
        if not keyword.is_strict and predicate_of(atom) != keyword.predicate and keyword.name not in reported:
            reported.add(keyword.name)
            message = (
                f"'{keyword.name}' takes {counted(keyword.arity, 'argument')} where it is a keyword:"
                " as used here it means nothing to players, better take another name"
            )
            yield warning("GDL321", message, atom.span)


def keywords_as_terms(sheet: Sheet) -> Findings:
    """GDL215 and GDL319, the latter once for each keyword."""
    reported: set[str] = set()
    for rule in sheet.program.rules:
        for term in _terms(rule):
            if isinstance(term, Compound) and term.name in KEYWORDS:
                message = f"'{term.name}' is a keyword and cannot be a function: take another name"
                yield error("GDL215", message, term.span)
            elif isinstance(term, Symbol) and (term.name in CONNECTIVES or term.name == "distinct"):
                message = f"'{term.name}' cannot be a constant: take another name, or check the parentheses"
                yield error("GDL215", message, term.span)
            elif isinstance(term, Symbol) and term.name in KEYWORDS and term.name not in reported:
                reported.add(term.name)
                message = f"keyword '{term.name}' as a constant: another name would be clearer"
                yield warning("GDL319", message, term.span)


def _terms(rule: Rule) -> Iterator[Symbol | Compound]:
    for atom in atoms_of(rule):
        for term in terms_below(atom):
            if not isinstance(term, Variable):
                yield term


def _keyword_atoms(sheet: Sheet) -> Iterator[tuple[Symbol | Compound, Keyword]]:
    for rule in sheet.program.rules:
        for atom in atoms_of(rule):
            keyword = KEYWORDS.get(atom.name)
            if keyword is not None:
                yield atom, keyword
