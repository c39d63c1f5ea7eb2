"""Links between Markdown files: as written in the repository, and as the site needs them.

Pages link to each other by their place in the repository, so that links work wherever the files are browsed.
The site has docs/ as its root, README.md as its home page, and the other folders under their own names.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

GENERATED = ("docs/reference/command-line.md", "docs/reference/player-options.md")
"""Pages that exist only on the site; `docs/reference_pages.py` writes them."""

OUTSIDE = (
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "LICENSE",
    "results/**/*.*",
    "games/*.kif",
    "experiments/*.*",
)
"""Files outside docs/ that belong to the site."""

_LINK = re.compile(r"(!?\[(?:[^\]\\]|\\.)*\]\()([^)\s]+)(\))")
_ELSEWHERE = re.compile(r"[a-z]+:|#")


def outside_files() -> list[str]:
    """Repository paths of the site's files that are not in docs/, sorted.

    >>> "games/nim.kif" in outside_files()
    True
    """
    return sorted(
        path.relative_to(ROOT).as_posix()
        for pattern in OUTSIDE
        for path in ROOT.glob(pattern)
        if path.is_file()
    )


def site_path(repository_path: str) -> str:
    """Path of a file on the site.

    >>> site_path("docs/start.md"), site_path("README.md"), site_path("games/nim.kif")
    ('start.md', 'index.md', 'games/nim.kif')
    """
    if repository_path == "README.md":
        return "index.md"
    return repository_path.removeprefix("docs/")


def pages() -> list[Path]:
    """Every Markdown file of the documentation."""
    found = [ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")]
    return found + sorted((ROOT / "docs").rglob("*.md")) + sorted((ROOT / "results").rglob("*.md"))


def prose_lines(markdown: str) -> Iterator[tuple[bool, str]]:
    """Lines of a page, each with whether it is prose rather than inside a code block."""
    is_code = False
    for line in markdown.split("\n"):
        is_fence = line.lstrip().startswith("```")
        yield not (is_code or is_fence), line
        is_code ^= is_fence


def targets(markdown: str) -> list[str]:
    """Link targets in the prose of a page, external ones included."""
    return [
        match[2] for is_prose, line in prose_lines(markdown) if is_prose for match in _LINK.finditer(line)
    ]


def resolve(page: str, target: str) -> tuple[str, str] | None:
    """Repository path and anchor that a link in `page` leads to; None for external links.

    >>> resolve("docs/guides/solve.md", "../start.md#install")
    ('docs/start.md', 'install')
    """
    if target.startswith("#"):
        return page, target[1:]
    if _ELSEWHERE.match(target):
        return None
    path, _, anchor = target.partition("#")
    return posixpath.normpath(posixpath.join(posixpath.dirname(page), path)), anchor


def rewrite(page: str, markdown: str) -> str:
    """The page with its links as the site needs them.

    >>> rewrite("docs/start.md", "[home](../README.md), [solved](../results/solved.md#memory)")
    '[home](index.md), [solved](results/solved.md#memory)'
    """

    def replace(match: re.Match[str]) -> str:
        found = None if match[2].startswith("#") else resolve(page, match[2])
        if found is None:
            return match[0]
        folder = posixpath.dirname(site_path(page)) or "."
        path = posixpath.relpath(site_path(found[0]), folder)
        return f"{match[1]}{path}{'#' if found[1] else ''}{found[1]}{match[3]}"

    return _map_prose(markdown, lambda line: _LINK.sub(replace, line))


def _map_prose(markdown: str, change: Callable[[str], str]) -> str:
    return "\n".join(change(line) if is_prose else line for is_prose, line in prose_lines(markdown))
