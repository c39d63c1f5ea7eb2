import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gdl.errors import GdlSyntaxError
from gdl.syntax.formatting import LINE_LENGTH, format_kif
from gdl.syntax.parser import parse, with_plain_lines
from gdl.syntax.printer import to_kif
from tests.conftest import CORPUS_SHEETS, OWN_GAMES, ROOT, line_end_forms, mostly_slow, needs_corpus
from tests.gdl.rule_strategies import programs


@pytest.mark.parametrize("path", OWN_GAMES, ids=lambda path: path.stem)
def test_own_game_is_in_canonical_layout(path):
    text = path.read_text(encoding="utf-8")
    assert format_kif(text) == text


@needs_corpus
@pytest.mark.parametrize("path", mostly_slow(CORPUS_SHEETS, 8), ids=lambda path: path.stem)
def test_corpus_sheet_keeps_its_meaning_and_formats_once(path):
    text = path.read_text(encoding="utf-8", errors="replace")
    formatted = format_kif(text)
    assert parse(formatted) == parse(text)
    assert parse(formatted).spellings == parse(text).spellings
    assert format_kif(formatted) == formatted


@needs_corpus
@pytest.mark.parametrize("path", mostly_slow(CORPUS_SHEETS, 15), ids=lambda path: path.stem)
def test_corpus_sheet_keeps_its_line_ends(path):
    text = with_plain_lines(path.read_text(encoding="utf-8", errors="replace"))
    formatted = format_kif(text)
    for form in line_end_forms(path):
        assert format_kif(form(text)) == form(formatted)


def test_layout_of_an_untidy_sheet():
    text = (ROOT / "tests" / "golden" / "untidy.kif").read_text(encoding="utf-8")
    expected = (ROOT / "tests" / "golden" / "untidy_formatted.kif").read_text(encoding="utf-8")
    assert format_kif(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("\n\n; only a comment  \n", "; only a comment\n"),
        ("(a)\n\n\n\n(b)\n(c)", "(a)\n\n(b)\n(c)\n"),
        ("\ufeff(a)\r\n(b)\r", "\ufeff(a)\r\n(b)\r\n"),
        ("(a)\r\r; one\r(b)", "(a)\r\r; one\r(b)\r"),
        ("(a)\n(b)\r\n", "(a)\n(b)\n"),
        ("(<= p (q ; why\n ))", "(<= p\n    (q))  ; why\n"),
        ("(<= p q\n; not yet (r)\n)", "(<= p\n    q\n    ; not yet (r)\n)\n"),
        ("(<= ; early\n p q)", "; early\n(<= p\n    q)\n"),
        ("(<= p ; head\n q ; body\n)", "(<= p  ; head\n    q)  ; body\n"),
        ("(p ; one\n) ; two", "(p)  ; one\n; two\n"),
        ("( ; one\n p ; two\n a)", "; one\n; two\n(p a)\n"),
        ("(<= p (or (q) (r)))", "(<= p\n    (or (q)\n        (r)))\n"),
        ("(<= (P ?X) (Q ?x))", "(<= (P ?X)\n    (Q ?x))\n"),
        ("(<= p (and))", "(<= p\n    (and))\n"),
    ],
)
def test_layout(text, expected):
    assert format_kif(text) == expected
    assert format_kif(expected) == expected


def test_long_terms_are_broken_and_aligned():
    row = "(row " + " ".join(f"(cell {x} occupied)" for x in range(8)) + ")"
    formatted = format_kif(f"(<= (next {row}) (true {row}))")
    assert max(map(len, formatted.split("\n"))) <= LINE_LENGTH
    assert "(<= (next (row (cell 0 occupied)\n" + " " * 15 + "(cell 1 occupied)\n" in formatted
    assert format_kif(formatted) == formatted


def test_deep_nesting_of_long_names_stays_small():
    text = "(" + "n" * 400 + " a " * 3
    text = "(p " + text * 100 + ")" * 101
    assert len(format_kif(text)) < 2 * len(text) + 100 * 400


def test_unreadable_text_is_rejected_with_its_place():
    with pytest.raises(GdlSyntaxError, match="sheet:1:1: error GDL101"):
        format_kif("(p", name="sheet")


comments = st.text("ab;() ", max_size=5).map(lambda text: f" ;{text}\n")
gaps = st.sampled_from([" ", "\n", "\n\n", "\n\n\n", "  \t"]) | comments


@pytest.mark.slow
@given(programs, st.data())
@settings(max_examples=300, deadline=None)
def test_any_layout_of_any_program_keeps_meaning_comments_and_result(program, data):
    words = to_kif(program).replace("(", " ( ").replace(")", " ) ").split()
    text = "".join([word + data.draw(gaps) for word in words])
    formatted = format_kif(text)
    assert parse(formatted, syntax="kif") == program
    assert format_kif(formatted) == formatted
    wanted = [line.split(";", 1)[1].rstrip() for line in text.split("\n") if ";" in line]
    assert sorted(line.split(";", 1)[1] for line in formatted.split("\n") if ";" in line) == sorted(wanted)
