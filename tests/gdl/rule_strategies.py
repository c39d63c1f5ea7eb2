"""Hypothesis strategies for terms, formulas, rules and programs, including unusual names."""

import string

from hypothesis import strategies as st

from gdl.program import Conjunction, Disjunction, Formula, Literal, Negation, Program, Rule
from gdl.syntax.forms import CONNECTIVES
from gdl.terms import Compound, Symbol, Variable

ODD = "+-*/<>=!.,:_'\\\"&|~%#?[]{}@^$"
ALPHABET = string.ascii_lowercase + string.digits + ODD + "éß語"

plain_names = st.sampled_from(
    ["cell", "p", "q", "true", "x1", "noop", "1", "-5", "0", "map+", "a_b", "_", "x."]
)
odd_names = st.text(ALPHABET, min_size=1, max_size=5)
variable_names = plain_names | odd_names
names = variable_names.filter(lambda name: not name.startswith("?") and name not in CONNECTIVES)

symbols = names.map(Symbol)
variables = variable_names.map(Variable)


def compounds(arguments: st.SearchStrategy) -> st.SearchStrategy[Compound]:
    return st.builds(Compound, names, st.lists(arguments, max_size=3).map(tuple))


terms = st.recursive(symbols | variables, compounds, max_leaves=6)
atoms = symbols | compounds(terms)
literals = st.builds(Literal, atoms, st.booleans())


def _connected(operands: st.SearchStrategy[Formula]) -> st.SearchStrategy[Formula]:
    several = st.lists(operands, max_size=3).map(tuple)
    return (
        several.map(Conjunction)
        | several.map(Disjunction)
        | operands.filter(_is_not_positive_literal).map(Negation)
    )


def _is_not_positive_literal(formula: Formula) -> bool:
    """The negation of an atom is a `Literal`, never a `Negation`."""
    return not (isinstance(formula, Literal) and formula.is_positive)


formulas = st.recursive(literals, _connected, max_leaves=6)
rules = st.builds(Rule, atoms, st.lists(formulas, max_size=4).map(tuple))
programs = st.lists(rules, max_size=5).map(lambda found: Program(tuple(found)))
