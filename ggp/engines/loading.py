"""Load a `Game` from a path, a game's name or rule text."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gdl.errors import GdlError, GroundingError
from gdl.program import Program, arguments_of
from gdl.syntax.parser import parse, parse_file
from gdl.terms import Term
from gdl.validation.checks.recursion import growing_rule
from ggp.files import PACKAGE
from ggp.game import Game
from ggp.suggestions import did_you_mean

if TYPE_CHECKING:
    from ggp.engines.compilation import CompilationLimits, Progress

_logger = logging.getLogger("ggp")

ENGINES = ("auto", "lanes", "reasoner")


class RulesNotFoundError(GdlError):
    """No file and no game has this name.

    >>> import ggp
    >>> ggp.load("tictactoo")
    Traceback (most recent call last):
    ggp.engines.loading.RulesNotFoundError: tictactoo: no such file or game. Did you mean tictactoe?
    """


def own_game_folders() -> Iterator[Path]:
    """Folders of bundled games: next to the sources, or in the installed package."""
    for folder in (PACKAGE.parent / "games", PACKAGE / "games"):
        if folder.is_dir():
            yield folder


def game_folders() -> Iterator[Path]:
    """Folders of games with names: `games/` here, then the bundled ones."""
    if Path("games").is_dir():
        yield Path("games")
    yield from own_game_folders()


def find_own_rules(name: str) -> Path:
    """The bundled rule sheet of this name, regardless of the current folder. Raises RulesNotFoundError."""
    for folder in own_game_folders():
        if (folder / f"{name}.kif").is_file():
            return folder / f"{name}.kif"
    raise RulesNotFoundError(f"{name}: not a bundled game")


def find_rules(name: str | Path) -> Path:
    """The rule sheet called `name`: a path, or a game with or without `.kif`.

    >>> find_rules("tictactoe").name
    'tictactoe.kif'

    Raises RulesNotFoundError, which suggests games of similar names.
    """
    path = Path(name)
    if str(name) in ("", "-"):
        raise RulesNotFoundError(
            f"{str(name)!r} is not a rule sheet: expected a file or the name of a bundled game"
        )
    if path.is_file():
        return path
    if path.is_dir():
        raise RulesNotFoundError(f"{name} is a folder, not a rule sheet")
    if path.exists():
        raise RulesNotFoundError(f"{name} is a pipe or a device, not a rule sheet in a regular file")
    known: set[str] = set()
    for folder in game_folders():
        for candidate in (folder / path.name, folder / f"{path.name}.kif"):
            if path.parent == Path() and candidate.is_file():
                return candidate
        known.update(sheet.stem for sheet in folder.glob("*.kif"))
    hint = did_you_mean(path.stem, known)
    if path.parent != Path() or path.suffix:
        raise RulesNotFoundError(f"{name}: no such file.{hint}")
    raise RulesNotFoundError(f"{name}: no such file or game.{hint or ' `ggp games` lists the games.'}")


def read_program(path_or_text: str | Path, name: str | None = None) -> tuple[Program, str]:
    """The program of a file, a game or rule text, and its name.

    >>> program, name = read_program("(role x) (legal x wait)", name="waiting")
    >>> len(program.rules), name
    (2, 'waiting')

    Raises RulesNotFoundError, OSError, GdlSyntaxError.
    """
    if isinstance(path_or_text, str) and is_rule_text(path_or_text):
        return parse(path_or_text, name=name or "<rules>"), name or "game"
    path = find_rules(path_or_text)
    return parse_file(path), name or path.stem


def stated_roles(program: Program) -> tuple[Term, ...]:
    """The roles in rule-sheet order if all of them are facts, so that they are known at once; else none.

    >>> stated_roles(read_program("(role x) (role o) (role x)")[0])
    (Symbol('x'), Symbol('o'))
    """
    rules = program.rules_for("role", 1)
    if any(rule.body for rule in rules):
        return ()
    return tuple(dict.fromkeys(arguments_of(rule.head)[0] for rule in rules))


def is_rule_text(words: str) -> bool:
    """Whether this is rule text: it has line breaks or parentheses, and is not the name of a file.

    >>> is_rule_text("(role x)"), is_rule_text("tictactoe")
    (True, False)
    """
    if "\n" in words:
        return True
    if "(" not in words or words.endswith(".kif"):
        return False
    try:
        return not Path(words).is_file()
    except OSError:  # too long for a name
        return True


def _require_finite(program: Program) -> None:
    """Raise GroundingError if terms may grow without limit, even if only those asked for are derived.
    Grounding would only end at its limits."""
    rule = growing_rule(program)
    if rule is None:
        return
    # Here, because commands must not wait for numpy in order to report a mistake.
    from gdl.grounding import demanded

    if growing_rule(demanded(program)) is not None:
        place = f"{program.source.name}:{rule.span.line}: " if rule.span else ""
        raise GroundingError(f"{place}terms may grow without limit by the rule for {rule.predicate}")


def load(
    path_or_text: str | Path,
    engine: str = "auto",
    *,
    name: str | None = None,
    limits: CompilationLimits | None = None,
    use_cache: bool = True,
    quick: bool = False,
    progress: Progress | None = None,
) -> Game[Any]:
    """Load the game of a file, a game's name or rule text.

    engine      "lanes": the rules as a circuit, fast; "reasoner": an interpreter, slow; "auto": lanes,
                or the reasoner if the circuit cannot be built, with a warning of the logger `ggp`
    limits      limits on the cost of compiling for lanes
    use_cache   whether compiled games are kept in the user's cache folder
    quick       play on the circuit as built, which is there much sooner, while a thread simplifies it;
                `finished_game` gives the simplified one. Counted searches on the two may differ
    progress    called with a few words on each step of compiling

    >>> import ggp
    >>> game = ggp.load("tictactoe", engine="reasoner")
    >>> state = game.initial_state()
    >>> [str(role) for role in game.roles], len(game.legal_moves(state, game.roles[0]))
    (['x', 'o'], 9)

    Raises RulesNotFoundError, OSError, GdlSyntaxError, GdlValidationError, ValueError (unknown
    engine); with engine "lanes" also GroundingError and CircuitError.
    """
    if engine not in ENGINES:
        raise ValueError(f"unknown engine {engine!r}: one of {', '.join(ENGINES)}")
    program, game_name = read_program(path_or_text, name)
    return make_game(
        program, game_name, engine, limits=limits, use_cache=use_cache, quick=quick, progress=progress
    )


def finished_game(game: Game[Any], seconds: float | None = None) -> Game[Any] | None:
    """The game that a quick one becomes; None if it takes more than `seconds` from now. Every other game is
    finished."""
    finish = getattr(game, "finish", None)
    finished: Game[Any] | None = game if finish is None else finish(seconds)
    return finished


def make_game(
    program: Program,
    name: str = "game",
    engine: str = "auto",
    *,
    limits: CompilationLimits | None = None,
    use_cache: bool = True,
    quick: bool = False,
    progress: Progress | None = None,
) -> Game[Any]:
    """The game of a program; arguments and errors as in `load`."""
    if engine in ("auto", "lanes"):
        from ggp.circuit.circuit import CircuitError
        from ggp.engines.compilation import compile_game

        try:
            _require_finite(program)
            return compile_game(program, name, limits, use_cache=use_cache, quick=quick, progress=progress)
        except (GroundingError, CircuitError) as error:
            if engine == "lanes":
                raise
            first_line = str(error).partition("\n")[0]
            _logger.warning("%s: falling back to the interpreter (slower): %s", name, first_line)
    from ggp.engines.reasoner import InterpretedGame

    return InterpretedGame(program, name)
