"""Pages whose commands and Python are run: what they print is what the page shows.

`python docs/executed.py docs/lectures.md` runs a page and writes what is printed now into it, and pictures
that its commands draw (`--svg NAME.svg`) into docs/pictures/lectures/. `tests/test_lectures.py` compares.

    ```console                 commands, each with its output; `...` stands for anything, as in doctests
    ```pycon                   a session of Python
    ```kif title="NAME.kif"    a file that later blocks of the section use, and so for any language
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from click.testing import CliRunner

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from docs.links import ROOT
from ggp.cli.main import app

PICTURES = ROOT / "docs" / "pictures" / "lectures"
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
_SECTION = re.compile(r"^## ([^\n]*)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_BLOCK = re.compile(r'^```(\w+)(?: title="([\w.]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(r"^\$ (ggp .*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
_SECONDS = re.compile(r"\d[\d.,]* s\b( \([^()\n]*/s\))?")


class Shown(NamedTuple):
    """A command or an example of Python, the output that the page shows, and what is printed now."""

    source: str
    expected: str
    printed: str

    @property
    def is_true(self) -> bool:
        return doctest.OutputChecker().check_output(self.expected, self.printed, OPTIONS)


def sections(page: str) -> dict[str, str]:
    """Heading of each section → its text."""
    return dict(_SECTION.findall(page))


def run_section(text: str, folder: Path) -> Iterator[Shown]:
    """Run the blocks of a section in order, in a folder."""
    names: dict[str, object] = {"__name__": "lectures"}
    with contextlib.chdir(folder):
        for language, title, code in _BLOCK.findall(text):
            if title:
                (folder / title).write_text(code, encoding="utf-8")
            elif language == "console":
                for command, expected in _COMMAND.findall(code):
                    yield Shown(command, expected, _run_command(command))
            elif language == "pycon":
                yield from _run_python(code, names)


def _run_command(command: str) -> str:
    result = CliRunner(env={"COLUMNS": "100", "TERM": "dumb"}).invoke(app, shlex.split(command)[1:])
    if result.exit_code:
        raise RuntimeError(f"{command}: {result.output or result.exception!r}")
    return result.stdout


def _run_python(code: str, names: dict[str, object]) -> Iterator[Shown]:
    """The examples of a session; they share their names."""
    for example in doctest.DocTestParser().get_examples(code):
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(example.source, "docs", "single"), names)
        yield Shown(example.source, example.want, printed.getvalue())


def rewritten(page: str) -> str:
    """The page with what is printed now, where it shows something else; pictures are replaced.

    Raises ValueError for output that the page shows in part, if it is no longer true: only its author knows
    which part to show.
    """
    for text in sections(page).values():
        with tempfile.TemporaryDirectory() as place:
            for shown in run_section(text, Path(place)):
                if not shown.is_true and "...\n" in shown.expected:
                    raise ValueError(f"no longer printed: {shown.source}\n{shown.expected}")
                if not shown.is_true:
                    page = _replaced(page, shown)
            for picture in Path(place).glob("*.svg"):
                PICTURES.mkdir(exist_ok=True)
                shutil.copy(picture, PICTURES / picture.name)
    return page


def _replaced(page: str, shown: Shown) -> str:
    prefix = "$ " if shown.source.startswith("ggp ") else ""
    lines = [line.rstrip() for line in _SECONDS.sub("...", shown.printed).splitlines()]
    source = f"{prefix}{shown.source}\n" if prefix else _prompted(shown.source)
    before = f"{source}{shown.expected}"
    assert page.count(before) == 1, f"shown {page.count(before)} times: {before}"
    return page.replace(before, source + "".join(f"{line}\n" for line in lines))


def _prompted(source: str) -> str:
    first, *rest = source.splitlines()
    return "".join(
        f"{prompt}{line}".rstrip() + "\n" for prompt, line in [(">>> ", first), *(("... ", x) for x in rest)]
    )


if __name__ == "__main__":
    os.environ.setdefault("GGP_NATIVE", "0")
    for name in sys.argv[1:]:
        path = Path(name)
        path.write_text(rewritten(path.read_text(encoding="utf-8")), encoding="utf-8")
