import re

import pytest
from hypothesis import given, settings

from gdl.errors import Diagnostic, GdlSyntaxError, GdlValidationError, Severity, render
from gdl.syntax.parser import parse, parse_file, parse_term
from gdl.syntax.printer import to_kif
from gdl.validation import CODES, MAX_FINDINGS, check, checks, require_valid, validate
from gdl.validation.checks.recursion import growing_rule
from gdl.validation.codes import EXPLANATIONS
from gdl.validation.selection import EVERYTHING
from tests.conftest import CORPUS_SHEETS, OWN_GAMES, ROOT, mostly_slow, needs_corpus
from tests.gdl.rule_strategies import programs

INVALID = sorted((ROOT / "tests" / "invalid").glob("*.kif"))
WITHOUT_PLACE = ("GDL105", "GDL201", "GDL214", "GDL327")


def place(diagnostic: Diagnostic) -> str:
    span = diagnostic.span
    return diagnostic.code if span is None else f"{diagnostic.code} at {span.line}:{span.column}"


def findings(path) -> list[Diagnostic]:
    """The findings for a sheet, parsed as its second line says: as a term, or padded with blanks."""
    text = path.read_text(encoding="utf-8")
    padding = re.match(r".*\n; padded with (\d+) blanks\n", text)
    try:
        if re.match(r".*\n; parsed as a term\n", text):
            parse_term(text)
            return []
        program = parse(text + " " * int(padding[1])) if padding else parse_file(path)
        return validate(program, EVERYTHING)
    except GdlSyntaxError as error:
        return list(error.diagnostics)


def expected_places(path) -> list[str]:
    first_line = path.read_text(encoding="utf-8").split("\n", 1)[0]
    assert first_line.startswith("; expect: ")
    return first_line.removeprefix("; expect: ").split(", ")


@pytest.mark.parametrize("path", INVALID, ids=lambda path: path.stem)
def test_invalid_sheet_gets_the_diagnostics_it_expects(path):
    found = findings(path)
    assert [place(diagnostic) for diagnostic in found] == expected_places(path)
    assert len({diagnostic.code for diagnostic in found}) == 1
    for diagnostic in found:
        is_warning = diagnostic.code >= "GDL3"
        assert diagnostic.severity is (Severity.WARNING if is_warning else Severity.ERROR)
        assert diagnostic.span or diagnostic.code in WITHOUT_PLACE


def test_every_code_has_an_invalid_sheet_an_explanation_and_a_place_in_the_source():
    shown = {wanted.split()[0] for path in INVALID for wanted in expected_places(path)}
    assert shown == set(CODES)
    assert list(EXPLANATIONS) == list(CODES)
    assert all(text.strip() == text and text.endswith((".", ")")) for text in EXPLANATIONS.values())
    source = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "gdl").rglob("*.py"))
    listing = re.compile(r"^    \"GDL\d\d\d\": .*$", re.MULTILINE)
    assert set(re.findall(r"\"(GDL\d\d\d)\"", listing.sub("", source))) == set(CODES)


def test_package_docstring_lists_every_code_with_its_file():
    for path in (ROOT / "gdl" / "validation" / "checks").glob("*.py"):
        used = set(
            re.findall(r"(?:error|warning)\((?:\s*)\"(GDL\d\d\d)\"|, \"(GDL\d\d\d)\"\)", path.read_text())
        )
        listed = re.search(rf"^{path.stem} +((?:GDL\d\d\d ?)+)$", checks.__doc__ or "", re.MULTILINE)
        assert {code for pair in used for code in pair if code} == set(listed[1].split() if listed else ())


@pytest.mark.parametrize("path", OWN_GAMES, ids=lambda path: path.stem)
def test_own_game_has_no_findings(path):
    program = parse_file(path)
    assert [render(diagnostic, program.source) for diagnostic in validate(program, EVERYTHING)] == []


@needs_corpus
@pytest.mark.parametrize("path", CORPUS_SHEETS, ids=lambda path: path.stem)
def test_corpus_sheet_is_valid(path):
    require_valid(parse_file(path))


@pytest.mark.parametrize(
    "rules",
    [
        "(<= p (distinct ?x a) (q ?x))",
        "(<= (p ?x) (or (q ?x) (r ?x)))",
        "(<= (p ?x) (q (f ?x ?y)) (not (r ?y)))",
        "(<= p (undefined ?x))",
        "(<= (goal x 0) (not (goal x 100))) (<= (goal x 100) (true p))",
        "(<= (role ?x) (named ?x)) (named y)",
        "(base 1 2) (<= (input ?x) (sees ?x)) (sees 1)",
        "(<= (next p) (legal x m) (goal x 0) terminal (base p) (input x m))",
        "(next p) (legal x noop) terminal",
        "(f) (<= p (f)) (<= q f)",
        "(<= (sees x ?m) (does y ?m))",
        "(<= p (q) (not (or (r a) (r b))))",
        "(<= (next (cell true)) (true (does next)))",
        "(<= (terminal) (true p)) (<= (goal x 1) terminal)",
    ],
)
def test_odd_but_meaningful_rules_pass(rules):
    assert check(parse("(role x)" + rules)) == []


def test_each_unsafe_variable_is_reported_once_within_the_limit():
    program = parse("(role x)\n(<= (p ?x ?x) (or (q ?y) (r ?y)) (not (s ?x ?z)))")
    assert [place(diagnostic) for diagnostic in check(program)] == ["GDL205 at 2:8", "GDL205 at 2:45"]
    assert len(check(parse("(role x)" + "(p ?y)" * 1000))) == MAX_FINDINGS


def test_require_valid_lets_warnings_pass_and_raises_errors():
    require_valid(parse("(role x) (p 1 2) (<= q (p 1))"))
    with pytest.raises(GdlValidationError, match=r"<rules>:1:13: error GDL205"):
        require_valid(parse("(role x) (p ?y)"))


@pytest.mark.slow
@given(programs)
@settings(max_examples=200, deadline=None)
def test_any_program_can_be_validated(program):
    found = validate(program)
    assert set(check(program)) <= set(found)
    for diagnostic in found:
        assert diagnostic.code in CODES
        assert (diagnostic.severity is Severity.WARNING) == (diagnostic.code >= "GDL3")
    validate(parse(to_kif(program), syntax="kif"))


@pytest.mark.parametrize(
    ("rules", "hint"),
    [
        ("(<= terminal (wonn x)) (won x)", "did you mean 'won'?"),
        ("(<= terminal (wno x)) (won x)", "did you mean 'won'?"),
        ("(<= terminal (true (kontrol a))) (init (control a))", "did you mean 'control'?"),
        ("(<= terminal (lost x)) (won x)", "Define it, or correct the name"),
        ("(legal black pass) (legal whit pass)", "did you mean 'white'?"),
        ("(init (control whyte)) (<= (legal ?r pass) (true (control ?r)))", "did you mean 'white'?"),
        ("(legal (mark 1))", "for instance (legal robot (mark 1))"),
        (
            "(<= terminal a) (<= a b) (<= b (does white m))",
            "'terminal' must not depend on 'does': terminal needs a needs b needs does",
        ),
        ("(<= (next a) (not (does ?r press)))", "such as (role ?r)"),
    ],
)
def test_message_suggests_a_correction(rules, hint):
    found = validate(parse("(role white) (role black)" + rules))
    assert any(hint in diagnostic.message for diagnostic in found)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("role robot)\n(init off)", "is the '(' before 'role' missing?"),
        ("(role robot)\ninit (light off))", "is the '(' before 'init' missing?"),
        ("(role robot)\n<= (legal robot a) (true b))", "is the '(' before '<=' missing?"),
        ("(role robot)\n<= (legal robot a) (true b)", "'<=' without its '(' before it"),
        ("role(robot)\n(init (light off))", "in KIF the name stands inside the parentheses: (role robot)"),
        ("(<= a (b) or (c))", "inside parentheses: (or (p) (q))"),
        ("init(light off)", "',' separates arguments in infix form (in KIF, '(' precedes the name"),
    ],
)
def test_missing_parenthesis_is_named(text, message):
    with pytest.raises(GdlSyntaxError, match=re.escape(message)):
        parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "role robot\ninit off",
        "(role robot)\n(<= legal robot press (true off))",
        "(role robot)\n(<= (p ?x) true (q ?x))",
    ],
)
def test_keyword_without_its_parenthesis_is_named(text):
    messages = [finding.message for finding in validate(parse(text))]
    assert any("is the '(' before it missing? For instance (" in message for message in messages)


def test_rule_that_only_depends_on_a_faulty_one_is_not_reported():
    text = """
        (role r) (init (at a)) (legal r go)
        (<= (next (at b)) (does r (go 1)))
        (<= here (true (at ?_x)))
        (<= (line ?x) (true (at ?x)) here)
        (<= terminal (line b))
        (goal r 0)
    """
    assert {finding.code for finding in validate(parse(text))} == {"GDL306"}


ALTERNATIVES = " ".join(f"(or (a{k} ?x) (b{k} ?x))" for k in range(12))
COSTLY_TO_CHECK = {
    "many alternatives": "".join(f"(<= (p{i} ?x) {ALTERNATIVES})" for i in range(7)),
    "many similar names": "".join(f"(<= p (name{i} a))(nama{i} a)" for i in range(1500)),
    "negations within a relation": "".join(
        f"(<= (p ?x ?y c{i}) (q ?x) (q ?y) (not (p ?y ?x d{i})))" for i in range(850)
    ),
    "a chain of facts": "".join(
        f"(init (f{i} 1 1))(<= (next (f{i + 1} 1 1)) (true (f{i} 1 1)))" for i in range(700)
    ),
}


@pytest.mark.parametrize("name", mostly_slow(COSTLY_TO_CHECK, 4))
@pytest.mark.timeout(60)
def test_sheet_that_is_costly_to_check_does_not_hang(name):
    validate(parse("(role r)" + COSTLY_TO_CHECK[name]))


TOWERS = """(role r) (init on) (legal r go) (<= (next on) (true on)) (<= terminal (true on)) (goal r 0)
(base a) (base b) (tower a b) (<= (legal r (build ?x)) (tower ?x ?y))"""
"""A sheet that lacks rules for `tower`."""


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ("(<= (tower (on ?x) ?x) (tower ?x ?y) (base ?y))", set()),  # the letter of the restriction is kept
        ("(<= (tower (on ?x) ?x) (tower ?x ?y))", {"GDL208"}),
        ("(<= (tower (on ?x) ?y) (tower ?x ?y) (base ?y))", {"GDL208"}),
        (
            "(<= (tower (on ?x) ?x) (tower ?x ?y) (base ?y)) (<= (tower ?x a) (tower ?x ?y) (base ?x))",
            {"GDL216"},
        ),
        (
            "(<= (tower (on ?x) ?x) (tower ?x ?y) (base ?y)) (<= (tower ?x a) (tower ?x ?y))",
            {"GDL208", "GDL216"},
        ),
        ("(<= (tower (on ?x) ?y) (tower ?x ?y) (base ?x))", set()),
    ],
)
def test_recursion_is_an_error_only_if_it_breaks_the_restriction(rules, expected):
    program = parse(TOWERS + rules)
    assert {found.code for found in validate(program)} & {"GDL208", "GDL216", "GDL318"} == expected
    assert (growing_rule(program) is None) == ("GDL208" not in expected)


def test_terms_that_grow_through_states_are_found_though_the_recursion_is_restricted():
    rules = "(<= (tower (on ?x) ?x) (tower ?x ?y) (base ?y)) (init (at a)) (<= (tower ?x b) (true (at ?x)))"
    program = parse(TOWERS + rules + "(<= (next (at ?x)) (tower ?x ?y))")
    assert {found.code for found in validate(program)} & {"GDL208", "GDL216", "GDL318"} == {"GDL318"}
    assert growing_rule(program) is not None


def codes_of(text: str) -> list[str]:
    return [finding.code for finding in validate(parse(text))]


def test_what_is_missing_comes_after_what_is_wrong():
    codes = codes_of("(role r) (init a) (legal r m) (<= terminal (not (p ?x))) (p 1)")
    assert codes == ["GDL205", "GDL214", "GDL214"]


@pytest.mark.parametrize("owner", ["red", "burnt", "none", "blue"])
def test_a_position_may_hold_roles_and_other_terms(owner):
    """Who or what occupies a cell: the marker `burnt` is no role, and only `next` mentions it."""
    assert "GDL325" not in codes_of(
        f"""(role red) (role blue) (to 1 2) (to 2 3)
        (init (cell 1 red)) (init (cell 2 blue)) (init (cell 3 {owner}))
        (<= (legal ?r (burn ?x ?y)) (true (cell ?x ?r)) (to ?x ?y) (role ?r))
        (<= (legal ?r wait) (role ?r) (not (owns ?r))) (<= (owns ?r) (true (cell ?x ?r)))
        (<= (next (cell ?y burnt)) (does ?r (burn ?x ?y)))
        (<= (next (cell ?x ?w)) (true (cell ?x ?w)) (not (burning ?x)))
        (<= (burning ?y) (does ?r (burn ?x ?y)))
        (<= terminal (not (owns red))) (<= (goal ?r 50) (role ?r))"""
    )


def test_a_misspelled_role_among_roles_is_reported():
    rules = """(role white) (role black) (init (control white)) (<= (legal ?r m) (true (control ?r)))
        (<= (next (control blakc)) (true (control white))) (<= terminal (true (control black)))
        (<= (goal ?r 50) (role ?r))"""
    assert "GDL325" in codes_of(rules)
    assert "GDL325" not in codes_of(rules.replace("blakc", "nobody"))


SHOWN = """(role a) (role b) (role random) (player a) (player b) (card 1) (card 2) (after 1 2)
    (init (shown a 0)) (init (shown b 0)) (init (round 1)) (legal random noop)
    (<= (legal ?r (show ?c)) (player ?r) (card ?c))
    (<= (next (shown ?r ?c)) (does ?r (show ?c)))
    (<= (next (round ?m)) (true (round ?n)) (after ?n ?m))
    (<= terminal (true (round 2)))
    (<= (goal ?r 100) (player ?r) (true (shown ?r 2)))
    (<= (goal ?r 0) (player ?r) (not (true (shown ?r 2))))"""
DICE = """(role p) (role random) (init (die 1 1)) (init (die 2 1)) (init roll) (face 1) (face 2)
    (<= (legal random (throw ?a ?b)) (true roll) (face ?a) (face ?b))
    (<= (legal random noop) (not (true roll)))
    (<= (legal p noop) (true roll)) (<= (legal p (take ?n)) (not (true roll)) (true (die ?n 2)))
    (<= (legal p stop) (not (true roll)))
    (<= (next (die 1 ?a)) (does random (throw ?a ?b))) (<= (next (die 2 ?b)) (does random (throw ?a ?b)))
    (<= (next roll) (not (true roll))) (<= (next done) (does p stop)) (<= terminal (true done)) (goal p 50)"""


@pytest.mark.parametrize(
    ("rules", "is_lost"),
    [
        (SHOWN, False),
        (SHOWN.replace("(init (shown a 0)) (init (shown b 0))", "(<= (init (shown ?r 0)) (role ?r))"), False),
        (SHOWN + "(legal b noop)", True),
        (SHOWN.replace("(does ?r (show ?c))", "(does ?r (show ?c)) (card ?c)"), False),
        (SHOWN.replace("(next (shown ?r ?c)) (does ?r", "(next (shown ?r ?c)) (player ?r) (does ?q"), True),
        (DICE, False),
        (DICE.replace("random", "dealer"), True),
    ],
)
def test_facts_that_moves_make_again_are_not_lost(rules, is_lost):
    assert ("GDL326" in codes_of(rules)) == is_lost


@pytest.mark.parametrize(
    ("right", "wrong", "code"),
    [
        ("(<= (succ 1 ?y) (number ?y) (distinct ?y 1))", "(<= (succ 1 ?y) (distinct ?y 1))", "GDL205"),
        ("(<= (legal r (count ?n)) (number ?n))", "(<= (legal rr (count ?n)) (number ?n))", "GDL212"),
        ("(<= (legal r (count ?n)) (number ?n))", "(<= (legal r (count ?n)) (?n (number)))", "GDL107"),
        ("(true (at ?n))", "(true (not (at ?n)))", "GDL215"),
        ("(distinct ?y 1)", "(!= ?y 1)", "GDL218"),
        ("(count ?n)) (number ?n))", "(count (+ ?n 1))) (number ?n))", "GDL332"),
        ("(next (at ?m)) (does r (count 2))", "(next at ?m) (does r (count 2))", "GDL202"),
        ("(distinct ?y 1)", "(number 1) (=> (number ?y) (number 1))", "GDL218"),
    ],
)
def test_what_follows_from_an_error_is_not_reported(right, wrong, code):
    rules = """(role r) (init (at 1)) (number 1) (number 2)
        (<= (succ 1 ?y) (number ?y) (distinct ?y 1))
        (<= (legal r (count ?n)) (number ?n))
        (<= (next (at ?m)) (does r (count 2)) (true (at ?n)) (succ ?n ?m))
        (<= (next (at ?n)) (does r (count 1)) (true (at ?n)))
        (<= terminal (true (at 2))) (<= (goal r 100) (true (at 2))) (<= (goal r 0) (true (at 1)))"""
    assert codes_of(rules) == []
    assert right in rules
    text = rules.replace(right, wrong)
    try:
        found = codes_of(text)
    except GdlSyntaxError as error:
        found = [finding.code for finding in error.diagnostics]
    assert code in found
    assert not {"GDL305", "GDL306", "GDL308", "GDL320"} & set(found)


def test_an_error_elsewhere_hides_no_finding_of_its_own_cause():
    rules = """(role r) (init a) (legal r m) (<= (next a) (true a)) (<= terminal (true b)) (goal r 50)
        (<= (p ?x) (not (q ?x))) (q 1)"""
    assert codes_of(rules) == ["GDL306", "GDL307", "GDL205"]


def test_messages_use_the_notation_of_the_sheet():
    rules = (
        "role(r)\ninit(a(1,b))\nlegal(m) :- true(a(X,Y))\nnext(a(X,c)) :- true(a(X,b))\ngoal(r,Best) :- s(r)"
    )
    messages = [finding.message for finding in validate(parse(rules))]
    assert any("for instance legal(robot,mark(1))" in message for message in messages)
    assert any("variable Best in the head" in message for message in messages)
    assert not any(re.search(r"\?\w|\((?:legal|role|true|goal) ", message) for message in messages)


@pytest.mark.parametrize(
    ("formula", "code", "message"),
    [
        ("(= ?x ?y)", "GDL218", "GDL has no '=': use one variable for both, or (not (distinct ?x ?y))"),
        ("(not (!= ?x ?y))", "GDL218", "GDL writes '!=' as (distinct ?x ?y)"),
        ("(< ?x ?y)", "GDL218", "and ask for (less ?x ?y)"),
        ("(is ?x (+ ?y 1))", "GDL218", "and ask for (succ ?y ?x)"),
        ("(¬ (true (f ?x)))", "GDL218", "write (not (true (f ?x)))"),
        ("(∨ (true (f ?x)) (true (f ?y)))", "GDL218", "write (or (true (f ?x)) (true (f ?y)))"),
        ("(=> (true (f ?x)) (true (f ?y)))", "GDL218", "GDL has no '=>' in bodies"),
        ("(forall ?x (true (f ?x)))", "GDL218", "GDL has no 'forall'"),
        ("(knows r (f ?x))", "GDL219", "GDL-III is not supported"),
        ("(not (knows (f ?x)))", "GDL219", "GDL-III is not supported"),
    ],
)
def test_relations_of_other_languages(formula, code, message):
    rules = f"""(role r) (init (f 1)) (legal r m) (<= (next (f ?x)) (true (f ?x))) (goal r 50)
        (<= terminal (true (f ?x)) (true (f ?y)) {formula})"""
    (finding,) = validate(parse(rules))
    assert finding.code == code
    assert message in finding.message
    name = re.search(r"\((?:not \()?(\S+)", formula)[1]
    assert {found.code for found in validate(parse(f"{rules} ({name} 1 1)"))} & {code, "GDL305"} == set()


def test_knowledge_is_refused_and_equality_is_not():
    rules = "(role r) (<= terminal (= 1 1)) (<= (goal r 1) (knows r p))"
    with pytest.raises(GdlValidationError, match="GDL219"):
        require_valid(parse(rules))
    require_valid(parse(rules.replace("knows r p", "= r r")))
