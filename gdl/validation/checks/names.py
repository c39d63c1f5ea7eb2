"""Checks of names (arity, spelling, use), and hints for misspelled ones."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain

from gdl.errors import Related
from gdl.keywords import KEYWORDS
from gdl.program import Rule, variables_of
from gdl.syntax.brackets import Lines
from gdl.syntax.parser import constants_as_written
from gdl.syntax.term_builders import fold
from gdl.terms import Compound, Span
from gdl.validation.checks.foreign import foreign_atoms
from gdl.validation.codes import Findings, warning
from gdl.validation.sheet import Sheet, counted, terms_below

USUAL_NAME = re.compile(r"[a-z0-9_+\-*/<>=.]+")
"""Names that every GGP program is known to read."""

SHORTEST, LONGEST = 3, 40
"""Lengths of names compared: shorter ones resemble each other by chance, longer ones cost too much."""


def other_arities(sheet: Sheet) -> Findings:
    """GDL302: relations with rules for several arities, and functions with several. Once per name."""
    functions = ((t.name, len(t.arguments), t.span) for t in sheet.terms() if isinstance(t, Compound))
    heads = (
        (predicate.name, predicate.arity, rules[0].head.span)
        for predicate, rules in sheet.program.by_predicate.items()
        if predicate.name not in KEYWORDS
    )
    for kind, uses in (("relation", heads), ("function", functions)):
        first: dict[str, tuple[int, Span | None]] = {}
        reported: set[str] = set()
        for name, arity, span in uses:
            earlier, place = first.setdefault(name, (arity, span))
            if earlier != arity and name not in reported:
                reported.add(name)
                message = (
                    f"{kind} '{name}' with {counted(arity, 'argument')}, elsewhere with {earlier}:"
                    f" these are two different {kind}s"
                )
                yield warning("GDL302", message, span, Related(f"here it has {earlier}", place))


def relations_as_functions(sheet: Sheet) -> Findings:
    """GDL320, once per name."""
    relations: dict[str, Span | None] = {}
    for atom in sheet.atoms():
        relations.setdefault(atom.name, atom.span)
    for term in sheet.terms():
        if isinstance(term, Compound) and term.name not in KEYWORDS and term.name in relations:
            message = f"'{term.name}' is a function here and a relation elsewhere: did you forget 'true'?"
            yield warning("GDL320", message, term.span, Related("the relation", relations.pop(term.name)))


def bare_parentheses(sheet: Sheet) -> Findings:
    """GDL313, once per name."""
    reported: set[tuple[str, bool]] = set()
    forms = chain(((False, atom) for atom in sheet.atoms()), ((True, term) for term in sheet.terms()))
    for is_term, form in forms:
        if not isinstance(form, Compound) or form.arguments or (form.name, is_term) in reported:
            continue
        reported.add((form.name, is_term))
        constant = f"as a term, this differs from the constant {form.name}"
        effect = constant if is_term else "this is equivalent to the bare atom"
        message = f"parentheses around '{form.name}' alone: {effect}"
        yield warning("GDL313", message, form.span)


def unusual_characters(sheet: Sheet) -> Findings:
    """GDL314, once per name."""
    reported = {atom.name for atom in foreign_atoms(sheet)}
    for atom in sheet.atoms():
        for form in (atom, *terms_below(atom)):
            if form.name not in reported and not USUAL_NAME.fullmatch(form.name):
                reported.add(form.name)
                odd = next(letter for letter in form.name if not USUAL_NAME.fullmatch(letter))
                message = f"character '{odd}' in name '{form.name}': other programs may not accept it"
                yield warning("GDL314", message, form.span)


def capitalizations(sheet: Sheet) -> Findings:
    """GDL315: names, and variables of a rule, that differ in capitalization."""
    text = sheet.program.source.text
    if text == text.lower():
        return
    lines = Lines(text)
    first: dict[str, tuple[str, int]] = {}
    reported: set[str] = set()
    for start, word in constants_as_written(text, sheet.is_infix):
        folded = fold(word)
        spelling, place = first.setdefault(folded, (word, start))
        if spelling != word and folded not in reported:
            reported.add(folded)
            message = f"'{word}' is the same name as '{spelling}': letter case does not matter in GDL"
            note = Related(f"here it is '{spelling}'", lines.span(place, place + len(spelling)))
            yield warning("GDL315", message, lines.span(start, start + len(word)), note)
    written = text.split("\n")
    for rule in sheet.program.rules:
        yield from _variables_of_one_name(rule, written)


def _variables_of_one_name(rule: Rule, lines: list[str]) -> Findings:
    first: dict[str, tuple[str, Span]] = {}
    reported: set[str] = set()
    for variable in variables_of(rule):
        span = variable.span
        if span is None or span.line > len(lines):
            continue
        word = lines[span.line - 1][span.column - 1 : span.end_column - 1]
        spelling, place = first.setdefault(variable.name, (word, span))
        if spelling != word and variable.name not in reported:
            reported.add(variable.name)
            message = f"{word} is the same variable as {spelling}: letter case does not matter in GDL"
            yield warning("GDL315", message, span, Related(f"here it is {spelling}", place))


class Spelling:
    """Index of names by what dropping one letter leaves.

    Two names that differ by an inserted, deleted or replaced letter, or by two transposed ones, have such a
    rest in common. A lookup takes as many steps as the name has letters.

    >>> Spelling(["control", "cell"]).hint("kontrol")
    ": did you mean 'control'?"
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._names: dict[str, list[str]] = {}
        for name in dict.fromkeys(names):
            for rest in _rests(name):
                self._names.setdefault(rest, []).append(name)

    def hint(self, name: str) -> str:
        """`: did you mean 'control'?` for a similar name, otherwise empty."""
        for rest in _rests(name):
            for known in self._names.get(rest, ()):
                if known != name:
                    return f": did you mean '{known}'?"
        return ""


def _rests(name: str) -> Iterator[str]:
    if SHORTEST <= len(name) <= LONGEST:
        yield name
        for place in range(len(name)):
            yield name[:place] + name[place + 1 :]


CHECKS = (other_arities, bare_parentheses, unusual_characters, capitalizations, relations_as_functions)
