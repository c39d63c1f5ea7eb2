import json

import pytest

from gdl.errors import Diagnostic, Related, Severity
from gdl.program import Source
from gdl.terms import Span
from ggp.validation.output import SheetReport, summary_of, text_of, to_github, to_json
from ggp.validation.sheet import Request, examine
from tests.conftest import ROOT

INVALID = sorted((ROOT / "tests" / "invalid").glob("*.kif"))


@pytest.fixture(scope="module")
def reports():
    found = [examine(str(path), Request()) for path in INVALID]
    return [*found, SheetReport("gone.kif", unreadable="gone.kif: no such file")]


def test_json_contains_locations_and_related_locations(reports):
    data = json.loads(to_json(reports))
    assert data["errors"] > 20
    (sheet,) = (sheet for sheet in data["sheets"] if sheet["file"].endswith("arity_differs.kif"))
    (diagnostic,) = sheet["diagnostics"]
    assert (diagnostic["code"], diagnostic["severity"]) == ("GDL301", "warning")
    assert (diagnostic["line"], diagnostic["column"], diagnostic["endLine"]) == (19, 5, 19)
    assert [related["line"] for related in diagnostic["related"]] == [17]
    assert data["sheets"][-1]["unreadable"] == "gone.kif: no such file"


def test_json_carries_what_a_repair_needs(reports):
    data = json.loads(to_json(reports))
    (sheet,) = (sheet for sheet in data["sheets"] if sheet["file"].endswith("unknown_fact.kif"))
    first = sheet["diagnostics"][0]
    assert (first["text"], first["expected"], first["keepsMeaning"]) == ("(lihgt off)", [], False)
    assert first["edits"] == [{"line": 18, "column": 12, "endLine": 18, "endColumn": 17, "newText": "light"}]


def test_github_annotations_are_escaped():
    diagnostics = [
        Diagnostic("GDL101", Severity.ERROR, "100%\nsure", Span(2, 3, 2, 9)),
        Diagnostic("GDL304", Severity.WARNING, "odd: yes, very", Span(2, 3, 4, 1)),
        Diagnostic("GDL201", Severity.ERROR, "no roles"),
    ]
    assert to_github([SheetReport("a,b:c.kif", diagnostics=diagnostics)]).split("\n") == [
        "::error file=a%2Cb%3Ac.kif,line=2,endLine=2,col=3,endColumn=9,title=GDL101::100%25%0Asure",
        "::warning file=a%2Cb%3Ac.kif,line=2,endLine=4,col=3,title=GDL304::odd: yes, very",
        "::error file=a%2Cb%3Ac.kif,title=GDL201::no roles",
    ]


def test_text_ends_with_a_verdict_and_summary_counts():
    source = Source("x.kif", "(p 1)\n(p)\n")
    note = Related("here it has 1", Span(1, 1, 1, 6))
    finding = Diagnostic("GDL301", Severity.WARNING, "odd", Span(2, 1, 2, 4), (note,))
    report = SheetReport("x.kif", source, 2, [finding])
    assert text_of(report).split("\n") == [
        "x.kif:2:1: warning GDL301: odd",
        " 2 | (p)",
        "   | ^^^",
        "x.kif:1:1: note: here it has 1",
        " 1 | (p 1)",
        "   | ^^^^^",
        "x.kif: 2 rules, no errors, 1 warning",
    ]
    gone = SheetReport("z", unreadable="z: gone")
    summary = "3 sheets: 1 clean, 0 errors, 1 warning, 1 unreadable"
    assert summary_of([report, SheetReport("y.kif"), gone]) == summary
