"""Mechanical corrections: what they change, and that the meaning stays."""

import pytest
from hypothesis import given, settings

from gdl.errors import GdlSyntaxError
from gdl.syntax.parser import decode, parse, parse_file, with_plain_lines
from gdl.syntax.printer import to_kif
from gdl.validation import Selection, validate
from gdl.validation.fixes import FIXES, fix
from gdl.validation.selection import EVERYTHING
from tests.conftest import CORPUS_SHEETS, OWN_GAMES, ROOT, line_end_forms, mostly_slow, needs_corpus
from tests.gdl.rule_strategies import programs

SHEETS = sorted((ROOT / "tests" / "invalid").glob("*.kif")) + OWN_GAMES


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(p 1)\n(q 1)\n(p 1)\n", "(p 1)\n(q 1)\n"),
        ("(p 1) ; one\n(p 1) ; two\n", "(p 1) ; one\n; two\n"),
        ("(<= p (or (q)\n))", "(<= p q)"),
        ("(<= p (or q (or r s)))", "(<= p (or q r s))"),
        ("(<= p (or))", "(<= p (or))"),
        ("(<= p (or ; why\n q))", "(<= p (or ; why\n q))"),
        ("(<= (p 1)) ; a fact", "(p 1) ; a fact"),
        ("(<= ( terminal ) (true (f)))", "(<= terminal (true (f)))"),
        ("(p Red) (<= q (p red))", "(p Red) (<= q (p Red))"),
        ("(<= (p ?X) (q ?x ?X))", "(<= (p ?X) (q ?X ?X))"),
        ("(<= p (q ?x ?y) (r ?y))", "(<= p (q ?_x ?y) (r ?y))"),
        ("(<= p (q ?x ?_x) (r ?_x))", "(<= p (q ?x ?_x) (r ?_x))"),
        ("(q)(<= p a(q))", "q(<= p a q)"),
        ("(<= p (or (q)a))", "(<= p (or q a))"),
        ("(<= p b(or (a))c)", "(<= p b a c)"),
        ("(p 1)q(p 1) r", "(p 1)q r"),
        ("a(<= b)(<= c)", "a b c"),
        ("(<= ; why\n (p\n1))", "(<= ; why\n (p\n1))"),
        ("(<= (p ; why\n1) )", "(p ; why\n1)"),
    ],
)
def test_fix(text, expected):
    fixed, count = fix(parse("(role r)" + text), EVERYTHING)
    assert fixed == "(role r)" + expected
    assert (count > 0) == (text != expected)


def test_only_selected_codes_are_fixed():
    text = "(role r) (<= p (q ?x)) (q 1) (q 1)"
    assert fix(parse(text), Selection())[0] == "(role r) (<= p (q ?x)) (q 1) "
    assert fix(parse(text), Selection(select=("GDL304",)))[0] == "(role r) (<= p (q ?_x)) (q 1) (q 1)"


@pytest.mark.parametrize("path", mostly_slow(SHEETS, 3), ids=lambda path: path.stem)
def test_fixed_sheet_has_no_fixable_finding(path):
    try:
        program = parse_file(path)
    except GdlSyntaxError:
        pytest.skip("not a sheet in KIF")
    fixed, count = fix(program, EVERYTHING)
    if count:
        left = {finding.code for finding in validate(parse(fixed), EVERYTHING)}
        assert not left & {"GDL304", "GDL309", "GDL312", "GDL315"}
    assert fix(parse(fixed), EVERYTHING) == (fixed, 0)
    assert set(FIXES) >= {"GDL304", "GDL309", "GDL311", "GDL312", "GDL313", "GDL315"}


def untidied(text: str) -> str:
    """`text` with each fact written as a rule without a body, twice, if it fills a line."""
    lines = text.split("\n")
    for rule in parse(text, syntax="kif").rules:
        if (
            not rule.body
            and rule.span.column == 1
            and rule.span.end_column == len(lines[rule.span.line - 1]) + 1
        ):
            lines[rule.span.line - 1] = f"(<=\n{rule.head})\n{rule.head}"
    return "\n".join(lines)


@needs_corpus
@pytest.mark.parametrize("path", mostly_slow(CORPUS_SHEETS, 15), ids=lambda path: path.stem)
def test_correction_keeps_the_line_ends_of_a_corpus_sheet(path):
    text = untidied(with_plain_lines(decode(path.read_bytes())))
    for form in line_end_forms(path):
        program = parse(form(text), syntax="kif")
        fixed, count = fix(program, EVERYTHING, form(text))
        assert (fixed, count) == (form(with_plain_lines(fixed)), fix(program, EVERYTHING)[1])
        assert fix(parse(fixed, syntax="kif"), EVERYTHING, fixed) == (fixed, 0)


def test_each_line_keeps_its_own_end():
    text = "\ufeff(role r)\r\n(<= (p 1))\n; one\r(<= p\r\n  (or q) )\r\n"
    assert fix(parse(text), EVERYTHING, text)[0] == ("\ufeff(role r)\r\n(p 1)\n; one\r(<= p\r\n  q )\r\n")


@given(programs)
@settings(max_examples=60, deadline=None)
def test_fix_keeps_the_meaning_of_any_program(program):
    fix(parse(to_kif(program), syntax="kif"), EVERYTHING)
