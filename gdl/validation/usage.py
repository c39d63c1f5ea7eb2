"""Relations that have no rules, and relations that nothing needs."""

from __future__ import annotations

from gdl.errors import Diagnostic, Related
from gdl.keywords import KEYWORDS
from gdl.program import Predicate, Rule
from gdl.validation.codes import Findings, warning
from gdl.validation.sheet import Sheet, body_literals, counted, is_keyword
from gdl.validation.spelling import Spelling


def undefined_relations(sheet: Sheet) -> Findings:
    """GDL301 where there are rules with another number of arguments, else GDL305; once a relation.

    What is missing as a whole among the keywords is GDL201 or GDL214.
    """
    defined: dict[str, Rule] = {}
    for rule in sheet.program.rules:
        defined.setdefault(rule.head.name, rule)
    spelling = Spelling(defined)
    seen: set[Predicate] = set()
    for rule in sheet.program.rules:
        for literal, is_positive in body_literals(rule):
            predicate = literal.predicate
            if predicate in seen or predicate in sheet.program.by_predicate or is_keyword(predicate):
                continue
            seen.add(predicate)
            if predicate.name in KEYWORDS and KEYWORDS[predicate.name].is_strict:
                continue
            effect = "this is never true" if is_positive else "this negation always holds"
            other = defined.get(predicate.name)
            if other is None:
                hint = spelling.hint(predicate.name) or ". Define it, or mend the name"
                message = f"'{predicate.name}' has no rules: {effect}{hint}"
                yield warning("GDL305", message, literal.atom.span)
            else:
                message = (
                    f"'{predicate.name}' has no rules with {counted(predicate.arity, 'argument')}: {effect}"
                )
                note = Related(f"here it has {other.predicate.arity}", other.head.span)
                yield warning("GDL301", message, literal.atom.span, note)


def unneeded_relations(sheet: Sheet) -> Findings:
    """GDL307: relations that no keyword's rules lead to, except those that only such ones need."""
    dependencies = sheet.dependencies
    keywords = [keyword.predicate for keyword in KEYWORDS.values()]
    misused = [predicate for predicate in sheet.program.by_predicate if predicate.name in KEYWORDS]
    needed = dependencies.reachable([*keywords, *misused])
    unneeded = [p for p in sheet.program.by_predicate if p not in needed and p.name not in KEYWORDS]
    used_by_others = {
        callee for predicate in unneeded for callee in dependencies.callees(predicate) if callee != predicate
    }
    explained = set(needed)
    # those that nobody uses come first; what is left then are circles of relations that need each other
    for predicate in sorted(unneeded, key=lambda p: p in used_by_others):
        if predicate not in explained:
            yield _unneeded(sheet, predicate)
            _explain(sheet, predicate, explained)


def _explain(sheet: Sheet, predicate: Predicate, explained: set[Predicate]) -> None:
    """Add what `predicate` needs to `explained`, each predicate visited once over all calls."""
    stack = [predicate]
    while stack:
        current = stack.pop()
        if current not in explained:
            explained.add(current)
            stack.extend(sheet.dependencies.callees(current))


def _unneeded(sheet: Sheet, predicate: Predicate) -> Diagnostic:
    rules = sheet.program.by_predicate[predicate]
    message = f"'{predicate.name}' is used by nothing that the game needs: remove it, or use it"
    return warning("GDL307", message, rules[0].head.span)
