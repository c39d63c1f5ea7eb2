"""The documentation is true: its links lead somewhere, its commands and its Python run."""

import re
import shlex
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner

from docs.links import GENERATED, ROOT, pages, prose_lines, resolve, targets
from docs.reference_pages import command_line_page, diagnostics_list, player_options_page
from ggp.cli.main import app
from ggp.players.options import PLAYERS, describe_options
from ggp.validation.output import CODES
from tests.ggp.cli.conftest import all_commands
from tests.test_layers import FLOORS

TESTED_ELSEWHERE = ("docs/guides/writing-games.md", "docs/api.md", "docs/lectures.md")
"""Pages with tests of their own that compare output (test_writing_games.py, and so on)."""

LONGEST_ESSAY = 900
SLOW_COMMANDS = {"tournament", "match", "solve", "bench", "games"}
"""Commands that compile kernels or play."""

PAGES = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in pages()}
LINKS = sorted(
    {(page, target) for page, text in PAGES.items() for target in targets(text) if resolve(page, target)}
)


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGES[page], flags=re.DOTALL | re.MULTILINE)


def commands_of(page: str) -> list[list[str]]:
    lines = [line for block in blocks(page, "console") for line in block.splitlines()]
    return [shlex.split(line[2:]) for line in lines if line.startswith("$ ")]


def page_parameters() -> list[object]:
    """Pages with console commands, marked slow unless every command is quick."""
    parameters = []
    for page in PAGES:
        used = {command[1] for command in commands_of(page)}
        if used and page not in TESTED_ELSEWHERE:
            marks = [pytest.mark.slow] if used & SLOW_COMMANDS and page != "README.md" else []
            parameters.append(pytest.param(page, id=page, marks=marks))
    return parameters


@cache
def anchors(page: str) -> frozenset[str]:
    """Anchors of a page's headings, as the site and the usual hosts spell them."""
    text = (ROOT / page).read_text(encoding="utf-8")
    headings = [
        re.sub(r"[`*]", "", line.lstrip("# "))
        for prose, line in prose_lines(text)
        if prose and line[:1] == "#"
    ]
    return frozenset(
        re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings
    )


@pytest.mark.parametrize(("page", "target"), LINKS)
def test_link_leads_somewhere(page: str, target: str) -> None:
    found = resolve(page, target)
    assert found is not None
    path, anchor = found
    assert path in GENERATED or (ROOT / path).exists()
    assert not anchor or path in GENERATED or anchor in anchors(path)


@pytest.mark.parametrize("page", [page.relative_to(ROOT).as_posix() for page in pages()])
def test_no_link_is_broken_over_two_lines(page: str) -> None:
    """Links are rewritten for the site line by line."""
    lines = (ROOT / page).read_text(encoding="utf-8")
    broken = [
        line for is_prose, line in prose_lines(lines) if is_prose and line.count("](") > len(targets(line))
    ]
    assert not broken


@pytest.mark.parametrize("page", page_parameters())
def test_console_commands_succeed(page: str, tmp_path, monkeypatch) -> None:
    """The commands of a page run in order in one folder, with its rule sheet, as a reader would run them."""
    (tmp_path / "games").symlink_to(ROOT / "games")
    (tmp_path / "takeaway.kif").write_text("\n".join(blocks(page, "kif")), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for program, *arguments in commands_of(page):
        assert program == "ggp"
        arguments, redirected = _split_redirection(arguments)
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == 0, f"{arguments}: {result.output}"
        assert result.output.strip()
        for file in redirected:
            Path(file).write_bytes(result.stdout_bytes)


def _split_redirection(arguments: list[str]) -> tuple[list[str], list[str]]:
    """A command before and after `>`."""
    at = arguments.index(">") if ">" in arguments else len(arguments)
    return arguments[:at], arguments[at + 1 :]


PYTHON_PAGES = [page for page in PAGES if page not in TESTED_ELSEWHERE and blocks(page, "python")]


@pytest.mark.parametrize("page", PYTHON_PAGES)
def test_python_blocks_run(page: str, capsys, monkeypatch) -> None:
    """The Python blocks of a page run in order, as one program that prints something."""
    monkeypatch.chdir(ROOT)
    names: dict[str, object] = {"__name__": "example"}
    for code in blocks(page, "python"):
        exec(compile(code, page, "exec"), names)
        assert capsys.readouterr().out.strip()


SHELL_PAGES = [
    page
    for page in PAGES
    if page != "CHANGELOG.md" and (blocks(page, "bash") or "`ggp " in PAGES[page])  # it names what was
]


@pytest.mark.parametrize("page", SHELL_PAGES)
def test_options_of_shell_commands_exist(page: str) -> None:
    """Commands that no test runs, in `bash` blocks and in prose, use options that click knows."""
    lines = [line for block in blocks(page, "bash") for line in block.splitlines()]
    lines += re.findall(r"`(ggp [a-z][^`]*)`", PAGES[page])
    unknown = {
        option
        for line in lines
        for command in re.split(r"[&|;]|#.*", line)
        for option in unknown_options(command.split())
    }
    assert not unknown


def unknown_options(words: list[str]) -> list[str]:
    """Options of `ggp COMMAND [SUBCOMMAND] …` that the command does not have; a wrong COMMAND counts as one.

    >>> unknown_options("ggp solve nim --memory 64 --mebibytes=64".split())
    ['--mebibytes=64']
    """
    if len(words) < 2 or words[0].rpartition("/")[2] != "ggp" or not words[1].islower() or words[1] == "help":
        return []
    commands = dict(all_commands())
    default = {"tournament": "tournament run", "games": "games list"}.get(words[1], words[1])
    command = commands.get(" ".join(words[1:3]), commands.get(default))
    if command is None:
        return [words[1]]
    known = {"--help", *(name for each in command.params for name in (*each.opts, *each.secondary_opts))}
    return [word for word in words[2:] if word.startswith("--") and word.partition("=")[0] not in known]


@pytest.mark.parametrize("page", [page for page in PAGES if page.startswith(("docs/", "README"))])
def test_options_named_alone_exist(page: str) -> None:
    """`--option` in prose is an option of some command, or of the program named in the allow-list."""
    named = set(re.findall(r"`(--[a-z][a-z-]*)", PAGES[page]))
    options = [param for _, each in all_commands() for param in each.params]
    assert named <= {name for param in options for name in (*param.opts, *param.secondary_opts)}


def test_readme_shows_commands_for_every_use() -> None:
    shown = {command[1] for command in commands_of("README.md")}
    assert shown >= {"match", "validate", "games", "bench", "solve"}


@pytest.mark.parametrize("page", [page for page in PAGES if page.startswith("docs/how-it-works/")])
def test_essay_is_short_and_has_a_picture(page: str) -> None:
    text = PAGES[page]
    prose = re.sub(r"\]\([^)]*\)", "]", text)
    assert len([word for word in prose.split() if re.search(r"\w", word)]) <= LONGEST_ESSAY
    assert "](../pictures/" in text


@pytest.mark.parametrize("page", PAGES)
def test_files_and_modules_named_exist(page: str) -> None:
    """Files and modules named in the docs exist, unless the paragraph cites the last commit that had them."""
    text = "\n".join(part for part in re.split(r"\n(?=\* |\n)", PAGES[page]) if not CITES_COMMIT.search(part))
    missing = [path for path in FILE_NAMED.findall(text) if not list(ROOT.glob(path.rstrip("/")))]
    missing += [name for name in re.findall(r"`([a-z_]+\.py)`", text) if name not in file_names()]
    missing += [name for name in MODULE_NAMED.findall(text) if not is_in_the_code(name)]
    assert not missing


FILE_NAMED = re.compile(r"`((?:gdl|ggp|tests|benchmarks|docs|experiments|fuzz|games)/[\w./-]*\w/?)[` ]")
CITES_COMMIT = re.compile(r"last\s+in\s+[0-9a-f]{7}")
MODULE_NAMED = re.compile(r"`((?:gdl|ggp)(?:\.[a-z_0-9]+)*\.\w+)[`(]")


@cache
def file_names() -> frozenset[str]:
    return frozenset(
        path.name for package in ("gdl", "ggp", "docs") for path in (ROOT / package).rglob("*.py")
    )


def is_in_the_code(name: str) -> bool:
    """Whether a dotted name is a module, or a name that stands in one."""
    path, *parts = name.split(".")
    place = ROOT / path
    while parts and (place / parts[0]).is_dir():
        place /= parts.pop(0)
    if parts and (place / f"{parts[0]}.py").is_file():
        place /= f"{parts.pop(0)}.py"
    source = place / "__init__.py" if place.is_dir() else place
    return all(part in source.read_text(encoding="utf-8") for part in parts)


def test_architecture_names_every_room_on_its_floor() -> None:
    rows = dict(re.findall(r"^\| (\d+) \| ([^|]*) \|", PAGES["docs/architecture.md"], flags=re.MULTILINE))
    for number, floor in enumerate(FLOORS, 1):
        rooms = {room.removeprefix("ggp.") for room in floor} - {"ggp.__main__", "__main__"}
        rooms = {room.partition(".")[0] for room in rooms}
        assert set(re.findall(r"`(\w+)`", rows[str(number)])) == rooms


def test_generated_pages_name_every_command_and_option() -> None:
    page = command_line_page()
    for name, command in all_commands():
        assert f"\n## ggp {name}\n" in page
        shown = [each for each in command.params if not getattr(each, "hidden", False)]
        options = [option for each in shown for option in each.opts if option.startswith("--")]
        assert all(f"`{option}" in page or f", {option}" in page for option in options)
    options_page = player_options_page()
    for kind in PLAYERS:
        assert f"\n## {kind}\n" in options_page
        assert all(f"\n| `{row.name}` |" in options_page for row in describe_options(kind))


def test_generated_diagnostics_explain_every_code() -> None:
    listed = diagnostics_list()
    for code, title in CODES.items():
        assert re.search(rf"^### {code}: {re.escape(title)}\n\n\S", listed, re.MULTILINE)


def test_navigation_lists_every_page() -> None:
    """The site's build refuses links and pages that are missing; this says so without mkdocs."""
    listed = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for page in PAGES:
        path = "index.md" if page == "README.md" else page.removeprefix("docs/")
        assert path in listed, f"{page} is not in mkdocs.yml"
