"""From a path, a game's name or rule text to a `Game`."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gdl.errors import GdlError, GroundingError
from gdl.parser import parse, parse_file
from gdl.program import Program
from gdl.validation.growth import growing_rule
from ggp.game import Game

if TYPE_CHECKING:
    from ggp.compilation import CompilationLimits, Progress

_logger = logging.getLogger("ggp")

ENGINES = ("auto", "lanes", "reasoner", "prolog")


class RulesNotFoundError(GdlError):
    """No file and no game of that name."""


def own_game_folders() -> Iterator[Path]:
    """Where the games of this package are: beside the sources, or in the installed package."""
    here = Path(__file__).resolve().parent
    for folder in (here.parent / "games", here / "games"):
        if folder.is_dir():
            yield folder


def game_folders() -> Iterator[Path]:
    """Where games are looked up by name: `games/` here, then those of this package."""
    if Path("games").is_dir():
        yield Path("games")
    yield from own_game_folders()


def find_own_rules(name: str) -> Path:
    """The rule sheet of that name in this package, whatever is in the current folder.

    Raises RulesNotFoundError.
    """
    for folder in own_game_folders():
        if (folder / f"{name}.kif").is_file():
            return folder / f"{name}.kif"
    raise RulesNotFoundError(f"{name}: this package has no such game")


def find_rules(name: str | Path) -> Path:
    """The rule sheet called `name`: a path, or a game of `games/` with or without `.kif`.

    Raises RulesNotFoundError, naming games that are there.
    """
    path = Path(name)
    if str(name) in ("", "-"):
        raise RulesNotFoundError(f"{str(name)!r} is no rule sheet; a file or the name of a game is wanted")
    if path.is_file():
        return path
    if path.is_dir():
        raise RulesNotFoundError(f"{name} is a folder; a rule sheet is wanted")
    if path.exists():
        raise RulesNotFoundError(f"{name} is a pipe or a device; a rule sheet, in a regular file, is wanted")
    known: set[str] = set()
    for folder in game_folders():
        for candidate in (folder / path.name, folder / f"{path.name}.kif"):
            if path.parent == Path() and candidate.is_file():
                return candidate
        known.update(sheet.stem for sheet in folder.glob("*.kif"))
    close = get_close_matches(path.stem, known, n=3)
    hint = f" Do you mean {' or '.join(close)}?" if close else ""
    if known and not close:
        hint = f" Known games: {', '.join(sorted(known))}."
    raise RulesNotFoundError(f"{name}: there is no such file or game.{hint}")


def read_program(path_or_text: str | Path, name: str | None = None) -> tuple[Program, str]:
    """The program in a file, in `games/` or in the text itself, and the game's name.

    Text with a line break is never taken for a name.
    Raises RulesNotFoundError, OSError, GdlSyntaxError.
    """
    if isinstance(path_or_text, str) and _is_text(path_or_text):
        return parse(path_or_text, name=name or "<rules>"), name or "game"
    path = find_rules(path_or_text)
    return parse_file(path), name or path.stem


def _is_text(words: str) -> bool:
    """Whether these are rules: they have line breaks or parentheses, and are not the name of a file."""
    if "\n" in words:
        return True
    if "(" not in words or words.endswith(".kif"):
        return False
    try:
        return not Path(words).is_file()
    except OSError:  # too long for a name
        return True


def _require_finite(program: Program) -> None:
    """Raise GroundingError where terms may grow for ever: grounding would only end at its limits."""
    rule = growing_rule(program)
    if rule is not None:
        place = f"{program.source.name}:{rule.span.line}: " if rule.span else ""
        raise GroundingError(f"{place}terms may grow without limit by the rule for {rule.predicate}")


def load(
    path_or_text: str | Path,
    engine: str = "auto",
    *,
    name: str | None = None,
    limits: CompilationLimits | None = None,
    use_cache: bool = True,
    progress: Progress | None = None,
) -> Game[Any]:
    """The game described by a file, a game's name or rule text, ready to be played.

    engine      "lanes" the rules as a circuit, fast; "reasoner" exact and slow; "prolog" (extra) the same
                rules under SWI-Prolog; "auto" lanes, or where they cannot be built the reasoner with a
                warning of the logger `ggp`
    limits      what compiling for lanes may cost
    use_cache   whether compiled games are kept in the user's cache folder
    progress    gets a few words on what compiling is at

    Raises RulesNotFoundError, OSError, GdlSyntaxError, GdlValidationError, ValueError (unknown
    engine); with engine "lanes" also GroundingError and CircuitError.
    """
    if engine not in ENGINES:
        raise ValueError(f"unknown engine {engine!r}: one of {', '.join(ENGINES)}")
    program, game_name = read_program(path_or_text, name)
    return make_game(program, game_name, engine, limits=limits, use_cache=use_cache, progress=progress)


def make_game(
    program: Program,
    name: str = "game",
    engine: str = "auto",
    *,
    limits: CompilationLimits | None = None,
    use_cache: bool = True,
    progress: Progress | None = None,
) -> Game[Any]:
    """A program as a game; arguments and errors as for `load`."""
    if engine == "prolog":
        from ggp.prolog_game import PrologGame

        return PrologGame(program, name)
    if engine in ("auto", "lanes"):
        from ggp.circuit import CircuitError
        from ggp.compilation import compile_game

        try:
            _require_finite(program)
            return compile_game(program, name, limits, use_cache=use_cache, progress=progress)
        except (GroundingError, CircuitError) as error:
            if engine == "lanes":
                raise
            first_line = str(error).partition("\n")[0]
            _logger.warning("%s is played by the slow reasoner: %s", name, first_line)
    from ggp.interpreted_game import InterpretedGame

    return InterpretedGame(program, name)
