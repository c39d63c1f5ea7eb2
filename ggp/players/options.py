"""Option tables of the players, for texts such as `mcts:c=40`.

`describe_options` gives them as data, for `ggp players` and the reference pages. Margins of players are here;
the margin of the HTTP player, for the network, is in `ggp.player_server.margins`. Imports neither numpy nor
numba.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ggp.native.compile_limit import CPU_SECONDS
from ggp.search.alphabeta.options import check_evaluation
from ggp.search.option_table import OptionError, choice, file_path, number, rows_of, switch, text
from ggp.search.tree.options import MAX_MEBIBYTES, default_options
from ggp.solver.members import is_coalition
from ggp.suggestions import did_you_mean

ALPHABETA_MARGIN_SECONDS = 0.2
SOLVER_MEBIBYTES = 3072
PROOF_MEBIBYTES = 512
ALPHABETA_USES = ("auto", "on", "off")
SEARCHES = ("auto", "lanes", "reference")
OWN_COALITION, NO_COALITION = "own", "none"
AUTO, OFF = "auto", "off"
BOOK_HELP = (
    "Opening book: off, a file of `ggp prepare book`, or auto: the one kept for the game, except in counted"
    " searches."
)
MAX_SIMULATIONS = 10**12
LEVELS: Mapping[str, int] = {"easy": 100, "medium": 400, "strong": 2400}
"""Level → simulations per move; each wins most matches against the one below: results/levels.md."""
FULL = "full"
MAX_SECONDS = 604_800.0
"""A week, the longest clock of the protocol."""


def _native() -> Any:
    return number(
        "native",
        CPU_SECONDS,
        "Maximum CPU seconds, and at most the start clock, to compile a circuit to machine code in the"
        " background; off: interpret it.",
        least=0.0,
        most=MAX_SECONDS,
        has_off=True,
    )


@dataclass(frozen=True)
class MctsPlayerOptions:
    """Options of `mcts` besides those of its search, `MctsOptions`."""

    simulations: int | None = number(
        "simulations",
        None,
        "Simulations per move, instead of the clock.",
        least=1,
        most=MAX_SIMULATIONS,
        default_text="by the clock",
    )
    margin_seconds: float = number(
        "margin", 0.0, "Safety margin: seconds left unused of each clock.", least=0.0, most=MAX_SECONDS
    )
    level: str = choice(
        "level",
        FULL,
        "Strength for playing with people: easy, medium and strong are counted searches, which answer at"
        " once; full: all that the clock allows.",
        (*LEVELS, FULL),
    )
    search: str = choice(
        "search", "auto", "lanes: compiled games only; reference: plain Python; auto: by the game.", SEARCHES
    )
    ponders: bool = switch("ponder", False, "Continue to search while other players think.")
    has_head_start: bool = switch(
        "head_start",
        True,
        "Search during the start clock too; off: only get ready, which includes FAST.",
    )
    is_proving: bool = switch(
        "proof", True, "Solve the game, or prove positions by alpha-beta, with a share of the search's time."
    )
    proof_mebibytes: int = number(
        "proof_memory",
        PROOF_MEBIBYTES,
        "Memory for proofs in MiB, in addition to the tree.",
        least=16,
        most=MAX_MEBIBYTES,
    )
    alphabeta: str = choice(
        "alphabeta",
        "auto",
        "Let alpha-beta choose the moves of two roles: on, off, or auto: where it won matches against the"
        " tree, before the release or in start clocks. Never in counted searches; auto: nor with a"
        " policy or C.",
        ALPHABETA_USES,
    )
    network: str = file_path(
        "net",
        AUTO,
        "Network to guide the search: off, a file of `ggp prepare network`, or auto: the one kept for the"
        " game if mcts won with it; not where `tuned` is not used.",
    )
    is_mixing: bool = switch("mixed", True, "Play mixed strategies where two roles choose at once.")
    book: str = file_path("book", AUTO, BOOK_HELP)
    advisor: str | None = file_path(
        "advisor", None, "Own advisor to ask before all others: module:Class or path/to/file.py:Class."
    )
    native_seconds: float = _native()
    is_tuned: bool = switch(
        "tuned",
        True,
        "Use the options that won the game before the release, and let alpha-beta play trial matches; not"
        " with a given policy or C, nor in counted searches.",
    )


@dataclass(frozen=True)
class UctOptions:
    """Options of `uct`, plain UCT."""

    simulations: int = number(
        "simulations", 1000, "Simulations per move, one after the other.", least=1, most=MAX_SIMULATIONS
    )
    exploration: float = number("c", 40.0, "C of UCT, on the scale of the goals.", least=0.0)
    is_solving: bool = switch(
        "solver", False, "Prove wins, losses and draws in the tree (one role, or two with a constant sum)."
    )


@dataclass(frozen=True)
class AlphaBetaOptions:
    """Options of `alphabeta`."""

    depth: int | None = number("depth", None, "Maximum depth in plies.", least=1, most=1000)
    nodes: int | None = number("nodes", None, "Maximum nodes per move.", least=1, most=MAX_SIMULATIONS)
    margin_seconds: float = number(
        "margin",
        ALPHABETA_MARGIN_SECONDS,
        "Safety margin: seconds left unused of each clock, at most half of it.",
        least=0.0,
        most=MAX_SECONDS,
    )
    evaluation: str = text(
        "evaluation",
        "auto",
        "How to evaluate the horizon: auto, or some of mobility, distance, features, joined by +; or your"
        " own: module:function, path/to/file.py:function, or a file with weights of facts, such as one of"
        " `ggp prepare evaluation`.",
    )
    coalition: str = text(
        "coalition",
        OWN_COALITION,
        "Three or more roles: own (all others play against this one), none (each role for itself), or the"
        " numbers of roles that act as one, as in 1+3.",
    )
    opponent_error: float = number(
        "error",
        0.0,
        "Assumed probability of a random move by the other side; above 0 in plain Python.",
        least=0.0,
        most=1.0,
    )
    native_seconds: float = _native()
    book: str = file_path("book", AUTO, BOOK_HELP)

    def __post_init__(self) -> None:
        """Raises OptionError for an unknown evaluation or an unreadable coalition."""
        check_evaluation(self.evaluation)
        if self.coalition not in (OWN_COALITION, NO_COALITION) and not is_coalition(self.coalition):
            raise OptionError(f"coalition must be own, none or numbers as in 1+3, not {self.coalition!r}")


@dataclass(frozen=True)
class SolvingOptions:
    """Options of `solving` besides those of `mcts`."""

    solver_mebibytes: int = number(
        "solver_memory",
        SOLVER_MEBIBYTES,
        "Memory for solving in MiB, in addition to the tree; 0: no solving.",
        least=0,
        most=MAX_MEBIBYTES,
    )


@dataclass(frozen=True)
class TablebaseOptions:
    """Options of `tablebase` besides those of `mcts`, which plays all other games."""

    file: str | None = file_path("file", None, "Solution that `ggp solve --save` wrote (required).")


PLAYERS: Mapping[str, str] = {
    "mcts": "Monte-Carlo tree search; the default.",
    "alphabeta": "Depth-limited alpha-beta search with an evaluation chosen in the start clock.",
    "solving": "mcts, while a solver works on another core: optimal moves as soon as the game is solved.",
    "tablebase": "Plays from a saved solution; all other games as mcts.",
    "uct": "Plain UCT, counted, every move from scratch.",
    "random": "Uniformly random moves.",
    "legal": "The first legal move.",
    "human": "A person at the keyboard.",
    "text": "A command, text:COMMAND, that receives rules and state as text and answers with a move.",
}
"""Kind of player → its help line."""


def option_tables(kind: str) -> tuple[Any, ...]:
    """The tables of a kind of player, with its defaults."""
    of_mcts = (MctsPlayerOptions(), default_options())
    return {
        "mcts": of_mcts,
        "alphabeta": (AlphaBetaOptions(),),
        "uct": (UctOptions(),),
        "solving": (SolvingOptions(), *of_mcts),
        "tablebase": (TablebaseOptions(), *of_mcts),
    }.get(kind, ())


def split_options(text: str, kind: str = "") -> dict[str, str]:
    """The options in `name=value,name=value`, of a kind of player. Raises OptionError.

    >>> split_options("c=20,threads=2")
    {'c': '20', 'threads': '2'}
    """
    options: dict[str, str] = {}
    for part in filter(None, text.split(",")):
        name, equals, value = (each.strip() for each in part.partition("="))
        if not equals or not value:
            names = [row.name for table in option_tables(kind) for row in rows_of(table)]
            raise OptionError(f"options are written option=value, not {part!r}.{did_you_mean(name, names)}")
        if name in options:
            raise OptionError(f"option {name!r} is given twice")
        options[name] = value
    return options


_OF_MCTS = (
    *("level", "policy", "c", "advisor", "simulations", "threads", "memory", "search", "ponder", "proof"),
    *("alphabeta", "net", "book", "tuned", "mixed"),
)
MAIN_OPTIONS: Mapping[str, tuple[str, ...]] = {
    "mcts": _OF_MCTS,
    "solving": ("solver_memory", *_OF_MCTS),
    "tablebase": ("file", *_OF_MCTS),
    "alphabeta": (*("depth", "nodes", "evaluation", "coalition", "error", "book"),),
}
"""Options that `ggp players` lists of these kinds: all others are for tuning the search itself."""


@dataclass(frozen=True)
class OptionRow:
    """One option in words; `range` is empty for free text."""

    name: str
    kind: str
    default: str
    range: str
    help: str
    is_tuning: bool


def describe_options(kind: str) -> list[OptionRow]:
    """The options of a kind of player, those for tuning last.

    >>> next(row for row in describe_options("mcts") if row.name == "mixed")
    OptionRow(name='mixed', kind='switch', default='on', range='on or off', \
help='Play mixed strategies where two roles choose at once.', is_tuning=False)
    >>> describe_options("random")
    []
    """
    rows = [
        OptionRow(
            row.name,
            row.kind,
            row.shown_default(getattr(table, row.field)),
            row.range_text,
            row.help,
            is_tuning=row.name not in MAIN_OPTIONS.get(kind, (row.name,)),
        )
        for table in option_tables(kind)
        for row in rows_of(table)
    ]
    return sorted(rows, key=lambda row: row.is_tuning)
