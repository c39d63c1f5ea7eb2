import json
import os
from pathlib import Path

import jsonschema
import pytest

from gdl.errors import Diagnostic, Related, Severity
from gdl.program import Source
from gdl.terms import Span
from ggp.validation.output import CODES, SheetReport, summary_of, text_of, to_github, to_json, to_sarif
from ggp.validation.sheet import Request, examine
from tests.conftest import ROOT

TEXT, BOOLEAN = {"type": "string"}, {"type": "boolean"}
LEVEL = {"enum": ["none", "note", "warning", "error"]}


def strict(required, **properties):
    """The schema of an object without additional properties."""
    return {
        "type": "object",
        "properties": properties,
        "required": required.split(),
        "additionalProperties": False,
    }


def array(items, **more):
    return {"type": "array", "items": items, **more}


MESSAGE = strict("text", text={"type": "string", "minLength": 1})
URI = {"type": "string", "pattern": r"^[A-Za-z0-9._~:/%!$&'()*+,;=@-]+$"}
PLACES = ("startLine", "startColumn", "endLine", "endColumn")
PHYSICAL = strict(
    "artifactLocation",
    artifactLocation=strict("uri", uri=URI),
    region=strict("startLine", **{place: {"type": "integer", "minimum": 1} for place in PLACES}),
)
LOCATION = strict("physicalLocation", physicalLocation=PHYSICAL, message=MESSAGE)
RULE = strict("id", id=TEXT, shortDescription=MESSAGE, help=MESSAGE)
NOTIFICATION = strict("message", level=LEVEL, message=MESSAGE)
INVOCATION = strict(
    "executionSuccessful", executionSuccessful=BOOLEAN, toolExecutionNotifications=array(NOTIFICATION)
)
RESULT = strict(
    "message",
    ruleId=TEXT,
    ruleIndex={"type": "integer", "minimum": -1},
    level=LEVEL,
    message=MESSAGE,
    locations=array(LOCATION),
    relatedLocations=array(LOCATION, uniqueItems=True),
)
DRIVER = strict(
    "name", name={"type": "string", "minLength": 1}, version=TEXT, rules=array(RULE, uniqueItems=True)
)
RUN = strict(
    "tool",
    tool=strict("driver", driver=DRIVER),
    columnKind={"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
    invocations=array(INVOCATION),
    results=array(RESULT),
)
SARIF = strict(
    "version runs",
    **{"$schema": {"type": "string", "format": "uri"}, "version": {"const": "2.1.0"}, "runs": array(RUN)},
)
"""The part of the SARIF 2.1.0 schema that our logs use, without additional properties."""

INVALID = sorted((ROOT / "tests" / "invalid").glob("*.kif"))


@pytest.fixture(scope="module")
def reports():
    found = [examine(str(path), Request()) for path in INVALID]
    return [*found, SheetReport("gone.kif", unreadable="gone.kif: no such file")]


def test_sarif_conforms_to_its_schema(reports):
    log = json.loads(to_sarif(reports))
    jsonschema.Draft7Validator.check_schema(SARIF)
    jsonschema.validate(log, SARIF)
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == list(CODES)
    assert len(run["results"]) == sum(len(report.diagnostics) for report in reports)
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    assert not run["invocations"][0]["executionSuccessful"]


def test_schema_detects_an_error(reports):
    log = json.loads(to_sarif(reports))
    log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"] = {"startLine": 0}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(log, SARIF)


def test_sarif_refers_to_files_by_uri():
    report = SheetReport("my games/5%.kif", diagnostics=[Diagnostic("GDL201", Severity.ERROR, "no roles")])
    uris = {"my games/5%.kif": "my%20games/5%25.kif", "-": "stdin", "/a/b.kif": "file:///a/b.kif"}
    for name, uri in uris.items():
        report.name = name
        (result,) = json.loads(to_sarif([report]))["runs"][0]["results"]
        assert result["locations"] == [{"physicalLocation": {"artifactLocation": {"uri": uri}}}]


def test_json_contains_locations_and_related_locations(reports):
    data = json.loads(to_json(reports))
    assert data["errors"] > 20
    (sheet,) = (sheet for sheet in data["sheets"] if sheet["file"].endswith("arity_differs.kif"))
    (diagnostic,) = sheet["diagnostics"]
    assert (diagnostic["code"], diagnostic["severity"]) == ("GDL301", "warning")
    assert (diagnostic["line"], diagnostic["column"], diagnostic["endLine"]) == (19, 5, 19)
    assert [related["line"] for related in diagnostic["related"]] == [17]
    assert data["sheets"][-1]["unreadable"] == "gone.kif: no such file"


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


@pytest.mark.skipif(
    not os.environ.get("GGP_SARIF_SCHEMA"),
    reason="no official SARIF schema: set GGP_SARIF_SCHEMA to its file",
)
def test_sarif_conforms_to_the_official_schema():
    schema = json.loads(Path(os.environ["GGP_SARIF_SCHEMA"]).read_text(encoding="utf-8"))
    validator = jsonschema.validators.validator_for(schema)
    sheets = [*INVALID, ROOT / "games" / "nim.kif", Path("gone.kif")]
    log = json.loads(to_sarif([examine(str(path), Request()) for path in sheets]))
    assert [error.message for error in validator(schema).iter_errors(log)] == []
    assert len(log["runs"][0]["results"]) > len(sheets)
