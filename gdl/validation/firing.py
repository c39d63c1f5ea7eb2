"""Rules that can never apply, and facts and moves that never come about."""

from __future__ import annotations

from dataclasses import dataclass, field

from gdl.dependencies import DOES, TRUE
from gdl.program import Literal, Predicate, Rule, arguments_of
from gdl.terms import Compound, Symbol, Term, Variable, is_ground
from gdl.validation.codes import Findings, warning
from gdl.validation.inference import Inference, failing_atoms
from gdl.validation.shapes import Misfit, Shapes, common_tokens
from gdl.validation.sheet import Sheet, body_literals, is_keyword
from gdl.validation.spelling import Spelling

MADE_BY = {"init": TRUE, "next": TRUE, "legal": DOES}

MAX_PLACES = 4
"""Places of a variable that are looked at to see whether it has but one value."""


def impossible_rules(sheet: Sheet) -> Findings:
    """GDL306 and GDL308.

    A rule that only waits for another impossible rule is not reported: its cause is. An alternative of an
    `or` is reported like a rule.
    """
    yield from _unknown_facts(sheet)
    verdict = _Verdict(sheet)
    for rule, alternatives in sheet.alternatives:
        for plain in alternatives:
            problem = _contradiction(plain, sheet) or verdict.problem(plain)
            if problem:
                text, literal = problem
                what = "this rule" if len(alternatives) == 1 else "one alternative of this rule"
                message = f"{what} can never apply: {text}"
                yield warning("GDL308", message, literal.span or literal.atom.span or rule.span)
    yield from verdict.groundless()


def _unknown_facts(sheet: Sheet) -> Findings:
    """GDL306: bodies that ask for a fact (or move) of a name that no rule brings about; once a name."""
    if sheet.inference is None:
        return
    shapes = sheet.inference.shapes
    spellings = {
        predicate: Spelling(
            token if isinstance(token, str) else token[0]
            for token in shapes.at((predicate, predicate.arity - 1))
        )
        for predicate in (TRUE, DOES)
    }
    misused = {
        MADE_BY[rule.head.name]
        for rule in sheet.program.rules
        if rule.head.name in MADE_BY and not is_keyword(rule.predicate)
    }
    reported: set[tuple[Predicate, str, int]] = set()
    for rule in sheet.program.rules:
        for literal, is_positive in body_literals(rule):
            predicate = literal.predicate
            if predicate not in (TRUE, DOES) or predicate not in shapes.alive or predicate in misused:
                continue
            term = arguments_of(literal.atom)[-1]
            if isinstance(term, Variable) or _token(term) in shapes.at((predicate, predicate.arity - 1)):
                continue
            key = (predicate, term.name, len(arguments_of(term)))
            if key not in reported and not sheet.inference.is_awaited(_anyhow(literal.atom, term)):
                reported.add(key)
                message = _unknown(predicate, term, is_positive) + spellings[predicate].hint(term.name)
                yield warning("GDL306", message, term.span or literal.span)


def _anyhow(atom: Symbol | Compound, term: Symbol | Compound) -> Symbol | Compound:
    """`atom` with variables for whatever stands beside and inside of its last argument."""
    anything = Variable("_")
    inner = term
    if isinstance(term, Compound):
        inner = Compound(term.name, (anything,) * len(term.arguments))
    return Compound(atom.name, (*[anything] * (len(arguments_of(atom)) - 1), inner))


def _unknown(predicate: Predicate, term: Symbol | Compound, is_positive: bool) -> str:
    makers = "'init' or 'next'" if predicate == TRUE else "'legal'"
    kind = "fact" if predicate == TRUE else "move"
    count = len(arguments_of(term))
    shown = f"'{term.name}'" + (f" with {count} argument{'s' * (count != 1)}" if count else "")
    effect = "this is never true" if is_positive else "this negation always holds"
    return f"no rule for {makers} makes a {kind} {shown}: {effect}"


def _token(term: Symbol | Compound) -> str | tuple[str, int]:
    return term.name if isinstance(term, Symbol) else (term.name, len(term.arguments))


def _contradiction(rule: Rule, sheet: Sheet) -> tuple[str, Literal] | None:
    """A literal of a plain body that cannot hold beside the others or whatever the state, and why."""
    positive = {literal.atom for literal in rule.literals if literal.is_positive}
    for literal in rule.literals:
        atom = literal.atom
        if literal.is_positive:
            if atom.name == "distinct" and isinstance(atom, Compound) and len(atom.arguments) == 2:
                left, right = atom.arguments
                if left == right:
                    return f"{left} is never distinct from itself", literal
                if sheet.inference and _is_always_equal(rule, left, right, sheet.inference):
                    return f"{left} and {right} are always the same", literal
        elif atom in positive:
            return f"it wants {atom} both to hold and not to hold", literal
        elif atom in sheet.facts and is_ground(atom):
            return f"{atom} always holds", literal
        elif (
            atom.name == "distinct"
            and isinstance(atom, Compound)
            and len(atom.arguments) == 2
            and atom.arguments[0] != atom.arguments[1]
            and all(map(is_ground, atom.arguments))
        ):
            return f"{atom.arguments[0]} and {atom.arguments[1]} always differ", literal
    return None


def _is_always_equal(rule: Rule, left: Term, right: Term, inference: Inference) -> bool:
    values = []
    for term in (left, right):
        if isinstance(term, Variable):
            places = inference.sources[id(rule)].get(term.name, ())
            tokens = common_tokens(places[:MAX_PLACES], inference.shapes)
            values.append(next(iter(tokens)) if len(tokens) == 1 else None)
        else:
            values.append(_token(term))
    return values[0] is not None and values[0] == values[1] and isinstance(values[0], str)


@dataclass
class _Verdict:
    """Judges plain rules by the shapes of arguments; all may apply where these are not known.

    dead      predicates of which nothing can hold → their rules
    blamed    those of them for which a cause was reported
    """

    sheet: Sheet
    dead: dict[Predicate, list[tuple[Rule, Misfit]]] = field(default_factory=dict)
    blamed: set[Predicate] = field(default_factory=set)

    def problem(self, rule: Rule) -> tuple[str, Literal] | None:
        """Why `rule` cannot apply, and where; None where it may, or where the cause lies elsewhere."""
        inference = self.sheet.inference
        found = inference.misfits.get(id(rule)) if inference else None
        if found is None or inference is None:
            return None
        shapes = inference.shapes
        if rule.predicate not in shapes.alive:
            self.dead.setdefault(rule.predicate, []).append((rule, found))
        if found.is_absent:
            return None
        if _names_unknown_fact(found.literal, shapes):
            self.blamed.add(rule.predicate)
            return None
        if any(map(inference.is_awaited, failing_atoms(rule, found))):
            return None
        if found.variable is None and inference.names_what_is_awaited(rule, found.literal.atom):
            return None
        self.blamed.add(rule.predicate)
        if found.variable is not None:
            return f"its literals leave no value for ?{found.variable}", found.literal
        return f"nothing ever matches {found.literal.atom}", found.literal

    def groundless(self) -> Findings:
        """Relations whose rules only wait for each other, reported at their first rule."""
        program = self.sheet.program
        for component in self.sheet.dependencies.components:
            if not all(predicate in self.dead for predicate in component):
                continue
            waits = [found.literal.predicate for p in component for _, found in self.dead[p]]
            if self.blamed.isdisjoint(component) and all(predicate in component for predicate in waits):
                rule = program.by_predicate[component[0]][0]
                message = (
                    f"this rule can never apply: every rule for '{component[0].name}' needs"
                    f" '{waits[0].name}' to hold already"
                )
                yield warning("GDL308", message, rule.head.span)


def _names_unknown_fact(literal: Literal, shapes: Shapes) -> bool:
    """Whether `literal` fails for a reason that GDL306 gives."""
    if literal.predicate not in (TRUE, DOES):
        return False
    term = arguments_of(literal.atom)[-1]
    position = (literal.predicate, literal.predicate.arity - 1)
    return not isinstance(term, Variable) and _token(term) not in shapes.at(position)
