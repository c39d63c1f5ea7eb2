"""Grounding: a rule sheet becomes propositional rules over the facts and moves that can occur.

The facts are a superset of those that reachable states hold: those derivable when every fact and every
move found so far may or may not hold (relaxed reachability). `base` and `input` are neither
trusted nor needed. The work is done by gringo (the `clingo` package) in a guarded child process,
after rewriting that keeps the ground program small.
"""

from __future__ import annotations

import threading

from gdl.errors import GroundingError
from gdl.grounding.asp import Names, to_asp
from gdl.grounding.aspif import read_aspif
from gdl.grounding.assembly import assemble
from gdl.grounding.demand import guard
from gdl.grounding.estimation import estimate
from gdl.grounding.explosion import ExplodingRulesError, Explosion, find_explosion
from gdl.grounding.gringo import GroundingCancelledError, GroundingLimitError, Limits, Progress, stream_aspif
from gdl.grounding.ground_program import FALSE_ATOM, TRUE_ATOM, GroundProgram
from gdl.grounding.narrowing import COSTLY, narrow
from gdl.grounding.simplification import prune, simplify
from gdl.grounding.splitting import cost, split
from gdl.grounding.unfolding import unfold
from gdl.normalize import normalize
from gdl.program import Program, Rule, arguments_of

__all__ = [
    "FALSE_ATOM",
    "TRUE_ATOM",
    "ExplodingRulesError",
    "Explosion",
    "GroundProgram",
    "GroundingCancelledError",
    "GroundingLimitError",
    "ground",
    "rewrite",
]


def ground(
    program: Program,
    *,
    seconds: float = 60.0,
    mebibytes: int = 4096,
    cancel: threading.Event | None = None,
    progress: Progress | None = None,
) -> GroundProgram:
    """The ground program of a rule sheet.

    seconds     wall time for gringo
    mebibytes   address space for gringo
    cancel      when set, the work ends within 50 ms
    progress    called with the number of ground rules and the seconds so far

    Raises GroundingLimitError (ExplodingRulesError where the rule at fault is known),
    GroundingCancelledError, other GroundingError for rules that have no finite meaning (a variable
    that nothing binds, no role), and GdlValidationError where bodies cannot be normalized.
    """
    normal = normalize(program)
    rules = rewrite(normal)
    names = Names()
    limits = Limits(seconds, mebibytes, cancel)
    try:
        ground_rules = read_aspif(stream_aspif(to_asp(rules, names), limits, progress))
    except GroundingLimitError as error:
        explosion = find_explosion(rules, normal, limits)
        if explosion is None:
            raise
        raise ExplodingRulesError(error.limit, program.source.name, explosion) from None
    roles = [arguments_of(rule.head)[0] for rule in program.rules_for("role", 1) if not rule.body]
    try:
        return assemble(ground_rules, names, roles)
    except RecursionError:
        raise GroundingError(f"{program.source.name}: the terms nest too deeply") from None


def rewrite(program: Program) -> list[Rule]:
    """The rules that gringo is given for a normalized program."""
    rules = simplify(program.rules, program.source)
    estimates = estimate(rules)
    if any(cost(estimates, rule.literals) > COSTLY for rule in rules):
        rules = guard(rules, estimates)
        estimates = estimate(rules)
        rules = prune(narrow(rules, estimates))
        estimates = estimate(rules)
        rules = prune(unfold(rules, estimates))
        estimates = estimate(rules)
    return split(rules, estimates)
