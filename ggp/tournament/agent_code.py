"""Digest of an agent's files, so that results of different versions are not mixed.

It covers the files that a player spec names: the module of a class, the words of a `text:` command, and the
values of options. A Python file includes the modules next to it that it imports, directly or not; an agent in
a package includes all modules of the package.
"""

from __future__ import annotations

import hashlib
import shlex
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from importlib.machinery import PathFinder
from modulefinder import ModuleFinder
from pathlib import Path

from ggp.players.own import own_place


def code_digest(player: str) -> str:
    """Digest of the files that the spec `player` names, with their imports; empty without files.

    Players over HTTP have none: their files are elsewhere.

    >>> code_digest("mcts:c=40"), code_digest("http://localhost:9147")
    ('', '')
    """
    digest, files = hashlib.sha256(), sorted(set(_files(player)))
    for path in files:
        status = path.stat()
        digest.update(f"{path.name} {_file_digest(path, status.st_mtime_ns, status.st_size)}\n".encode())
    return digest.hexdigest()[:16] if files else ""


@lru_cache(maxsize=1024)
def _file_digest(path: Path, changed_ns: int, size: int) -> str:
    """The digest of a file, cached by its time and size."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _files(player: str) -> Iterator[Path]:
    if player.startswith("http://"):
        return
    place = own_place(player)
    if place is not None and not place.endswith(".py"):
        yield from _module_files(place)
    for path in map(Path, [*_named(player, place), *([place] if place else [])]):
        if path.suffix == ".py" and path.is_file():
            yield from _with_imports(path.absolute())
        elif path.is_file():
            yield path.absolute()


def _named(player: str, place: str | None) -> list[str]:
    """Parts of a spec, other than `place`, that may be files: values of options, or words of a command."""
    options = player[len(place) + 1 :] if place else player
    kind, _, rest = options.partition(":")
    if kind == "text":
        with suppress(ValueError):  # an unclosed quotation mark
            return shlex.split(rest)
    return [part.partition("=")[2].strip() for part in rest.split(",")]


def _module_files(name: str) -> Iterator[Path]:
    """The files of an importable module, or of its package; empty for our own modules."""
    found = PathFinder.find_spec(name.partition(".")[0], [*sys.path, str(Path.cwd())])
    if found is None or found.name == "ggp":  # `code_version` identifies our own code
        return
    for folder in found.submodule_search_locations or ():
        yield from Path(folder).rglob("*.py")
    if found.origin and not found.submodule_search_locations:
        yield from _with_imports(Path(found.origin))


def _with_imports(path: Path) -> set[Path]:
    """A Python file with its direct and indirect imports from its own folder."""
    finder = ModuleFinder([str(path.parent)])
    with suppress(SyntaxError, ValueError):  # reported when the agent is made
        finder.run_script(str(path))
    files = (getattr(each, "__file__", None) for each in finder.modules.values())
    return {path, *map(Path, filter(None, files))}
