from pathlib import Path

import pytest
from hypothesis import example, given

from gdl.program import Conjunction, Disjunction, Literal, Negation, Program, Rule
from gdl.syntax.parser import parse, parse_file
from gdl.syntax.printer import to_infix, to_kif
from gdl.terms import Compound, Symbol, Variable
from tests.conftest import ROOT
from tests.gdl.rule_strategies import programs

GOLDEN = ROOT / "tests" / "golden"
P, Q, R = (Literal(Symbol(name)) for name in "pqr")


def program_of(*body):
    return Program((Rule(Symbol("h"), body),))


@given(programs)
@example(Program((Rule(Compound("f", ())), Rule(Symbol("f")))))
@example(program_of(Conjunction((P, Q))))
@example(program_of(Disjunction((Conjunction((P, Q)), R)), P))
@example(program_of(Negation(Negation(Literal(Symbol("p"), False)))))
@example(program_of(Conjunction(()), Disjunction((P,)), Negation(Conjunction((Disjunction(()),)))))
@example(Program((Rule(Compound("p", (Variable("_"), Variable("_1"), Variable("?"), Variable("1")))),)))
def test_printed_programs_read_back(program):
    assert parse(to_kif(program), syntax="kif") == program
    assert parse(to_infix(program), syntax="infix") == program


@given(programs)
@pytest.mark.slow
def test_infix_is_recognized(program):
    assert not program.rules or parse(to_infix(program)) == program


@pytest.mark.parametrize(
    ("kif", "infix"),
    [
        ("(f)", "f()."),
        ("(p map+ ?n++ -5 ?x_1 ?_)", "p('map+',?'n++',-5,X_1,?'_')."),
        ("(<= p q)", "p :-\n    q."),
        ("(<= p (or q (and r s)) (not (not q)))", "p :-\n    (q | (r & s)) &\n    ~~q."),
        ("(<= p (and q r))", "p :-\n    (q & r)."),
        ("(<= p (or) (and q))", "p :-\n    |() &\n    &(q)."),
        ("(<= p (not (or q r)))", "p :-\n    ~(q | r)."),
    ],
)
def test_infix_form_of_rules(kif, infix):
    (rule,) = parse(kif).rules
    assert to_infix(rule) == infix


def test_parts_are_printed_too():
    (rule,) = parse("(<= (p ?x) (not (q ?x)) (or r (and s)))").rules
    assert to_kif(rule.head) == "(p ?x)"
    assert [to_kif(formula) for formula in rule.body] == ["(not (q ?x))", "(or r (and s))"]
    assert [to_infix(formula) for formula in rule.body] == ["~q(X)", "r | &(s)"]
    assert to_infix(rule.head) == "p(X)"


@pytest.mark.parametrize(("suffix", "printed"), [(".kif", to_kif), (".infix", to_infix)])
def test_printed_sheet_is_golden(suffix, printed):
    program = parse_file(GOLDEN / "untidy.kif")
    assert printed(program) == Path(GOLDEN / f"untidy_printed{suffix}").read_text(encoding="utf-8")
