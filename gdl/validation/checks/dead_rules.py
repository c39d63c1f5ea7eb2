"""Checks for dead rules, and undefined or unneeded relations."""

from __future__ import annotations

from dataclasses import dataclass, field

from gdl.dependencies import DISTINCT, DOES, TRUE, reachable
from gdl.errors import Related
from gdl.keywords import KEYWORDS
from gdl.program import Literal, Predicate, Rule, arguments_of
from gdl.terms import Compound, Symbol, Term, Variable, is_ground
from gdl.validation.checks.names import Spelling
from gdl.validation.codes import Findings, warning
from gdl.validation.inference import FED_BY, Inference, Misfit, Shapes, common_tokens, failing_atoms, token_of
from gdl.validation.sheet import Sheet, counted, is_keyword

MAX_PLACES = 4
"""Maximum number of positions of a variable examined to see if it has only one value."""


def impossible_rules(sheet: Sheet) -> Findings:
    """GDL306 and GDL308.

    A rule that fails only because another rule is impossible is not reported; that other rule is. An
    alternative of an `or` is reported like a rule.
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
    """GDL306: facts and moves that no rule produces, once per name."""
    if sheet.inference is None:
        return
    shapes = sheet.inference.shapes
    spellings = {}
    for predicate in (TRUE, DOES):
        tokens = shapes.at((predicate, predicate.arity - 1))
        spellings[predicate] = Spelling(token if isinstance(token, str) else token[0] for token in tokens)
    fed = {maker.name: predicate for maker, predicate in FED_BY.items()}
    heads = [rule.predicate for rule in sheet.program.rules if rule.head.name in fed]
    misused = {fed[head.name] for head in heads if not is_keyword(head)}
    reported: set[tuple[Predicate, str, int]] = set()
    for _, literal, is_positive in sheet.literals():
        predicate = literal.predicate
        if predicate not in shapes.alive or predicate in misused or not _names_unknown_fact(literal, shapes):
            continue
        term = arguments_of(literal.atom)[-1]
        assert not isinstance(term, Variable)
        key = (predicate, term.name, len(arguments_of(term)))
        if key not in reported and not sheet.inference.is_awaited(_anyhow(literal.atom, term)):
            reported.add(key)
            message = _unknown(predicate, term, is_positive) + spellings[predicate].hint(term.name)
            yield warning("GDL306", message, term.span or literal.span)


def _anyhow(atom: Symbol | Compound, term: Symbol | Compound) -> Symbol | Compound:
    """`atom` generalized to the functor of its last argument. Variables replace everything else."""
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
    return f"no rule for {makers} produces a {kind} {shown}: {_effect(is_positive)}"


def _effect(is_positive: bool) -> str:
    return "this is never true" if is_positive else "this negation always holds"


def _contradiction(rule: Rule, sheet: Sheet) -> tuple[str, Literal] | None:
    """A literal that contradicts itself, the facts or the rest of its plain body, and why."""
    positive = {literal.atom for literal in rule.literals if literal.is_positive}
    for literal in rule.literals:
        atom = literal.atom
        left, right = arguments_of(atom) if literal.predicate == DISTINCT else (None, None)
        if literal.is_positive:
            if left is not None and right is not None:
                if left == right:
                    return f"{left} is never distinct from itself", literal
                if sheet.inference and _is_always_equal(rule, left, right, sheet.inference):
                    return f"{left} and {right} are always equal", literal
        elif atom in positive:
            return f"it requires {atom} both to hold and not to hold", literal
        elif atom in sheet.facts and is_ground(atom):
            return f"{atom} always holds", literal
        elif left != right and is_ground(atom):
            return f"{left} and {right} always differ", literal
    return None


def _is_always_equal(rule: Rule, left: Term, right: Term, inference: Inference) -> bool:
    values = []
    for term in (left, right):
        if isinstance(term, Variable):
            places = inference.sources[id(rule)].get(term.name, ())
            tokens = common_tokens(places[:MAX_PLACES], inference.shapes)
            values.append(next(iter(tokens)) if len(tokens) == 1 else None)
        else:
            values.append(token_of(term))
    return values[0] is not None and values[0] == values[1] and isinstance(values[0], str)


@dataclass
class _Verdict:
    """Which plain rules can apply, judged by argument shapes. If these are unknown, all can.

    dead      predicate of which no atom can hold → its rules
    blamed    the dead predicates for which a cause was reported
    """

    sheet: Sheet
    dead: dict[Predicate, list[tuple[Rule, Misfit]]] = field(default_factory=dict)
    blamed: set[Predicate] = field(default_factory=set)

    def problem(self, rule: Rule) -> tuple[str, Literal] | None:
        """Why `rule` cannot apply, and at which literal; None if it can, or if the cause lies elsewhere."""
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
            return f"no value of ?{found.variable} fits all its literals", found.literal
        return f"nothing ever matches {found.literal.atom}", found.literal

    def groundless(self) -> Findings:
        """GDL308: relations whose rules only need each other. Reported at the first rule."""
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
    """Whether GDL306 already explains why `literal` fails."""
    if literal.predicate not in (TRUE, DOES):
        return False
    term = arguments_of(literal.atom)[-1]
    position = (literal.predicate, literal.predicate.arity - 1)
    return not isinstance(term, Variable) and token_of(term) not in shapes.at(position)


def undefined_relations(sheet: Sheet) -> Findings:
    """GDL301 if there are rules with another arity, else GDL305; keywords are GDL201 or GDL214."""
    defined: dict[str, Rule] = {}
    for rule in sheet.program.rules:
        defined.setdefault(rule.head.name, rule)
    spelling = Spelling(defined)
    seen = set(sheet.program.by_predicate)
    for _, literal, is_positive in sheet.literals():
        predicate = literal.predicate
        if predicate in seen or is_keyword(predicate):
            continue
        seen.add(predicate)
        if predicate.name in KEYWORDS and KEYWORDS[predicate.name].is_strict:
            continue
        effect = _effect(is_positive)
        other = defined.get(predicate.name)
        if other is None:
            hint = spelling.hint(predicate.name) or ". Define it, or correct the name"
            message = f"'{predicate.name}' has no rules: {effect}{hint}"
            yield warning("GDL305", message, literal.atom.span)
        else:
            message = f"'{predicate.name}' has no rules with {counted(predicate.arity, 'argument')}: {effect}"
            note = Related(f"here it has {other.predicate.arity}", other.head.span)
            yield warning("GDL301", message, literal.atom.span, note)


def unneeded_relations(sheet: Sheet) -> Findings:
    """GDL307: relations that no keyword needs. Those used only by such relations are not reported."""
    dependencies = sheet.dependencies
    keywords = [keyword.predicate for keyword in KEYWORDS.values()]
    misused = [predicate for predicate in sheet.program.by_predicate if predicate.name in KEYWORDS]
    needed = dependencies.reachable([*keywords, *misused])
    unneeded = [p for p in sheet.program.by_predicate if p not in needed and p.name not in KEYWORDS]
    used_by_others = {
        callee for predicate in unneeded for callee in dependencies.callees(predicate) if callee != predicate
    }
    explained = set(needed)
    # unused ones come first; what remains then are cycles of relations that need each other
    for predicate in sorted(unneeded, key=lambda p: p in used_by_others):
        if predicate not in explained:
            message = f"nothing that the game needs uses '{predicate.name}': remove it, or use it"
            yield warning("GDL307", message, sheet.program.by_predicate[predicate][0].head.span)
            # each predicate is visited once over all rounds
            explained.update(reachable([predicate], lambda one: set(dependencies.callees(one)) - explained))


CHECKS = (undefined_relations, unneeded_relations, impossible_rules)
