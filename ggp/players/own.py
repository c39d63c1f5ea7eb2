"""User-defined players, advisors and evaluations: `module:Class` or `path/to/file.py:Class`.

Options of a player follow a second colon and are passed to the class as keyword arguments:
`agents.py:Greedy:depth=3`. A number becomes an int or a float, `on` and `off` become True and False, anything
else stays text. An advisor is an option of the players that search: `mcts:advisor=openings.py:Center`. An
evaluation of positions is a function, an option of alpha-beta: `alphabeta:evaluation=chess.py:material`.

Commands run players with such code in separate processes: see `ggp.players.own_seat`.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import math
import re
import reprlib
import sys
import sysconfig
import traceback
import zlib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from ggp.files import PACKAGE
from ggp.game import Game
from ggp.match.player import Player, PlayerSpecError
from ggp.players.advisors.advisor import Advisor
from ggp.players.options import PLAYERS, split_options
from ggp.search.option_table import OptionError

_SPEC = re.compile(
    r"(?P<place>.+\.py|[^\W\d]\w*(?:\.[^\W\d]\w*)*):(?P<name>[^\W\d]\w*)(?::(?P<options>.*))?", re.DOTALL
)
_OPTION = re.compile(
    r"(?:(?:mcts|solving|tablebase):(?:.*,)?advisor|alphabeta:(?:.*,)?evaluation)=(?P<code>[^,]+)(?:,.*)?",
    re.DOTALL,
)
"""An option of a bundled player that may name code."""


_TRACE_CHARACTERS = 20_000
"""Maximum characters of a printed traceback: messages may be of any length."""
MAX_GOAL = 10_000.0
"""Evaluations beyond this count as this."""


class AuthorError(PlayerSpecError):
    """The code of the player's author failed when it was imported, or when the player was made."""


class EvaluationError(Exception):
    """A user-defined evaluation returned something that is no number."""


def own_code(spec: str) -> str | None:
    """The user-defined player, advisor or evaluation in `spec`; None without one.

    >>> own_code("agents:Greedy:depth=3"), own_code("mcts:c=3,advisor=openings.py:Center")
    ('agents:Greedy:depth=3', 'openings.py:Center')
    >>> own_code("mcts"), own_code("text:./agent.py:x")
    (None, None)
    """
    found = _OPTION.fullmatch(spec)
    if found is None and spec.partition(":")[0] in PLAYERS:
        return None
    code = spec if found is None else found["code"].strip()
    return code if _SPEC.fullmatch(code) else None


def is_own_player(spec: str) -> bool:
    """Whether `spec` names code in a module or file: the player, its advisor or its evaluation."""
    return own_code(spec) is not None


def own_place(spec: str) -> str | None:
    """The file or module of the code that `spec` names; None for every other player.

    >>> own_place("lab/agents.py:Greedy:depth=3"), own_place("mcts:c=3")
    ('lab/agents.py', None)
    """
    found = _SPEC.fullmatch(own_code(spec) or "")
    return found["place"] if found else None


def make_own_player(spec: str) -> Player:
    """An instance of the class that `spec` names.

    Raises PlayerSpecError if there is no such module, file or class, or it cannot be made a player.
    """
    try:
        kind, options = _own_class(spec)
        if not issubclass(kind, Player):
            raise PlayerSpecError(f"{spec} is not a player: derive it from ggp.Player")
        player: Player = _made(kind, {name: _value(text) for name, text in split_options(options).items()})
        return player
    except PlayerSpecError as error:
        raise type(error)(f"player {spec!r}: {error}") from error.__cause__
    except OptionError as error:
        raise PlayerSpecError(f"player {spec!r}: {error}") from None


def own_advisor_class(spec: str) -> type[Advisor]:
    """The class of a user-defined advisor. Raises PlayerSpecError, as `make_own_player`.

    >>> own_advisor_class("ggp.players.simple:RandomPlayer")
    Traceback (most recent call last):
    ggp.match.player.PlayerSpecError: ggp.players.simple:RandomPlayer is not an advisor: ...
    """
    kind, options = _own_class(spec)
    if not issubclass(kind, Advisor):
        raise PlayerSpecError(f"{spec} is not an advisor: derive it from ggp.Advisor")
    if options:
        raise PlayerSpecError(f"{spec}: an advisor has no options")
    _made(kind, {})
    return kind


def own_evaluation(spec: str) -> Callable[[Game[Any], Any], float]:
    """A user-defined evaluation, `(game, state) → goal of the first role`; what it returns is checked.

    Raises PlayerSpecError if there is no such module, file or function, and EvaluationError in a search if it
    returns anything but a number.
    """
    function, options = _own_code(spec, "function")
    if not callable(function):
        raise PlayerSpecError(f"{spec} is not a function")
    if options:
        raise PlayerSpecError(f"{spec}: an evaluation has no options")
    try:
        inspect.signature(function).bind(None, None)
    except TypeError:
        raise PlayerSpecError(f"{spec} must take two arguments, the game and a state") from None
    except ValueError:  # a function without a signature
        pass

    def evaluate(game: Game[Any], state: Any) -> float:
        found: Any = function(game, state)
        try:
            goal = float(found)
        except (TypeError, ValueError, OverflowError):
            goal = math.nan
        if not math.isfinite(goal):
            raise EvaluationError(f"{spec} returned {reprlib.repr(found)} instead of a number of goals")
        return min(max(goal, -MAX_GOAL), MAX_GOAL)

    return evaluate


def _own_class(spec: str) -> tuple[type, str]:
    return _own_code(spec, "class")


def _own_code(spec: str, what: str) -> tuple[Any, str]:
    """What `spec` names, and the options behind it; `what` it should be, for errors."""
    found = _SPEC.fullmatch(spec)
    if found is None:
        raise PlayerSpecError("expected module:Class or path/to/file.py:Class")
    place, name = found["place"], found["name"]
    module = _module_of_file(Path(place)) if place.endswith(".py") else _module(place)
    code = getattr(module, name, None)
    if code is None or (what == "class") != isinstance(code, type):
        raise PlayerSpecError(f"{place} has no {what} {name}")
    return code, found["options"] or ""


def _made(kind: type, options: dict[str, Any]) -> Any:
    call = f"{kind.__name__}({', '.join(f'{key}={value!r}' for key, value in options.items())})"
    try:
        inspect.signature(kind).bind(**options)
    except TypeError as error:
        raise PlayerSpecError(f"{call} failed: TypeError: {error}") from None
    except ValueError:  # a class without a signature
        pass
    try:
        return kind(**options)
    except Exception as error:
        raise AuthorError(f"{call} failed: {error_text(error)}") from error


def _value(text: str) -> int | float | bool | str:
    """
    >>> _value("3"), _value("0.5"), _value("on"), _value("fast")
    (3, 0.5, True, 'fast')
    """
    if text in ("on", "off"):
        return text == "on"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _module(name: str) -> ModuleType:
    """An importable module; the current folder counts, after everything installed."""
    _search_also(Path.cwd())
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
            raise PlayerSpecError(f"there is no module {error.name}, here or installed") from None
        raise AuthorError(f"importing {name} failed: {error_text(error)}") from error
    except Exception as error:
        raise AuthorError(f"importing {name} failed: {error_text(error)}") from error


def _module_of_file(path: Path) -> ModuleType:
    """The module in a file, imported once per process; it can import modules next to it."""
    path = path.absolute()
    if not path.is_file():
        raise PlayerSpecError(f"there is no file {path}")
    # A unique name, because `random.py` must not become the module random.
    name = f"ggp_own_{path.stem}_{zlib.crc32(str(path).encode()):08x}"
    if name in sys.modules:
        return sys.modules[name]
    _search_also(path.parent)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise AuthorError(f"importing {path.name} failed: {error_text(error)}") from error
    return module


def _search_also(folder: Path) -> None:
    if str(folder) not in sys.path:
        sys.path.append(str(folder))
        importlib.invalidate_caches()


def error_text(error: BaseException) -> str:
    """An error in one line, with the file and line of the author's code that it comes from.

    >>> error_text(ZeroDivisionError("division by zero"))
    'ZeroDivisionError: division by zero'
    """
    installed = (str(PACKAGE), *(sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")))
    places = [
        f" ({Path(frame.filename).name}:{frame.lineno})"
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith(("<", *installed))
    ]
    if isinstance(error, SyntaxError) and error.filename:  # its text names the file and line
        places = []
    try:
        text = f"{type(error).__name__}: {error}".removesuffix(": ")
    except Exception:  # an error whose text cannot be made
        text = type(error).__name__
    return " ".join(text.split()) + (places or [""])[-1]


def author_traceback(error: BaseException) -> str:
    """The traceback of an error of the author, from the author's code on.

    >>> author_traceback(ZeroDivisionError("division by zero"))
    'ZeroDivisionError: division by zero'
    """
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename.startswith(str(PACKAGE)):
        trace = trace.tb_next
    lines = traceback.format_exception(error.with_traceback(trace), chain=False)
    return "".join(lines)[:_TRACE_CHARACTERS].rstrip()
