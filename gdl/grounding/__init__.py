"""Grounding: propositional rules over the facts and moves that can occur.

The facts are a superset of those in reachable states: all that are derivable if every fact and every
move found so far may or may not hold (relaxed reachability). `base` and `input` are neither
trusted nor needed. gringo (the `clingo` package) does the grounding in a guarded child process,
after rewriting that keeps the ground program small.

    simplification   what can be decided from the rules alone
    estimation       expected domains and numbers of instances
    horizon          lists of what fluents can hold before a match must end
    accumulation     recursion that only passes its result on, derived from its calls
    demand           costly predicates only for arguments that callers can ask for
    unfolding        calls replaced by definitions, if that makes splitting cheaper
    splitting        long bodies split by auxiliary predicates
    asp              rules as text for gringo
    gringo           gringo in a child process, with limits on time and memory
    aspif            gringo's output as arrays; constants propagated
    assembly         arrays and names to a ground program
    ground_program   the result: numbered atoms and rules
"""

from __future__ import annotations

from gdl.errors import GroundingError
from gdl.grounding.accumulation import derive_from_calls
from gdl.grounding.asp import Names, to_asp
from gdl.grounding.aspif import read_aspif
from gdl.grounding.assembly import assemble
from gdl.grounding.demand import guard
from gdl.grounding.estimation import estimate
from gdl.grounding.gringo import (
    ExplodingRulesError,
    GroundingLimitError,
    GroundingLimits,
    Progress,
    stream,
)
from gdl.grounding.ground_program import FALSE_ATOM, TRUE_ATOM, GroundProgram
from gdl.grounding.horizon import bound_by_horizon
from gdl.grounding.simplification import prune, simplify
from gdl.grounding.splitting import cost, split
from gdl.grounding.unfolding import unfold
from gdl.normalize import normalize
from gdl.program import Program, Rule, arguments_of

__all__ = [
    "FALSE_ATOM",
    "TRUE_ATOM",
    "ExplodingRulesError",
    "GroundProgram",
    "GroundingLimitError",
    "demanded",
    "ground",
    "rewrite",
]

COSTLY = 20_000.0
"""Programs whose rules all have a lower estimated cost are not rewritten, apart from splitting."""


def ground(
    program: Program,
    *,
    seconds: float = 60.0,
    mebibytes: int = 4096,
    progress: Progress | None = None,
) -> GroundProgram:
    """The ground program of a rule sheet.

    seconds     CPU-time limit for gringo; its wall time may be ten times as long
    mebibytes   address-space limit for gringo
    progress    called with the number of ground rules and gringo's CPU seconds so far

    Raises GroundingLimitError (ExplodingRulesError, with the costliest rule), other GroundingError for rules
    that cannot be grounded (an unbound variable, no role), and GdlValidationError if bodies cannot be
    normalized.

    >>> from gdl.syntax.parser import parse
    >>> rules = "(role r) (legal r go) (init (at 1)) (succ 1 2)"
    >>> rules += "(<= (next (at ?y)) (true (at ?x)) (succ ?x ?y))"
    >>> program = ground(parse(rules))
    >>> [str(fact) for fact in program.fluents], program.initial.tolist()
    (['(at 1)', '(at 2)'], [True, False])
    """
    normal = normalize(program)
    rules = rewrite(normal)
    names = Names()
    chunks = stream(to_asp(rules, names), GroundingLimits(seconds, mebibytes), progress)
    try:
        ground_rules = read_aspif(chunks)
    except GroundingLimitError as error:
        estimates = estimate(rules)
        costliest = max(rules, key=lambda rule: cost(estimates, rule.literals))
        written = next((rule for rule in normal.rules if rule.span == costliest.span), costliest)
        raise ExplodingRulesError(error.limit, program.source.name, written) from None
    roles = [arguments_of(rule.head)[0] for rule in program.rules_for("role", 1) if not rule.body]
    try:
        return assemble(ground_rules, names, roles)
    except RecursionError:
        raise GroundingError(f"{program.source.name}: terms are nested too deeply") from None


def demanded(program: Program) -> Program:
    """The program as rewritten for gringo, in which demand may bound terms that grow otherwise.

    Raises as `ground` does for rules that cannot be grounded.
    """
    return Program(tuple(rewrite(normalize(program))), program.source)


def rewrite(program: Program) -> list[Rule]:
    """The rewritten rules of a normalized program, as given to gringo."""
    rules = simplify(program.rules, program.source)
    estimates = estimate(rules)
    if any(cost(estimates, rule.literals) > COSTLY for rule in rules):
        rules = bound_by_horizon(rules, estimates)
        estimates = estimate(rules)
        rules = derive_from_calls(rules, estimates)
        estimates = estimate(rules)
        rules = guard(rules, estimates)
        estimates = estimate(rules)
        rules = prune(unfold(rules, estimates))
        estimates = estimate(rules)
    return split(rules, estimates)
