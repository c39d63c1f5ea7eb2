"""Naive twin of `gdl.reasoning.reasoner`: match every literal with every known atom to a fixpoint.

Deliberately slow, and short enough to be obviously correct. Negation is decided per ground atom by the
well-founded semantics (Van Gelder's alternating fixpoint), which for the programs that GDL allows is the
unique stratified model.
"""

from collections.abc import Iterable

from gdl.program import Literal, Program, arguments_of
from gdl.terms import Compound, Symbol, Term, match, substitute


def derive(program: Program, given: Iterable[Term]) -> set[Term]:
    """Every atom that holds if the atoms `given` (of `true` and `does`) do."""
    facts = {key(atom) for atom in given}
    certain: set[Term] = set()
    while True:
        possible = least_model(program, facts, certain)
        grown = least_model(program, facts, possible)
        if grown == certain:
            assert certain == possible, "no two-valued model"
            return certain
        certain = grown


def least_model(program: Program, facts: set[Term], assumed: set[Term]) -> set[Term]:
    """The least model in which `not p` is true exactly if p is not in `assumed`."""
    known = set(facts)
    while True:
        found = {
            key(substitute(rule.head, bindings))
            for rule in program.rules
            for bindings in solutions(sorted(rule.literals, key=order), {}, known, assumed)
        }
        if found <= known:
            return known
        known |= found


def order(literal: Literal) -> int:
    return 0 if literal.is_positive and literal.atom.name != "distinct" else 1


def solutions(literals, bindings, known, assumed):
    if not literals:
        yield bindings
        return
    literal, rest = literals[0], literals[1:]
    atom = key(substitute(literal.atom, bindings))
    if literal.atom.name == "distinct":
        left, right = arguments_of(atom)
        if (left != right) == literal.is_positive:
            yield from solutions(rest, bindings, known, assumed)
    elif not literal.is_positive:
        if atom not in assumed:
            yield from solutions(rest, bindings, known, assumed)
    else:
        for other in known:
            extended = match(atom, other, bindings)
            if extended is not None:
                yield from solutions(rest, extended, known, assumed)


def key(atom: Term) -> Term:
    """The atom with `(p)` as `p`: both are one predicate. Terms inside atoms stay distinct."""
    return Symbol(atom.name) if isinstance(atom, Compound) and not atom.arguments else atom
