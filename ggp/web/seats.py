"""Players allowed to take a seat of a match in the browser."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from ggp.players.factory import file_option, make_player
from ggp.players.options import PLAYERS, describe_options, option_tables
from ggp.processes.child_end import RequestError
from ggp.search.option_table import rows_of

PERSON = "person"
AGENTS = ("mcts", "alphabeta", "solving", "random", "legal")
"""Kinds of players that may take a seat: those that neither run other code nor read files."""

_LOOPBACK = ("127.0.0.1", "::1", "localhost")


def is_remote(seat: str) -> bool:
    """Whether a seat is taken by a player over HTTP."""
    return seat.startswith("http://")


def check_seat(seat: str) -> None:
    """Raise RequestError or PlayerSpecError unless `seat` is `person` or a player that may play here.

    Players over HTTP must run on this machine, so that the page gives no access to other networks.
    """
    if seat == PERSON:
        return
    if is_remote(seat):
        if urlsplit(seat).hostname not in _LOOPBACK:
            raise RequestError("only players on this machine can take a seat: http://127.0.0.1:PORT")
    elif seat.partition(":")[0] not in AGENTS:
        expected = ", ".join((PERSON, "http://127.0.0.1:PORT", *AGENTS))
        raise RequestError(f"{seat!r} cannot take a seat here: expected {expected}")
    elif (option := file_option(seat)) is not None:
        raise RequestError(f"players that read files cannot take a seat here: {seat!r} has {option}")
    make_player(seat)


def described_agents() -> dict[str, Any]:
    """The kinds of players that may take a seat, each with its help line and its options without files.

    >>> described_agents()["random"]
    {'help': 'Uniformly random moves.', 'options': []}
    """
    return {
        kind: {
            "help": PLAYERS[kind],
            "options": [
                {"name": row.name, "default": row.default, "range": row.range, "help": row.help}
                for row in describe_options(kind)
                if not row.is_tuning and row.name not in _file_options(kind)
            ],
        }
        for kind in AGENTS
    }


def _file_options(kind: str) -> set[str]:
    return {row.name for table in option_tables(kind) for row in rows_of(table) if row.names_file}


def with_memory(seat: str, mebibytes: float) -> str:
    """Limit an `mcts` player to `mebibytes`, a fifth of it for proofs; other players are unchanged.

    >>> with_memory("mcts:c=50", 500), with_memory("mcts:memory=9", 500), with_memory("random", 500)
    ('mcts:c=50,memory=400,proof_memory=100', 'mcts:memory=9', 'random')
    """
    kind, _, options = seat.partition(":")
    if kind != "mcts" or "memory=" in options:
        return seat
    share = f"memory={max(8, int(0.8 * mebibytes))},proof_memory={max(2, int(0.2 * mebibytes))}"
    return f"{kind}:{options},{share}" if options else f"{kind}:{share}"
