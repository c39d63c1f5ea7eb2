"""Hooks of the documentation site, called by mkdocs (see mkdocs.yml).

They add the files outside docs/ and the generated reference pages and lists, and rewrite links from places in
the repository to places on the site.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from docs.links import GENERATED, ROOT, outside_files, rewrite, site_path
from docs.reference_pages import command_line_page, diagnostics_list, games_table, player_options_page

WRITERS = dict(zip(GENERATED, (command_line_page, player_options_page), strict=True))
LISTS = {
    "docs/reference/games.md": ("<!-- table of games -->", games_table),
    "docs/reference/diagnostics.md": ("<!-- diagnostics -->", diagnostics_list),
}
"""What is generated inside a page, and the line that it replaces."""
_repository_path: dict[str, str] = {}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Drop navigation entries without a page."""
    known = {site_path(path) for path in (*outside_files(), *GENERATED)}
    known |= {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}

    def existing(entry: Any) -> Any:
        if isinstance(entry, str):
            return entry if entry in known else None
        ((title, content),) = entry.items()
        if isinstance(content, list):
            return {title: [kept for each in content if (kept := existing(each)) is not None]}
        return entry if content in known else None

    config.nav = [kept for each in config.nav or [] if (kept := existing(each)) is not None]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the files outside docs/ and the generated pages."""
    _repository_path.clear()
    for file in files:
        _repository_path[file.src_uri] = f"docs/{file.src_uri}"
    for path in outside_files():
        added = File.generated(config, site_path(path), abs_src_path=str(ROOT / path))
        _repository_path[added.src_uri] = path
        files.append(added)
    for path, writer in WRITERS.items():
        added = File.generated(config, site_path(path), content=writer())
        _repository_path[added.src_uri] = path
        files.append(added)
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Insert generated lists, and rewrite links for the site."""
    path = _repository_path[page.file.src_uri]
    if path in LISTS:
        place, writer = LISTS[path]
        before, found, after = markdown.partition(place)
        assert found, f"{path} has no line {place}"
        markdown = f"{before}{writer()}{after}"
    return rewrite(path, markdown)
