"""docs/api.md is true: its Python prints what is shown, section by section, and its commands succeed."""

from __future__ import annotations

import doctest
import re
import shlex
import sys

import pytest
from click.testing import CliRunner

import ggp
from ggp.cli.main import app
from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## ([^\n]*)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.mark.parametrize("title", SECTIONS)
def test_section_of_the_api_page_is_true(title, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    names = {"ggp": ggp, "game": ggp.load("tictactoe")}
    blocks = BLOCK.findall(SECTIONS[title])
    assert blocks
    for kind, text in blocks:
        if kind == "python":
            exec(compile(text, title, "exec"), names)
            file = re.match(r"# (\w+\.py)\n", text)
            if file:
                (tmp_path / file[1]).write_text(text)
        elif kind == "pycon":
            test = doctest.DocTestParser().get_doctest(text, names, title, "docs/api.md", 0)
            result = doctest.DocTestRunner(optionflags=OPTIONS).run(test, clear_globs=False)
            assert not result.failed, f"{title}: {result.failed} examples failed (output above)"
            names.update(test.globs)
        else:
            assert kind == "console"
            for command in re.findall(r"^\$ ggp (.*)$", text, re.MULTILINE):
                ran = CliRunner().invoke(app, shlex.split(command))
                assert ran.exit_code == 0, ran.output


def test_every_section_fits_on_a_screen():
    assert max(len(text.splitlines()) for text in SECTIONS.values()) <= 50


def test_every_public_name_is_on_the_page_or_explains_itself():
    shown = {name for name in ggp.__all__ if re.search(rf"\b{name}\b", PAGE)}
    rest = set(ggp.__all__) - shown
    assert not {name for name in rest if name[0].islower()}, "functions that docs/api.md does not show"
