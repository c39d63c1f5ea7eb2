import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.errors import GdlSyntaxError
from gdl.program import Conjunction, Disjunction, Literal, Negation, Predicate
from gdl.syntax.brackets import MAX_NESTING
from gdl.syntax.parser import MAX_CHARACTERS, MAX_REMEMBERED, looks_infix, parse, parse_file, parse_term
from gdl.terms import Compound, Span, Symbol, Variable
from tests.conftest import CORPUS_SHEETS, mostly_slow, needs_corpus


def codes(text, **options):
    with pytest.raises(GdlSyntaxError) as caught:
        parse(text, **options)
    return [(error.code, error.span and error.span[:2]) for error in caught.value.diagnostics]


def test_kif_rule_reads_as_head_and_body():
    (rule,) = parse("(<= (next (cell ?x b)) (true (cell ?x b)) (not (does robot (mark ?x))))").rules
    assert str(rule.head) == "(next (cell ?x b))"
    assert rule.body == (
        Literal(Compound("true", (Compound("cell", (Variable("x"), Symbol("b"))),))),
        Literal(Compound("does", (Symbol("robot"), Compound("mark", (Variable("x"),)))), False),
    )


def test_nested_connectives_are_kept():
    (rule,) = parse("(<= p (or a (and b (not c))) (not (or d e)) (not (not f)) (or) (and))").rules
    a, b, d, e = (Literal(Symbol(name)) for name in "abde")
    assert rule.body == (
        Disjunction((a, Conjunction((b, Literal(Symbol("c"), False))))),
        Negation(Disjunction((d, e))),
        Negation(Literal(Symbol("f"), False)),
        Disjunction(()),
        Conjunction(()),
    )


def test_facts_come_in_all_forms():
    program = parse("terminal (<= p) (<= (q a)) (f) (r ?x)")
    assert [str(rule.head) for rule in program.rules] == ["terminal", "p", "(q a)", "(f)", "(r ?x)"]
    assert all(rule.body == () for rule in program.rules)
    assert program.rules_for("f", 0)[0].head == Compound("f", ())
    assert list(program.by_predicate)[:2] == [Predicate("terminal", 0), Predicate("p", 0)]


def test_names_fold_to_lower_case_and_keep_their_first_spelling():
    program = parse("(ROLE XPlayer) ; Comment\n(<= (Legal xplayer ?Move) (true ?MOVE)) (x NoOp) (x noop)")
    assert str(program.rules[0].head) == "(role xplayer)"
    assert str(program.rules[1].head) == "(legal xplayer ?move)"
    assert program.spellings == {"role": "ROLE", "xplayer": "XPlayer", "legal": "Legal", "noop": "NoOp"}
    assert parse("(a) (A)").spellings == {}
    assert parse("role('XPlayer'). p(X) :- q(X, aB)").spellings == {"xplayer": "XPlayer", "ab": "aB"}


def test_letters_whose_lower_case_is_longer_keep_places_correct():
    (rule,) = parse("(p İİ Q)").rules
    assert str(rule.head) == "(p İİ q)"
    assert rule.head.arguments[1].span == Span(1, 7, 1, 8)


@pytest.mark.parametrize(
    "name", ["+", "<", ">", "map+", "a.b", "=<", "!", "x-1", "'", '"a"', "a?b", "=>", "語", "%"]
)
def test_unusual_names_are_symbols(name):
    assert parse_term(f"(f {name})") == Compound("f", (Symbol(name),))


def test_comments_and_blanks_of_every_kind():
    text = "\ufeff; header (\r\n(a\t1);)\r(b)\f;; last"
    assert [str(rule.head) for rule in parse(text).rules] == ["(a 1)", "(b)"]
    assert parse(text).rules[1].span == Span(3, 1, 3, 4)
    assert parse("").rules == ()
    assert len(parse("(a) ; ((( \0 )").rules) == 1


def test_every_part_has_its_place():
    (rule,) = parse("\n(<= (p ?x)\n    (not (q ?x))\n    (or a b))").rules
    assert rule.span == Span(2, 1, 4, 14)
    assert rule.head.span == Span(2, 5, 2, 11)
    assert rule.head.arguments[0].span == Span(2, 8, 2, 10)
    assert rule.body[0].span == Span(3, 5, 3, 17)
    assert rule.body[0].atom.span == Span(3, 10, 3, 16)
    assert rule.body[1].span == Span(4, 5, 4, 13)
    (infix,) = parse("p(X) :-\n  ~q(X) & (a | b)").rules
    assert infix.span == Span(1, 1, 2, 17)
    assert infix.head.arguments[0].span == Span(1, 3, 1, 4)
    assert infix.body[0].span == Span(2, 3, 2, 8)
    assert infix.body[1].span == Span(2, 12, 2, 17)


@pytest.mark.parametrize(
    ("infix", "kif"),
    [
        (
            "next(cell(X,Y)) :- true(cell(X,Y)) & ~does(R,noop) & distinct(X,Y)",
            "(<= (next (cell ?x ?y)) (true (cell ?x ?y)) (not (does ?r noop)) (distinct ?x ?y))",
        ),
        ("a b. c :- d e", "a b (<= c d) e"),
        ("p :- a & b | c", "(<= p (or (and a b) c))"),
        ("p :- a & (b | c)", "(<= p a (or b c))"),
        ("p :- (a & b)", "(<= p (and a b))"),
        ("p :- ~(a | ~b) & ~~c", "(<= p (not (or a (not b))) (not (not c)))"),
        ("p :- |() & &(a) & |(a, b & c)", "(<= p (or) (and a) (or a (and b c)))"),
        ("p :- q('map+', ?'n++', -5, f())", "(<= p (q map+ ?n++ -5 (f)))"),
        (r"p('it\'s', 'a\\b', 'İ')", "(p it's a\\b İ)"),
        ("% comment :-\nrole(x). ; another\n", "(role x)"),
    ],
)
def test_infix_means_the_same_as_kif(infix, kif):
    assert parse(infix, syntax="infix") == parse(kif, syntax="kif")


def test_underscores_in_infix_are_different_variables():
    (rule,) = parse("p :- q(_, _, _x, _x)").rules
    first, second, third, fourth = rule.body[0].atom.arguments
    assert first != second
    assert third == fourth == Variable("_x")


@pytest.mark.parametrize(
    ("text", "is_infix"),
    [
        ("(role x)", False),
        ("role(x)", True),
        ("terminal :- p", True),
        ("terminal.", True),
        ("terminal (role x)", False),
        ("; note\n% note\n role(x)", True),
        ("; role(x)\n(role x)", False),
        ("'map+'(x)", True),
        ("", False),
    ],
)
def test_syntax_is_recognized_by_the_first_form(text, is_infix):
    assert looks_infix(text) == is_infix


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(a)\n(<= (next (pile ?n)\n  (true x)", [("GDL101", (2, 5))]),
        ("(<= (p a)\n (q\n(<= r s)\n(<= t (u)", [("GDL101", (2, 2)), ("GDL101", (4, 1))]),
        ("(a))\n(b)))", [("GDL102", (1, 4)), ("GDL102", (2, 4)), ("GDL102", (2, 5))]),
        ("(a b\0c)", [("GDL104", (1, 5))]),
        ("(a)\n()\n((b) c)\n(?x)\n(<= p (not))", [(f"GDL{n}", (line, c)) for n, line, c in
            [(106, 2, 2), (107, 3, 2), (107, 4, 2), (110, 5, 7)]]),
        ("(a)\n  () (p\n ?)", [("GDL106", (2, 4)), ("GDL109", (3, 2))]),
        ("(<=) (<= p ?x) ?y", [("GDL108", (1, 1)), ("GDL113", (1, 12)), ("GDL113", (1, 16))]),
        ("(<= (not p) q)", [("GDL111", (1, 5))]),
        ("(<= (or a b) (true (or a b)))", [("GDL111", (1, 5))]),
        ("and", [("GDL111", (1, 1))]),
        ("p(X :- a.\nq(a).", [("GDL101", (1, 2))]),
        ("p(X) :- & b\nq(Y) :- Z\nr.", [("GDL112", (1, 11)), ("GDL113", (2, 9))]),
        ("p(a) :- q &\n", [("GDL112", (1, 11))]),
        ("p('a b').\nq('').\nr('?x').\ns('x)\n", [("GDL114", (n, 3)) for n in (1, 2, 3, 4)]),
        ("p(a) :- $x", [("GDL112", (1, 9))]),
    ],
)  # fmt: skip
def test_errors_are_found_where_they_are(text, expected):
    assert codes(text) == expected


@pytest.mark.parametrize("text", ["(" * 100_000, "(a " * 100_000 + ")" * 100_000, "~(" * 100_000])
def test_deep_nesting_is_an_error(text):
    assert codes("p :- " + "~" * 100_000 + "q")[0][0] == "GDL103"
    assert codes(text) in (
        [("GDL103", (1, column))] for column in (MAX_NESTING + 1, 3 * MAX_NESTING + 1, 402)
    )


def test_nesting_up_to_the_limit_is_read():
    text = "(p " * MAX_NESTING + "a" + ")" * MAX_NESTING
    (rule,) = parse(text).rules
    assert str(rule.head) == text


def test_length_of_a_text_and_number_of_errors_are_limited():
    assert codes(" " * (MAX_CHARACTERS + 1)) == [("GDL105", None)]
    assert len(codes("()\n" * 1000)) == 20
    assert len(codes(")\n" * 1000)) == 20


def test_file_that_is_not_utf8_is_read(tmp_path):
    path = tmp_path / "latin.kif"
    path.write_bytes(b"(role caf\xe9) (role caf\xe8) ; \xff\xfe")
    program = parse_file(path)
    assert [str(rule.head) for rule in program.rules] == ["(role caf\xe9)", "(role caf\xe8)"]
    assert program.source.name == str(path)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_files_may_begin_with_a_byte_order_mark(tmp_path, encoding):
    path = tmp_path / "marked.kif"
    path.write_bytes("(role café)".encode(encoding))
    assert [str(rule.head) for rule in parse_file(path).rules] == ["(role café)"]


def test_error_shows_file_line_and_caret(tmp_path):
    path = tmp_path / "nim.kif"
    path.write_text("(role x)\n(<= (next (pile ?n)\n")
    with pytest.raises(GdlSyntaxError) as caught:
        parse_file(path)
    assert str(caught.value) == (
        f"{path}:2:5: error GDL101: unclosed '(': add the ')' that belongs to it\n"
        " 2 | (<= (next (pile ?n)\n"
        "   |     ^"
    )


@pytest.mark.parametrize("text", ["", "a b", "(a) )", "(<= a b)", "(f (<= x))", "; nothing"])
def test_parse_term_requires_exactly_one_term(text):
    with pytest.raises(GdlSyntaxError):
        parse_term(text)


def test_terms_are_folded_and_may_have_connectives_as_functions():
    assert str(parse_term("(or a (not b))")) == "(or a (not b))"
    assert str(parse_term(" ( Mark 1 (F) ?X ) ")) == "(mark 1 (f) ?x)"


@needs_corpus
@pytest.mark.parametrize("path", mostly_slow(CORPUS_SHEETS, 4), ids=lambda path: path.stem)
def test_corpus_sheet_is_read(path):
    program = parse_file(path)
    assert program.rules
    assert all(rule.span is not None for rule in program.rules)


def test_one_bad_form_is_found_among_many():
    assert codes("(a)\n" * 5_000 + "b (())\n" + "(c)\n" * 5_000) == [("GDL107", (5_001, 4))]


@given(st.text(st.sampled_from("()?;%'\\~&|,.:-<= \nabX1_\0\u0085é") | st.characters(), max_size=60))
def test_any_text_is_parsed_or_rejected(text):
    for syntax in ("auto", "kif", "infix"):
        with contextlib.suppress(GdlSyntaxError):
            parse(text, syntax=syntax)


def test_short_sheets_are_parsed_once_under_each_name() -> None:
    sheet = "(role robot) (init (at 1))"
    assert parse(sheet, name="a.kif") is parse(sheet, name="a.kif")
    assert parse(sheet, name="b.kif").source.name == "b.kif"
    large = sheet + " " * MAX_REMEMBERED
    assert parse(large) is not parse(large)
