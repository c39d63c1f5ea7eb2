"""`ggp validate` and `ggp format` from the command line: input, output and exit codes."""

import json
import os

import pytest
from click.testing import CliRunner

from gdl.syntax.formatting import FormattingError, format_kif
from gdl.validation.fixes import FIXES, Edit
from ggp.cli.main import app
from ggp.validation.sheet import examine
from tests.ggp.cli.conftest import ended, imported_by

WARNED = "(role r)\n(init a)\n(legal r m)\n(next a)\n(<= terminal\n    (true a))\n(goal r 100)\n(unused 1)\n"
FINE = WARNED.replace("(unused 1)\n", "")
BROKEN = FINE + "(legal r ?x)\n"


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def invoke(*arguments, stdin=None):
        result = CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)
        assert result.exception is None or isinstance(result.exception, SystemExit)
        return result

    return invoke


def write(folder, **sheets):
    for name, text in sheets.items():
        (folder / f"{name}.kif").write_text(text, encoding="utf-8")


def test_exit_codes(run, tmp_path):
    write(tmp_path, fine=FINE, warned=WARNED, broken=BROKEN)
    assert run("validate", "fine.kif").exit_code == 0
    assert run("validate", "--strict", "fine.kif").exit_code == 0
    assert run("validate", "warned.kif").exit_code == 0
    assert run("validate", "--strict", "warned.kif").exit_code == 1
    assert run("validate", "broken.kif", "fine.kif").exit_code == 1
    assert run("validate", "broken.kif", "gone.kif").exit_code == 2
    assert run("validate").exit_code == 2
    assert run("validate", "--record", "x.json", "fine.kif").exit_code == 2


def test_folders_are_searched_and_summarized(run, tmp_path):
    (tmp_path / "a" / "b").mkdir(parents=True)
    write(tmp_path / "a", fine=FINE)
    write(tmp_path / "a" / "b", warned=WARNED)
    (tmp_path / "a" / "notes.txt").write_text("(")
    result = run("validate", "a", "a/fine.kif")
    assert result.stdout.endswith("2 sheets: 1 clean, 0 errors, 1 warning\n")
    (tmp_path / "empty").mkdir()
    assert run("validate", "empty").exit_code == 2


def test_standard_input(run):
    result = run("validate", "-", stdin=BROKEN)
    assert result.exit_code == 1
    assert "<stdin>:8:10: error GDL205" in result.stdout
    assert run("validate", "-", stdin=FINE).exit_code == 0


def test_json_is_one_document(run, tmp_path):
    write(tmp_path, fine=FINE, broken=BROKEN)
    result = run("validate", "--format", "json", "fine.kif", "broken.kif")
    assert result.exit_code == 1
    json.loads(result.stdout)


def test_explain(run):
    result = run("validate", "--explain", "gdl207")
    assert result.exit_code == 0
    assert result.stdout.startswith("GDL207: negation in a cycle\n")
    assert "GDL208" not in result.stdout
    assert run("validate", "--explain", "GDL999").exit_code == 2
    result = run("validate", "--explain", "all")
    assert result.exit_code == 0
    assert "GDL304  warning  variable that occurs only once (off by default, fixable)\n" in result.stdout
    assert "GDL401  error    match that does not end (by playing)\n" in result.stdout


def test_selected_codes_decide_output_and_exit_code(run, tmp_path):
    write(tmp_path, warned=WARNED + "(<= (next a) (true ?x))\n")
    assert "GDL304" not in run("validate", "warned.kif").stdout
    assert "GDL304" in run("validate", "--select", "ALL", "warned.kif").stdout
    only = run("validate", "--select", "gdl307,GDL315", "warned.kif").stdout
    assert "GDL307" in only
    assert "GDL310" not in only
    assert run("validate", "--strict", "--select", "ALL,-GDL3", "warned.kif").exit_code == 0
    assert run("validate", "--select=-GDL9", "warned.kif").exit_code == 2


def test_faults_found_by_playing_can_be_deselected(run, tmp_path):
    endless = (
        "(role r) (init a) (legal r m) (next a) (<= terminal (true a) (true d)) (next c) (goal r 100)\n"
        "(<= (next d) (true e)) (<= (next e) (true d))"
    )
    options = ("--play", "--limit", "playouts=1,steps=5", "-")
    assert "GDL401" in run("validate", *options, stdin=endless).stdout
    assert "error GDL401" not in run("validate", "--select", "-GDL4", *options, stdin=endless).stdout


def test_fix_corrects_files(run, tmp_path):
    write(tmp_path, sheet=FINE + "(legal r m) ; twice\n(<= (next b)) ; a fact\n(<= (next c) (true b))\n")
    path = tmp_path / "sheet.kif"
    path.chmod(0o640)
    result = run("validate", "--fix", "sheet.kif")
    assert result.exit_code == 0
    assert "2 fixed" in result.stdout
    assert path.read_text() == FINE + "; twice\n(next b) ; a fact\n(<= (next c) (true b))\n"
    assert os.stat(path).st_mode & 0o777 == 0o640
    assert "fixed" not in run("validate", "--fix", "sheet.kif").stdout
    assert run("validate", "--fix", "-", stdin=FINE).exit_code == 2


@pytest.mark.parametrize(
    "content",
    [b"(role r", b"(role \xff) (<= (p))", b"(role r) (<= (p)) (<= q (not q))", b"role(r).\np :- q."],
)
def test_fix_leaves_broken_and_infix_sheets_unchanged(run, tmp_path, content):
    path = tmp_path / "odd.kif"
    path.write_bytes(content)
    run("validate", "--fix", "odd.kif")
    assert path.read_bytes() == content


def test_annotations(run, tmp_path):
    write(tmp_path, fine=FINE, warned=WARNED)
    assert run("validate", "--format", "github", "fine.kif").stdout == ""
    shown = run("validate", "--format", "github", "warned.kif").stdout
    assert shown.startswith("::warning file=warned.kif,line=8,")


def test_static_checks_import_no_compiler():
    script = ended(["validate", "nim"])
    assert imported_by(script, "numba", "numpy", "rich").endswith("no errors\n0\n[]\n")


def test_format_rewrites_files_once(run, tmp_path):
    untidy = FINE.replace("\n    ", " ")
    write(tmp_path, sheet=untidy)
    path = tmp_path / "sheet.kif"
    path.chmod(0o640)
    assert run("format", "--check", "sheet.kif").exit_code == 1
    assert path.read_text() == untidy
    assert run("format", "sheet.kif").exit_code == 0
    assert path.read_text() == FINE
    assert os.stat(path).st_mode & 0o777 == 0o640
    assert [entry.name for entry in tmp_path.iterdir()] == ["sheet.kif"]
    assert run("format", "--check", "sheet.kif").exit_code == 0


def test_format_from_standard_input(run):
    result = run("format", "-", stdin="(role   r)\r\n")
    assert result.exit_code == 0
    assert result.stdout_bytes == b"(role r)\r\n"


def test_fix_and_format_keep_line_ends_and_mark(run, tmp_path):
    path = tmp_path / "sheet.kif"
    for before, between, after in (("", "\r\n", "\r\n"), ("\ufeff", "\r\n", "\r\n"), ("", "\r", "\r")):
        text = before + FINE.replace("\n", between)
        path.write_bytes((text + "(<= (next \u00fc))" + after).encode())
        assert "1 fixed" in run("validate", "--fix", "sheet.kif").stdout
        assert path.read_bytes().decode() == text + "(next \u00fc)" + after
        assert run("format", "--check", "sheet.kif").exit_code == 0
        path.write_bytes(text.replace("(role r)", "(role  r)").encode())
        assert run("format", "sheet.kif").exit_code == 0
        assert path.read_bytes().decode() == text


def test_fix_separates_names_that_would_touch(run, tmp_path):
    glued = FINE.replace(
        "\n(goal r 100)", "\n(<= w(won))\n(init won)(<= won(true a))\n(<= (goal r 100)(not(w)))"
    )
    write(tmp_path, glued=glued, other=WARNED + "(unused 1)\n")
    result = run("validate", "--fix", "glued.kif", "other.kif")
    assert result.exit_code == 0
    assert "(<= w won)" in (tmp_path / "glued.kif").read_text()
    assert (tmp_path / "other.kif").read_text() == WARNED


def test_a_correction_that_would_change_the_rules_costs_no_other_file(run, tmp_path, monkeypatch):
    def wrong(program):
        yield from (
            (rule.span, [Edit(0, 8, "(role s)")]) for rule in program.rules if rule.predicate[0] == "unused"
        )

    monkeypatch.setitem(FIXES, "GDL309", wrong)
    write(tmp_path, first=WARNED, second=FINE + "(<= (next b))\n(<= (next c) (true b))\n")
    result = run("validate", "--fix", "first.kif", "second.kif")
    assert result.exit_code == 0
    assert "not fixed: the corrections would change the rules" in result.stdout
    assert (tmp_path / "first.kif").read_text() == WARNED
    assert "\n(next b)\n" in (tmp_path / "second.kif").read_text()


def test_a_layout_that_would_change_the_rules_costs_no_other_file(run, tmp_path, monkeypatch):
    def fail(text, name):
        if name == "first.kif":
            raise FormattingError(f"{name}: the canonical layout would change the rules")
        return format_kif(text, name=name)

    monkeypatch.setattr("ggp.cli.format.format_kif", fail)
    write(tmp_path, first="(role  r)", second=FINE.replace("\n    ", " "))
    result = run("format", "first.kif", "second.kif")
    assert result.exit_code == 1
    assert "first.kif: the canonical layout would change the rules: left unchanged" in result.stderr
    assert (tmp_path / "first.kif").read_text() == "(role  r)"
    assert (tmp_path / "second.kif").read_text() == FINE


@pytest.mark.parametrize(
    ("content", "code", "message"),
    [
        (b"(role r", 1, "GDL101"),
        (b"(role \xff)", 2, "not UTF-8"),
        (b"role(r).\nterminal :- true(a).\n", 2, "infix"),
    ],
)
def test_format_leaves_unreadable_files_unchanged(run, tmp_path, content, code, message):
    path = tmp_path / "odd.kif"
    path.write_bytes(content)
    result = run("format", "odd.kif")
    assert result.exit_code == code
    assert message in result.stderr
    assert path.read_bytes() == content


def test_json_reports_every_sheet_whatever_is_wrong_with_one(run, tmp_path, monkeypatch):
    write(tmp_path, fine=FINE, broken=BROKEN, open="(role r", deep="(a " * 5000)
    (tmp_path / "binary.kif").write_bytes(bytes(range(256)))
    names = ["gone.kif", "open.kif", "binary.kif", "deep.kif", "/dev/null", "broken.kif", "fine.kif"]
    result = run("validate", "--format", "json", *names)
    assert result.exit_code == 2
    sheets = json.loads(result.stdout)["sheets"]
    assert len(sheets) == len(names)
    assert ["unreadable" in sheet for sheet in sheets] == [True, False, False, False, True, False, False]
    assert sheets[1]["diagnostics"][0]["edits"] == [
        {"line": 1, "column": 8, "endLine": 1, "endColumn": 8, "newText": ")"}
    ]

    def fail(name, request, really=examine):
        if name == "open.kif":
            raise RecursionError
        return really(name, request)

    monkeypatch.setattr("ggp.cli.validate.examine", fail)
    sheets = json.loads(run("validate", "--format", "json", *names).stdout)["sheets"]
    assert sheets[1]["unreadable"] == "open.kif: too large to check (RecursionError)"
    assert sheets[-2]["diagnostics"]
