"""Mutate bundled games and keep the good ones: `python -m benchmarks.mutated_games [--count 100]`.

One mutation at a time: a rule is dropped, a condition dropped or negated, or a constant replaced by another
one of the sheet. What `ggp validate` finds valid is evaluated and filtered. Prints tables in Markdown.
"""

from __future__ import annotations

import argparse
import random
import time
from collections import Counter
from dataclasses import replace

import ggp
from gdl.errors import GdlError, Severity
from gdl.program import Formula, Literal, Negation, Program, Rule
from gdl.syntax.parser import parse_file
from gdl.syntax.printer import to_kif
from gdl.terms import Compound, Symbol, Term
from ggp.engines.loading import find_own_rules
from ggp.evaluation.evaluate import Evaluation, EvaluationTerms, evaluate
from ggp.game import GameError

GAMES = ("tictactoe", "connectfour_4x4", "nim", "breakthrough_4x4", "hex_3x3", "othello_4x4")
TERMS = EvaluationTerms(simulations=32, matches=64, playouts=128, step_limit=100, seconds=10.0)
FILTERS = (
    ("completion", ">=", 0.99, "matches do not end"),
    ("agency", ">=", 0.3, "few choices"),
    ("duration", ">=", 4.0, "over at once"),
    ("balance", ">=", 0.7, "one role wins"),
    ("draws", "<=", 0.8, "nearly always drawn"),
    ("depth", ">=", 0.52, "thinking does not pay"),
)


def mutant(program: Program, rng: random.Random) -> tuple[str, str]:
    """The text of a mutated sheet, other than that of `program`, and what was done to it."""
    while True:
        text, kind = mutated_once(program, rng)
        if text != to_kif(program):
            return text, kind


def mutated_once(program: Program, rng: random.Random) -> tuple[str, str]:
    """One change, which may change nothing."""
    rules = list(program.rules)
    place = rng.randrange(len(rules))
    rule = rules[place]
    kinds = ["drop a rule", "replace a constant"] + ["drop a condition", "negate a condition"] * bool(
        rule.body
    )
    kind = rng.choice(kinds)
    if kind == "drop a rule":
        del rules[place]
    elif kind == "replace a constant":
        rules[place] = with_other_constant(rule, rules, rng)
    else:
        body = list(rule.body)
        number = rng.randrange(len(body))
        if kind == "drop a condition":
            del body[number]
        else:
            body[number] = negated(body[number])
        rules[place] = replace(rule, body=tuple(body))
    return to_kif(replace(program, rules=tuple(rules))), kind


def negated(formula: Formula) -> Formula:
    if isinstance(formula, Literal):
        return replace(formula, is_positive=not formula.is_positive)
    return formula.operand if isinstance(formula, Negation) else Negation(formula)


def with_other_constant(rule: Rule, rules: list[Rule], rng: random.Random) -> Rule:
    """The rule with one argument of its head replaced by another constant of the sheet."""
    constants = sorted({str(c) for other in rules for c in constants_of(other.head)})
    head = rule.head
    if not isinstance(head, Compound) or not constants_of(head):
        return rule
    old = rng.choice(constants_of(head))
    new = Symbol(rng.choice([c for c in constants if c != str(old)] or [str(old)]))
    arguments = tuple(swapped(each, old, new) for each in head.arguments)
    return replace(rule, head=Compound(head.name, arguments))


def constants_of(term: Term) -> list[Symbol]:
    if isinstance(term, Symbol):
        return [term]
    return [c for each in term.arguments for c in constants_of(each)] if isinstance(term, Compound) else []


def swapped(term: Term, old: Symbol, new: Symbol) -> Term:
    if isinstance(term, Compound):
        return Compound(term.name, tuple(swapped(each, old, new) for each in term.arguments))
    return new if term == old else term


def verdict(text: str) -> tuple[str, Evaluation | None]:
    """Why a sheet is thrown out, or "kept"."""
    report = ggp.validate(text)
    if report.unreadable or any(each.severity is Severity.ERROR for each in report.diagnostics):
        return "not valid", None
    try:
        found = evaluate(ggp.load(text, engine="lanes"), TERMS)
    except (GdlError, GameError):
        return "cannot be compiled", None
    figures = {figure.name: figure.value for figure in found.figures}
    for name, sign, bound, reason in FILTERS:
        value = figures.get(name)
        if value is None or (value < bound if sign == ">=" else value > bound):
            return reason, found
    return "kept", found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    rng = random.Random(given.seed)
    begin = time.perf_counter()
    verdicts: Counter[str] = Counter()
    kept = []
    for number in range(given.count):
        name = GAMES[number % len(GAMES)]
        text, kind = mutant(parse_file(find_own_rules(name)), rng)
        reason, found = verdict(text)
        verdicts[reason] += 1
        if reason == "kept" and found is not None:
            cells = [f"{found[each[0]].value:.2f}" for each in FILTERS]
            kept.append(f"| {name} | {kind} | {' | '.join(cells)} |")
    seconds = time.perf_counter() - begin
    print(f"{given.count} mutants in {seconds:.0f} s\n\n| verdict | mutants |\n|---|---:|")
    for reason, count in verdicts.most_common():
        print(f"| {reason} | {count} |")
    print(f"\n| game | mutation | {' | '.join(each[0] for each in FILTERS)} |")
    print("|---|---|" + "---:|" * len(FILTERS))
    print("\n".join(kept))


if __name__ == "__main__":
    main()
