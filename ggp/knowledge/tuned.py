"""Options of `mcts` that won in self-play of one game: the shipped table, checked when it is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from gdl.program import Program
from ggp.knowledge.folder import checked_number, read_knowledge
from ggp.solver.saved_header import rules_digest

SHIPPED = Path(__file__).with_name("shipped_options.json")
"""Options of bundled games by the digest of their rules; `prepare options` of commit ecb75dae found them."""
SHIPPED_FORMAT = "ggp-shipped-options 1"
POLICIES = ("uniform", "mast", "fast", "rave")
MAX_EXPLORATION = 10_000.0


@dataclass(frozen=True)
class TunedOptions:
    """The choices of tuning: the policy and C of UCT, and whether alpha-beta chooses the moves instead.

    >>> str(TunedOptions(has_alphabeta=True))
    'policy=uniform,c=40,alphabeta=on'
    """

    policy: str = "uniform"
    exploration: float = 40.0
    has_alphabeta: bool = False

    def __str__(self) -> str:
        return f"policy={self.policy},c={self.exploration:g}{',alphabeta=on' if self.has_alphabeta else ''}"


def read_options(content: Mapping[str, Any]) -> TunedOptions:
    """Options as JSON, checked. Raises ValueError, KeyError, TypeError, AttributeError."""
    policy = content["policy"]
    if policy not in POLICIES:
        raise ValueError("unknown policy")
    exploration = checked_number(content["exploration"], MAX_EXPLORATION)
    return TunedOptions(policy, exploration, content.get("has_alphabeta") is True)


@cache
def shipped_table(place: Path = SHIPPED) -> Mapping[str, TunedOptions]:
    """Digest of the rules → options. Raises OSError, KnowledgeFileError."""
    games = read_knowledge(place, SHIPPED_FORMAT)["games"]
    return {digest: read_options(entry) for digest, entry in games.items()}


def shipped_options(program: Program) -> TunedOptions | None:
    """The shipped options for these rules; None without any."""
    return shipped_table().get(rules_digest(program))


def shipped_policies() -> list[str]:
    """The policies of the shipped table, the default apart."""
    return sorted({options.policy for options in shipped_table().values()} - {TunedOptions().policy})
