"""Suggested edits: each one removes the finding it is for, and none is suggested that breaks the sheet."""

import random

import pytest

from gdl.errors import GdlSyntaxError
from gdl.syntax.brackets import Lines
from gdl.syntax.parser import parse
from gdl.validation import Selection, validate
from gdl.validation.fixes import FIXES, _meaning
from gdl.validation.repairs import EXPECTED, repairs
from tests.conftest import ROOT

SHEETS = sorted((ROOT / "tests" / "invalid").glob("*.kif"))
TEXT = (ROOT / "games" / "tictactoe.kif").read_text(encoding="utf-8")


def found_in(text):
    """The source and its diagnostics, those included that have to be selected."""
    try:
        program = parse(text)
    except GdlSyntaxError as error:
        return error.source, error.diagnostics
    return program.source, validate(program, Selection(("ALL",)))


def repaired(text):
    """Each finding with its repair."""
    source, diagnostics = found_in(text)
    return list(zip(diagnostics, repairs(source, diagnostics), strict=True))


def edited(text, edits):
    lines = Lines(text)
    for span, new in reversed(edits):
        start, end = lines.offsets(span)
        text = text[:start] + new + text[end:]
    return text


@pytest.mark.parametrize("path", SHEETS, ids=lambda path: path.stem)
def test_edits_remove_the_finding(path):
    source, diagnostics = found_in(path.read_bytes().decode("utf-8", "replace"))
    for diagnostic, repair in zip(diagnostics, repairs(source, diagnostics), strict=True):
        if not repair.edits:
            continue
        new = edited(source.text, repair.edits)
        codes = [each.code for each in diagnostics]
        assert [each.code for each in found_in(new)[1]].count(diagnostic.code) < codes.count(diagnostic.code)
        assert repair.keeps_meaning == (diagnostic.code in FIXES)
        if repair.keeps_meaning:
            assert _meaning(parse(new)) == _meaning(parse(source.text))


def test_codes_that_can_be_fixed_and_likely_slips_have_edits():
    texts = (path.read_bytes().decode("utf-8", "replace") for path in SHEETS)
    edited_codes = {found.code for text in texts for found, repair in repaired(text) if repair.edits}
    assert edited_codes >= {*FIXES, "GDL101", "GDL102", "GDL104", "GDL204", "GDL306", "GDL325"}


@pytest.mark.parametrize(
    ("broken", "mended"),
    [
        ("(role x)\n(legal x (mark 1)\n(role o)", "(role x)\n(legal x (mark 1))\n(role o)"),
        (
            "(<= terminal\n    (true (a b)) ; the end\n\n; next\n",
            "(<= terminal\n    (true (a b))) ; the end\n\n; next\n",
        ),
        ("(role x)\nlegal x wait)\n", "(role x)\n(legal x wait)\n"),
        ("(role x))\n(role o)", "(role x)\n(role o)"),
    ],
)
def test_parenthesis_is_put_where_it_is_likely_missing(broken, mended):
    ((_, repair),) = repaired(broken)
    assert edited(broken, repair.edits) == mended
    assert not repair.keeps_meaning


def test_parentheses_are_placed_where_more_are_missing_than_are_reported():
    text = "(<= (a b) (c d)\n" * 30
    found = repaired(text)
    assert all(repair.edits for _, repair in found)
    assert edited(text, found[0][1].edits).startswith("(<= (a b) (c d))\n(<= (a b) (c d)\n")


def test_misspelled_names_are_replaced_in_any_letter_case():
    text = "(role White) (role black)\n(<= (legal Whyte (put 1)) (true free))"
    found = {diagnostic.code: repair for diagnostic, repair in repaired(text)}
    assert "(legal white (put 1))" in edited(text, found["GDL212"].edits)
    assert found["GDL212"].text == "Whyte"


def test_expected_forms_are_those_of_the_keyword():
    found = repaired("(role x) (<= (legal x) (true a b))")
    assert [repair.expected for diagnostic, repair in found if diagnostic.code == "GDL202"] == [
        ("(legal robot (mark 1))",),
        ("(true (cell 1 b))",),
    ]
    assert all(len(forms) > 0 for forms in EXPECTED.values())


@pytest.mark.parametrize("seed", range(40))
def test_sheets_broken_at_random_get_repairs_for_every_finding(seed):
    rng = random.Random(seed)
    text = TEXT
    for _ in range(rng.randint(1, 6)):
        place = rng.randrange(len(text))
        text = text[:place] + rng.choice(["", "(", ")", "?", " ", "x", "\x00", ";", "'"]) + text[place + 1 :]
    source, diagnostics = found_in(text)
    found = list(repairs(source, diagnostics))
    assert len(found) == len(diagnostics)
    assert all(edited(source.text, repair.edits) != source.text for repair in found if repair.edits)
