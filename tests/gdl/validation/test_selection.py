"""Selected codes, and comments that silence findings."""

import pytest

from gdl.errors import Severity
from gdl.syntax.parser import parse
from gdl.validation import CODES, Selection, check, validate
from gdl.validation.selection import EVERYTHING, FATAL

GAME = """(role r)
(init a)
(legal r m)
(next a)
(<= terminal (true a))
(goal r 100)
"""


def codes(text: str, selection: Selection = EVERYTHING) -> list[str]:
    return [finding.code for finding in validate(parse(GAME + text), selection)]


def test_single_variables_are_one_finding_off_by_default():
    rules = "(p 1) (<= (next a) (p ?x)) (<= (next a) (p ?y) (p ?z))"
    (finding,) = validate(parse(GAME + rules), Selection(select=("GDL304",)))
    assert finding.message.endswith("call it ?_x (2 further variables likewise)")
    assert "GDL304" not in codes(rules, Selection())


@pytest.mark.parametrize(
    ("select", "ignore", "expected"),
    [
        ((), (), ["GDL305", "GDL312", "GDL308"]),
        (("GDL305",), (), ["GDL305"]),
        (("GDL30",), (), ["GDL305", "GDL308"]),
        (("ALL",), ("GDL30",), ["GDL312"]),
        (("GDL305", "GDL312"), ("GDL3",), ["GDL305", "GDL312"]),
        ((), ("GDL312", "GDL305"), ["GDL308"]),
        ((), ("ALL",), []),
    ],
)
def test_longest_prefix_decides(select, ignore, expected):
    rules = "(<= (next a) (gone)) (<= (next b)) (<= (next a) (true (not_made)) (true b) (not (true b)))"
    found = codes(rules, Selection(select, ignore))
    assert [code for code in found if code in ("GDL305", "GDL308", "GDL312")] == expected


def test_errors_without_which_nothing_loads_are_always_reported():
    assert codes("(next ?x)", Selection(ignore=("ALL",))) == ["GDL205"]
    assert codes("(next ?x) ; gdl: ignore GDL205") == ["GDL205", "GDL331"]
    fatal = {finding.code for finding in check(parse("(p ?x) (<= q (not q)) (true b)"))}
    assert all(FATAL.fullmatch(code) for code in fatal)
    assert all(Severity.ERROR for code in CODES if FATAL.fullmatch(code))


@pytest.mark.parametrize(
    "rules",
    [
        "(unused 1) ; gdl: ignore GDL307",
        "; gdl: ignore GDL307\n(unused\n 1)",
        "; gdl: ignore-file GDL307\n(legal r n)\n(unused 1)",
        "; gdl: ignore GDL312, GDL307 because it documents the board\n(<= (unused 1))",
        "(<= (next a) (true a)\n  ; gdl: ignore GDL328\n  (not (distinct b b)))",
    ],
)
def test_comment_silences_a_finding(rules):
    assert codes(rules) in ([], ["GDL310"])


def test_comment_silences_only_where_it_stands():
    assert codes("; gdl: ignore GDL307\n(unused 1)\n(spare 2)") == ["GDL307"]
    assert codes("(legal r n) ; gdl: ignore GDL307\n(unused 1)") == ["GDL331", "GDL307"]


@pytest.mark.parametrize(
    ("comment", "message"),
    [
        ("; gdl: ignore", "without a code"),
        ("; gdl: ignore GDL399", "unknown code GDL399"),
        ("; gdl: ignore GDL205", "cannot be silenced"),
        ("; gdl: ignore GDL307", "without effect"),
    ],
)
def test_comment_that_silences_nothing_is_reported(comment, message):
    (finding,) = validate(parse(GAME + comment))
    assert finding.code == "GDL331"
    assert message in finding.message


def test_comment_for_codes_found_by_playing_is_not_idle():
    assert codes("; gdl: ignore-file GDL401") == []


def test_comment_may_silence_the_missing_initial_state():
    rules = GAME.replace("(init a)\n", "; gdl: ignore-file GDL327\n")
    assert "GDL327" not in [finding.code for finding in validate(parse(rules))]
