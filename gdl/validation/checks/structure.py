"""Checks of structure: what every game needs, and where keywords may occur."""

from __future__ import annotations

from collections.abc import Iterator

from gdl.keywords import FORMS, KEYWORDS, Keyword
from gdl.program import atoms_of, body_literals, predicate_of
from gdl.syntax.forms import CONNECTIVES
from gdl.terms import Compound, Symbol
from gdl.validation.checks.foreign import foreign_atoms
from gdl.validation.codes import Findings, error, warning
from gdl.validation.sheet import Sheet, counted, terms_below

NEEDED = ("init", "legal", "next", "goal", "terminal")
"""Relations that a game needs in addition to `role`."""

WITHOUT = {
    "init": "without them the match starts in a state in which nothing holds",
    "legal": "without them no role can move",
    "next": "without them nothing holds after the first moves",
    "goal": "without them no state has a value",
    "terminal": "without them no match ends",
}

DECLARATIONS = ("base", "input")
"""Relations that only describe the game; no rule may depend on them."""


def missing_roles(sheet: Sheet) -> Findings:
    """GDL201."""
    if not sheet.program.rules_for("role", 1):
        yield error("GDL201", "no roles: declare each player, for instance (role robot)", None)


def missing_relations(sheet: Sheet) -> Findings:
    """GDL214, for `init` GDL327."""
    for name in NEEDED:
        keyword = KEYWORDS[name]
        if keyword.name not in sheet.names_defined:
            message = f"no rules for '{name}', which {keyword.meaning}: {WITHOUT[name]}"
            report, code = (warning, "GDL327") if name == "init" else (error, "GDL214")
            yield report(code, message, None)


def wrong_arities(sheet: Sheet) -> Findings:
    """GDL202."""
    for atom, keyword in _keyword_atoms(sheet):
        arity = predicate_of(atom).arity
        if keyword.is_strict and arity != keyword.arity:
            hint = "is the '(' before it missing? For" if isinstance(atom, Symbol) else "for"
            message = (
                f"'{keyword.name}' takes {counted(keyword.arity, 'argument')}, not {arity or 'none'}:"
                f" {hint} instance {FORMS[keyword.name]}"
            )
            yield error("GDL202", message, atom.span)


def misplaced_keywords(sheet: Sheet) -> Findings:
    """GDL203 and GDL204."""
    for rule in sheet.program.rules:
        keyword = KEYWORDS.get(rule.head.name)
        if keyword is not None and not keyword.may_be_head and rule.predicate == keyword.predicate:
            given = "is built in" if keyword.name == "distinct" else "comes from the match"
            message = f"'{keyword.name}' {given} and cannot be defined by rules or facts"
            yield error("GDL203", message, rule.head.span)
        for literal, _ in body_literals(rule):
            keyword = KEYWORDS.get(literal.atom.name)
            if keyword is not None and not keyword.may_be_body and literal.predicate == keyword.predicate:
                if keyword.name == "next" and rule.predicate in sheet.only_seen:
                    continue
                hint = ": use 'true'" if keyword.name in ("init", "next") else ""
                message = f"'{keyword.name}' {keyword.meaning} and cannot be used in a body{hint}"
                yield error("GDL204", message, literal.atom.span)


def percepts_of_next_state(sheet: Sheet) -> Findings:
    """GDL217."""
    for rule, literal, _ in sheet.literals():
        if literal.predicate == KEYWORDS["next"].predicate and rule.predicate in sheet.only_seen:
            message = "'next' in a rule for percepts: other programs may refuse it; use 'does' and 'true'"
            yield error("GDL217", message, literal.atom.span)


def misplaced_declarations(sheet: Sheet) -> Findings:
    """GDL204 for base and input, GDL213, GDL321: these leave the game playable."""
    for rule in sheet.program.rules:
        if rule.body and rule.head.name == "role":
            message = "roles must be facts: write (role name) for each instead of a rule"
            yield error("GDL213", message, rule.span)
        for literal, _ in body_literals(rule):
            keyword = KEYWORDS.get(literal.atom.name)
            if keyword and keyword.name in DECLARATIONS and literal.predicate == keyword.predicate:
                message = f"'{keyword.name}' {keyword.meaning} and cannot be used in a body"
                yield error("GDL204", message, literal.atom.span)
    reported: set[str] = set()
    for atom, keyword in _keyword_atoms(sheet):
        if not keyword.is_strict and predicate_of(atom) != keyword.predicate and keyword.name not in reported:
            reported.add(keyword.name)
            message = (
                f"the keyword '{keyword.name}' takes {counted(keyword.arity, 'argument')}:"
                " used like this it has no special meaning; choose another name"
            )
            yield warning("GDL321", message, atom.span)


def keywords_as_terms(sheet: Sheet) -> Findings:
    """GDL215, in percepts GDL329, and GDL319 once per keyword."""
    reported: set[str] = set()
    foreign = {id(term) for atom in foreign_atoms(sheet) for term in terms_below(atom)}
    for rule in sheet.program.rules:
        is_percept = rule.predicate == KEYWORDS["sees"].predicate
        in_head = {id(term) for term in terms_below(rule.head)} if is_percept else set()
        for term in (term for atom in atoms_of(rule) for term in terms_below(atom)):
            if id(term) in foreign:
                continue
            if isinstance(term, Compound) and term.name in KEYWORDS and id(term) in in_head:
                message = f"keyword '{term.name}' as a function in a percept: another name would be clearer"
                yield warning("GDL329", message, term.span)
            elif isinstance(term, Compound) and term.name in KEYWORDS.keys() | CONNECTIVES:
                kind = "connective" if term.name in CONNECTIVES else "keyword"
                message = f"'{term.name}' is a {kind} and cannot be a function: choose another name"
                yield error("GDL215", message, term.span)
            elif isinstance(term, Symbol) and (term.name in CONNECTIVES or term.name == "distinct"):
                message = f"'{term.name}' cannot be a constant: choose another name, or check the parentheses"
                yield error("GDL215", message, term.span)
            elif isinstance(term, Symbol) and term.name in KEYWORDS and term.name not in reported:
                reported.add(term.name)
                message = f"keyword '{term.name}' used as a constant: another name would be clearer"
                yield warning("GDL319", message, term.span)


def _keyword_atoms(sheet: Sheet) -> Iterator[tuple[Symbol | Compound, Keyword]]:
    return ((atom, KEYWORDS[atom.name]) for atom in sheet.atoms() if atom.name in KEYWORDS)


CHECKS = (
    missing_roles,
    wrong_arities,
    misplaced_keywords,
    missing_relations,
    misplaced_declarations,
    percepts_of_next_state,
    keywords_as_terms,
)
