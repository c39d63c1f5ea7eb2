"""Options of `mcts` that won in self-play of one game: comparisons, and the shipped table. Options are
checked when they are read: only those of `TunedOptions` are taken over, within their ranges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Self

from gdl.program import Program
from ggp.knowledge.folder import (
    Knowledge,
    checked_count,
    checked_list,
    checked_number,
    checked_text,
    read_knowledge,
)
from ggp.solver.saved_header import rules_digest

FILE_NAME = "tuned.json"
SHIPPED = Path(__file__).with_name("shipped_options.json")
"""Options of bundled games by the digest of their rules; `benchmarks/shipped_options.py` writes it."""
SHIPPED_FORMAT = "ggp-shipped-options 1"
MAX_COMPARISONS = 1000
MAX_SCORES = 100_000
POLICIES = ("uniform", "mast", "fast", "rave", "past")
FORMER_POLICY = "grave"
"""Files of earlier versions may have compared it; one that it won is not used."""
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
    (policy,) = _policies([content["policy"]])
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


@dataclass
class Comparison:
    """Matches of a challenger against the best options so far.

    scores    mean score 0..1 of the challenger in each repetition, all seats together
    verdict   the decision in words; empty while it is open
    is_better whether the challenger was found better
    """

    challenger: TunedOptions
    champion: TunedOptions
    scores: list[float] = field(default_factory=list)
    verdict: str = ""
    is_better: bool = False


@dataclass
class Tuning(Knowledge):
    """The state of tuning one game; what it holds so far is usable at any time.

    simulations   per move of uniform playouts; other policies had as many as took the same time
    seed          of the matches
    rates         policy → playouts per CPU second, as measured
    best          the options found best
    is_finished   whether all candidates were compared
    """

    simulations: int
    seed: int
    rates: dict[str, float] = field(default_factory=dict)
    best: TunedOptions = field(default_factory=TunedOptions)
    comparisons: list[Comparison] = field(default_factory=list)
    is_finished: bool = False
    file_format: ClassVar[str] = "ggp-tuned 1"
    kind: ClassVar[str] = "tuned options"

    @classmethod
    def _checked(cls, content: Mapping[str, Any]) -> Self:
        seed = content["seed"]
        if type(seed) is not int:
            raise ValueError("the seed is missing")
        rates = {name: checked_number(content["rates"][name]) for name in _policies(content["rates"])}
        if rates and ("uniform" not in rates or not all(rates.values())):
            raise ValueError("a rate is missing")
        best = read_options(content["best"])
        if best.policy == FORMER_POLICY:
            raise ValueError("a policy that is no longer there")
        return cls(
            checked_text(content["game"]),
            checked_text(content["rules"]),
            checked_count(content["simulations"]),
            seed,
            rates,
            best,
            [_comparison(each) for each in checked_list(content["comparisons"], MAX_COMPARISONS)],
            content["is_finished"] is True,
        )


def _comparison(content: Mapping[str, Any]) -> Comparison:
    return Comparison(
        read_options(content["challenger"]),
        read_options(content["champion"]),
        [checked_number(score, 1.0) for score in checked_list(content["scores"], MAX_SCORES)],
        checked_text(content["verdict"]),
        content["is_better"] is True,
    )


def _policies(names: Any) -> list[str]:
    if not set(names) <= {*POLICIES, FORMER_POLICY}:
        raise ValueError("unknown policy")
    return list(names)
