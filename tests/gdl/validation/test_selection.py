"""Selected codes."""

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
    fatal = {finding.code for finding in check(parse("(p ?x) (<= q (not q)) (true b)"))}
    assert all(FATAL.fullmatch(code) for code in fatal)
    assert all(Severity.ERROR for code in CODES if FATAL.fullmatch(code))
