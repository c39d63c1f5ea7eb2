"""Options of `mcts` that won in self-play of one game: the shipped table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gdl.program import Program
from ggp.solver.saved_header import rules_digest


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


SHIPPED: Mapping[str, TunedOptions] = {
    # knightthrough
    "0d7c9f39b3d6b83430c24a2c986299680a8437f6380fdc586e5be82a8be3c612": TunedOptions("mast"),
    # minichess
    "10f8508153d5c59046d40677b790afc2c4b5042b5d164ae097f12f51cffdcdeb": TunedOptions("fast"),
    # othello
    "640a60b3b6d7835c8291eeabef293366bd4966e5b0f9a1b0a4805d49484009f9": TunedOptions("mast"),
    # othello_6x6
    "eabd9d8375ed1515bb487ac9910b4fb7fa1ce8c7f2eec9ef5158ef9ddbb69177": TunedOptions("fast"),
    # skirmish
    "29adc22614cd4b14c24bef5e30b3e2ae82c5704b89ff7ad85b55121d886d769a": TunedOptions(
        "fast", 20.0, has_alphabeta=True
    ),
}
"""Options of bundled games by the digest of their rules; `prepare options` of commit ecb75dae found them."""


def shipped_options(program: Program) -> TunedOptions | None:
    """The shipped options for these rules; None without any."""
    return SHIPPED.get(rules_digest(program))


def shipped_policies() -> list[str]:
    """The policies of the shipped table, the default apart."""
    return sorted({options.policy for options in SHIPPED.values()} - {TunedOptions().policy})
