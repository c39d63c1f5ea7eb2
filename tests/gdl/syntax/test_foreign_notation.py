# ruff: noqa: E501 - what a message says stands next to the text it is about
"""Sheets with habits of other languages: what is said about them, and that sheets with a meaning pass."""

import re

import pytest

from gdl.errors import GdlSyntaxError
from gdl.keywords import KEYWORDS
from gdl.program import Program
from gdl.syntax.foreign_notation import foreign_notation
from gdl.syntax.forms import CONNECTIVES
from gdl.syntax.parser import parse, parse_file
from gdl.syntax.printer import to_infix, to_kif
from tests.conftest import CORPUS_SHEETS, OWN_GAMES

KIF = """(role hiker)
(init (place 1))
(above 1 2) (above 2 3)
(<= (legal hiker (climb ?to)) (true (place ?from)) (above ?from ?to))
(<= (next (place ?to)) (does hiker (climb ?to)))
(<= terminal (true (place 3)))
(<= (goal hiker 100) (true (place 3)))
(<= (goal hiker 0) (not (true (place 3))))
"""
INFIX = """role(hiker).
init(place(1)).
above(1,2). above(2,3).
legal(hiker,climb(To)) :- true(place(From)) & above(From,To).
next(place(To)) :- does(hiker,climb(To)).
terminal :- true(place(3)).
goal(hiker,100) :- true(place(3)).
goal(hiker,0) :- ~true(place(3)).
"""
SHEETS = [*OWN_GAMES, *CORPUS_SHEETS]


def messages(text: str) -> list[str]:
    with pytest.raises(GdlSyntaxError) as caught:
        parse(text)
    assert all(found.span for found in caught.value.diagnostics)
    return [f"{found.code} {found.message}" for found in caught.value.diagnostics]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("(above ?from ?to))", "above(?from ?to))", "GDL120 above(?from ?to): in KIF the name stands inside the parentheses: (above ?from ?to)"),
        ("(above ?from ?to))", "above(?from, ?to))", "above(?from, ?to): in KIF the name stands inside the parentheses: (above ?from ?to)"),
        ("(above 1 2) (above 2 3)", "above(1,2) (above 2 3)", "above(1,2): in KIF the name stands inside the parentheses: (above 1 2)"),
        ("(role hiker)", "role(hiker)", "role(hiker): in KIF the name stands inside the parentheses: (role hiker)"),
        ("(init (place 1))", "(init place(1))", "place(1): in KIF the name stands inside the parentheses: (place 1)"),
        ("(init (place 1))", "init(place(1))", "init(place(1)): in KIF the name stands inside the parentheses: (init (place 1))"),
        ("(not (true (place 3)))", "not(true(place(3)))", "(not (true (place 3)))"),
        ("(place 1)", "(place 1,)", "GDL120 '1,': KIF has no commas"),
        ("(not (true (place 3)))", "~(true (place 3))", "KIF writes '~' as (not (true (place 3)))"),
        ("(not (true (place 3)))", "\\+ (true (place 3))", "KIF writes '\\+' as (not (true (place 3)))"),
        ("(above ?from ?to))", "(?from \\= ?to))", "GDL writes '\\=' as (distinct ?from ?to)"),
        ("(above ?from ?to))", "?from != ?to)", "GDL writes '!=' as (distinct ?from ?to)"),
        ("(above ?from ?to))", "(?to = ?from))", "GDL has no '=': use one variable for both, or (not (distinct ?to ?from))"),
        ("(above ?from ?to))", "(?from < ?to))", "GDL has no arithmetic"),
        ("(true (place ?from)) (", "(true (place ?from)) && (", "'&&' joins nothing in KIF"),
        ("(true (place ?from)) (", "(true (place ?from)), (", "KIF has no commas"),
        ("(<= terminal (true (place 3)))", "(<= terminal (true (place 3)) | (true (place 2)))", "write (or (true (place 3)) (true (place 2)))"),
        ("(<= terminal (true (place 3)))", "(<= terminal ((true (place 3)) or (true (place 2))))", "connectives come first: (or (true (place 3)) (true (place 2)))"),
        ("(<= terminal (true (place 3)))", "terminal if (true (place 3))", "write (<= terminal (true (place 3)))"),
        ("(<= (goal hiker 100) (true (place 3)))", "(goal hiker 100) if (true (place 3))", "'if' between head and body: write (<= (goal hiker 100) (true (place 3)))"),
        ("(<= (goal hiker 100) (true (place 3)))", "(goal hiker 100) :- (true (place 3))", "':-' between head and body: write (<= (goal hiker 100) (true (place 3)))"),
        ("(<= (goal hiker 100) (true (place 3)))", "(true (place 3)) => (goal hiker 100)", "write (<= (goal hiker 100) (true (place 3)))"),
        ("(<= (goal hiker 100) (true (place 3)))", "((goal hiker 100) <- (true (place 3)))", "write (<= (goal hiker 100) (true (place 3)))"),
        ("(above ?from ?to))", "(exists (?x) (above ?x ?to)))", "GDL120 GDL has no 'exists'"),
        ("(<= terminal", "(:action climb :parameters (?to))\n(<= terminal", "GDL117 '(:action' begins PDDL"),
        ("(<= ", "(:- ", "rules begin with <=, not with :- (and 4 more places)"),
        ("(<= ", "(≤ ", "rules begin with <=, not with ≤ (and 4 more places)"),
        ("(<= ", "(⇐ ", "rules begin with <=, not with ⇐"),
        ("(<= ", "<=(", "in KIF the name stands inside the parentheses"),
        ("(<= ", "(&lt;= ", "GDL118 '&lt;' is HTML for <: write the character itself (and 4 more places)"),
        ("(<= ", "(&#x3C;= ", "'&#x3C;' is HTML for <"),
        ("(role hiker)", "（role hiker）", "GDL118 （, U+FF08 (fullwidth left parenthesis), is not (: write the character of ASCII (and 1 more place)"),
        ("(role hiker)", "(role hiker\u200b)", "GDL118 U+200B (zero width space) is invisible"),
        ("(role hiker)", "(role hik\u2060er)", "U+2060 (word joiner) is invisible"),
        ("(role hiker)", "(role “hiker”)", "U+201C (left double quotation mark)"),
        ("?from", "？from", "U+FF1F (fullwidth question mark), is not ?"),
        ("(role hiker)", "# climbing (to 3\n(role hiker)", "GDL119 '#' does not begin a comment in KIF: write ';'"),
        ("(role hiker)", "(role hiker) // climbs", "GDL119 '//' does not begin a comment in KIF: write ';'"),
        ("(role hiker)", "/* one\n(role */(role hiker)", "GDL119 '/*'"),
        ("(role hiker)", "% climbing\n(role hiker)", "GDL119 '%'"),
        ("(above ?from ?to))", "# the way\n    (above ?from ?to))", "GDL119 '#'"),
        ("(role hiker)", "Of course! This is it:\n\n(role hiker)", "GDL117 'Of' is text outside the rules"),
        ("(role hiker)", "**Rules**\n- (role hiker)", "is text outside the rules"),
        ("(role hiker)", "<!DOCTYPE html><pre>\n(role hiker)", "is HTML"),
        ("(<= terminal (true", "(terminal <= (true", "GDL120 '<=' between head and body: write (<= terminal (true (place 3)))"),
        ("(<= terminal (true", "(terminal if (true", "'if' between head and body: write (<= terminal (true (place 3)))"),
        ("(<= (goal hiker 100) (true", "(goal hiker 100 <= (true", "write (<= (goal hiker 100) (true (place 3)))"),
        ("(<= terminal (true", "(<=terminal (true", "GDL120 '<=terminal': a blank is missing after <="),
        ("(role hiker)", "<table><tr><td>(role hiker)", "GDL117 '<table' is HTML"),
        ("(role hiker)", "((role hiker))", "GDL117 '(' begins a list around the rules"),
        ("(role hiker)", "(role hiker\ufe0f)", "GDL118 U+FE0F (variation selector-16) is invisible"),
        ("(above 1 2)", "(above １ 2)", "GDL118 １, U+FF11 (fullwidth digit one), is not 1"),
        ("(role", "(ｒｏｌｅ", "GDL118 ｒ, U+FF52 (fullwidth latin small letter r), is not r"),
        ("(role hiker)", "(role, hiker)", "GDL120 'role,': KIF has no commas"),
        ("(role hiker)", '(role "hiker")', 'GDL120 "hiker" is another name than hiker'),
        ("(role hiker)", "[role hiker]", "GDL120 '[role': KIF has no brackets"),
    ],
)  # fmt: skip
def test_habits_in_kif(old, new, expected):
    assert old in KIF
    found = messages(KIF.replace(old, new))
    assert len(found) <= 5
    assert expected in found[0]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("~true", "not true", "GDL120 'not' is written '~' in infix form: ~true(place(3))"),
        ("~true", "\\+ true", "'\\+' is written '~' in infix form: ~true(place(3))"),
        ("~true", "!true", "'!' is written '~' in infix form: ~true(place(3))"),
        ("~true", "¬true", "'¬' is written '~' in infix form: ~true(place(3))"),
        ("above(From,To).", "above(From,To) & From \\= To.", "'\\=' is written distinct(From,To)"),
        ("above(From,To).", "above(From,To) & From != To.", "'!=' is written distinct(From,To)"),
        ("above(From,To).", "To = From.", "GDL has no '=': use one variable for both, or ~distinct(To,From)"),
        ("above(From,To).", "To is From + 1.", "ask for succ(From,To)"),
        ("above(From,To).", "From < To.", "ask for less(From,To)"),
        (":-", "<=", "rules are written with ':-', not with '<=': head :- body (and 4 more places)"),
        (":-", "<-", "rules are written with ':-', not with '<-'"),
        (":-", "←", "rules are written with ':-', not with '←'"),
        ("To", "?to", "?to is a variable of KIF: in infix form variables begin with a capital letter: To"),
        (" & ", " && ", "'&&' is written '&' in infix form"),
        (" & ", " and ", "'and' is written '&' in infix form"),
        (" & ", ", ", "',' only separates arguments: '&' joins the atoms of a body"),
        ("~true(place(3))", "(true(place(1)) ; true(place(2)))", "';' begins a comment in infix form: write '|' for 'or'"),
        ("role(hiker).", "// climbing (to 3\nrole(hiker).", "GDL119 '//' does not begin a comment in infix form: write '%'"),
        ("role(hiker).", "# climbing\nrole(hiker).", "GDL119 '#' does not begin a comment in infix form: write '%'"),
        ("role(hiker).", "role(Hiker).", "GDL121 Hiker is a variable, because it begins with a capital letter: write role(hiker)"),
        ("role(hiker).", "Role(hiker).", "names of relations and functions begin with a lower-case letter: role(...)"),
        ("role(hiker).", 'role("hiker").', '"hiker" is not a name'),
        ("role(hiker).", "role(‘hiker’).", "U+2018 (left single quotation mark), is not '"),
        ("role(hiker).", ":- dynamic place/1.\nrole(hiker).", "is a directive of Prolog"),
        ("above(1,2).", "above([1,2]).", "GDL has no lists"),
        ("role(hiker).", "role(hiker).\nclimb(X) :: place(Y) ==> place(X)", "operations of Stanford's Gamemaster (2018 and later) are another language"),
        ("role(hiker).", "```prolog\nrole(hiker).", "GDL117 '```' is a fence of Markdown"),
        ("(", "（", "U+FF08 (fullwidth left parenthesis), is not ("),
        (":-", ":–", "U+2013 (en dash), is not -"),
        ("&", "&amp;", "'&amp;' is HTML for &"),
        ("~true", "NOT true", "'NOT' is written '~' in infix form: ~true(place(3))"),
        ("~true(place(3))", "\\+ (true(place(3)))", "'\\+' is written '~' in infix form: ~true(place(3))"),
        ("~true(place(3))", "naf(true(place(3)))", "'naf' is written '~' in infix form: ~true(place(3))"),
        (" & ", " AND ", "'AND' is written '&' in infix form"),
        (":-", "-->", "'-->' is not part of the language: write rules as head :- body (and 4 more places)"),
        ("above(From,To).", "To = From + 1.", "ask for succ(From,To)"),
        ("above(From,To).", "above(From,To) & !\n", "GDL has no cut"),
        ("role(hiker).", "ROLE(hiker).", "names of relations and functions begin with a lower-case letter: role(...)"),
        ("role(hiker).", "<!-- climbing = up -->\nrole(hiker).", "GDL119 '<!--' does not begin a comment in infix form: write '%'"),
        ("true(", "true˜(", "GDL118 ˜, U+02DC (small tilde), is not ~"),
    ],
)  # fmt: skip
def test_habits_in_infix(old, new, expected):
    assert old in INFIX
    assert expected in messages(INFIX.replace(old, new))[0]


def test_a_preview_message_is_one_finding():
    (message,) = messages(f"(preview ({KIF}) 20)")
    assert message.startswith("GDL117")


def test_a_remark_hides_the_rest_of_its_line():
    assert len(messages("#const n = 3.\n" + INFIX)) == 1


def test_a_fact_without_parentheses_leaves_infix_form_as_it_is():
    text = INFIX.replace("role(hiker).", "role hiker")
    assert parse(text).rules[2:] == parse(INFIX).rules[1:]


def test_what_surrounds_the_rules_is_the_only_finding():
    (message,) = messages(f"(START game.1 hiker ({KIF}) 20 10)")
    assert message.startswith("GDL117 '(START' begins a START message")
    assert len(messages(f"Sure! Here is the game:\n\n```kif\n{KIF}```\nHave fun (with it!")) == 1


def test_each_call_is_reported_in_its_place():
    found = messages("(role a) (<= seat(1)) (<= seat(2)) (<= (q ?x) (seat ?x) beside(?x ?x))")
    calls = ["GDL120 seat(1)", "GDL120 seat(2)", "GDL120 beside(?x ?x)"]
    assert [message.split(":")[0] for message in found] == calls


@pytest.mark.parametrize(
    "text",
    [
        "(role p) (<= won(true s)) (<= w(won)) (<= terminal w)",
        "(role #) (init (cell 1 #)) (<= (# ?x) (true (cell ?x #))) (<= (legal # (// %)) (# 1))",
        "(= a a) (<= p (= ?x ?y) (!= ?x ?y)) (!= a b) (<= (< ?x ?y) (= ?x ?y)) (<= q (< a b))",
        "(-> (pos 1) (pos 2)) (=> a b) (if a b) (≤ 1 2) (<= p (≤ 1 2))",
        "(<= (p ?x) (q ?x (& a b) (~ 3) (not 3) (+ 1 2)))",
        "(cell 1,2 a) (it’s mine) (x–y naïve) (نمی‌دانم a) (a > b) (1 = 2)",
        "open closed (<= terminal open closed)",
        "; 2031-05-06 07:08:09 INFO ``` &lt; （ # // “quoted” \u200b\n(role p) ; not x, y",
        "(p a)(p(f b))(<= q(p a))(q)",
        '(role ｙ) (init (cell １ "x")) (name x "x") ([ a) (goal １ ♟\ufe0f)',
        "(play a b)\n(role x)",
    ],
)
def test_unusual_names_pass(text):
    parse(text)


def minified(text: str) -> str:
    return re.sub(r"\s*([()])\s*", r"\1", " ".join(text.split()))


def renamed(program: Program, text: str) -> str:
    """`text` in KIF with operators as the names of its relations, functions and constants."""
    operators = (
        "=",
        "!=",
        "<",
        ">",
        "&",
        "|",
        "~",
        "->",
        ":-",
        "+",
        "-",
        "#",
        "//",
        "%",
        "--",
        "[",
        "≤",
        "≠",
    )
    operators += (
        "¬",
        "if",
        "when",
        "knows",
        "is",
        "::",
        "=>",
        "`",
        "/*",
        "&&",
        "||",
        "<-",
        "\\+",
        "[]",
        "*",
        "^",
        "@",
    )
    words = dict.fromkeys(re.findall(r"[^\s();?][^\s();]*(?<![,])", text.lower()))
    names = [
        word for word in words if word not in KEYWORDS and word not in CONNECTIVES and not word.isdigit()
    ]
    new = dict(zip(names, operators, strict=False))
    return re.sub(r"\?[^\s();]+|[^\s();]+", lambda found: new.get(found.group(), found.group()), text.lower())


@pytest.mark.parametrize("path", SHEETS, ids=lambda path: path.stem)
def test_sheets_with_a_meaning_pass(path):
    program = parse_file(path)
    kif = to_kif(program)
    for text in (kif, minified(kif), renamed(program, kif), minified(renamed(program, kif))):
        assert foreign_notation(text, is_infix=None) == []
    assert foreign_notation(to_infix(program), is_infix=True) == []
