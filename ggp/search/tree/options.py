"""MctsOptions: the options of a Monte-Carlo tree search, as one table.

Constants are those of Finnsson & Björnsson (2010) on the scale 0..100. The plain-Python search
(`ggp.search.tree.reference`) has one descent in flight and ignores what concerns speed and parallelism.
Policies: `ggp.search.tree.policies.policy`. Imports neither numpy nor numba, which a player that waits for
matches does not load.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace

from ggp.search.option_table import (
    OptionError,
    check_table,
    choice,
    number,
    number_of,
    parse_table,
    switch,
    text,
)
from ggp.search.tree.policies.policy import POLICY_PARTS, Policy, PolicyError, parse_policy

FEATURE_KINDS = ("auto", "pieces", "cells")
WIDTHS = (1, 2, 4, 8, 16, 32)
MAX_LANES = 64 * WIDTHS[-1]
MAX_THREADS = 256
MAX_MEBIBYTES = 2**20
MAX_COUNTED = 10**9
"""Upper bound of counts that need no other."""


@dataclass(frozen=True)
class MctsOptions:
    """How to search: each field is a row of the table, except

    step_limit    joint moves of a playout, then it counts as an end
    depth_limit   joint moves in the tree, then the playout begins
    node_limit    nodes of the plain-Python search; that on lanes has `memory`
    leaf_growth   visits of the root per lane that shares a descent; 0: always as many as may

    >>> parse_options({"policy": "rave+mast", "tau": "5"}, MctsOptions()).gibbs_temperature
    5.0
    >>> parse_options({"fill": "2"}, MctsOptions())
    Traceback (most recent call last):
    ggp.search.option_table.OptionError: fill must be from 0 to 1, not 2
    """

    policy: str = text("policy", "uniform", f"Parts joined by +: {', '.join(POLICY_PARTS)}.")
    exploration: float = number("c", 40.0, "C of UCT, on the scale of the goals.", least=0.0)
    temperature: float | None = number(
        "tau", None, "Temperature of Gibbs sampling in playouts.", least=0.01, default_text="10; 1 for fast"
    )
    rave_k: float = number(
        "k", 1000.0, "k in the weight sqrt(k / (3 N + k)) of all-moves-as-first values.", least=0.0
    )
    episodes: int = number("episodes", 1024, "FAST: playouts to learn from.", least=1, most=10_000_000)
    feature_kind: str = choice("features", "auto", "FAST: features to learn values for.", FEATURE_KINDS)
    is_solving: bool = switch("solver", False, "Prove wins, losses and draws in the tree.")
    is_decisive: bool = switch(
        "decisive", False, "Take immediate wins and block immediate losses, also in playouts."
    )
    is_graph: bool = switch("transpositions", False, "Share one node among equal states.")
    refresh: int | None = number(
        "refresh",
        None,
        "Playouts after which the weights of moves are recomputed.",
        least=1,
        most=MAX_COUNTED,
        default_text="a quarter of the number of moves; 1 with simulations",
    )
    step_limit: int = 10_000
    depth_limit: int = 512
    node_limit: int = 200_000
    leaf_growth: int = 8192
    words: int = number_of(
        "words",
        8,
        "Width of a row: 64 lanes per word and tree.",
        WIDTHS,
        default_text="8; with simulations as many as needed",
    )
    lanes: int | None = number(
        "lanes", None, "Lanes in use per tree.", least=1, most=MAX_LANES, default_text="all"
    )
    lanes_per_leaf: int = number(
        "lanes_per_leaf", 8, "Maximum lanes that share one descent.", least=1, most=MAX_LANES
    )
    ramp: int = number(
        "ramp",
        32,
        "Visits of the root per lane in flight; more only to try all its moves; 0: no limit.",
        least=0,
        most=MAX_COUNTED,
        default_text="32; 512 with simulations",
    )
    fill: float = number(
        "fill",
        0.2,
        "Share of the time after which all lanes may be in flight, regardless of ramp; 0: never.",
        least=0.0,
        most=1.0,
    )
    threads: int = number(
        "threads",
        1,
        "Trees, each in its own thread, merged at the root.",
        least=1,
        most=MAX_THREADS,
        default_text="all cores; 1 with simulations",
    )
    memory_mebibytes: int = number(
        "memory", 1024, "Memory limit in MiB for all trees together.", least=1, most=MAX_MEBIBYTES
    )

    def __post_init__(self) -> None:
        try:
            parse_policy(self.policy)
        except PolicyError as error:
            raise OptionError(str(error)) from None
        check_table(self)

    @property
    def parsed_policy(self) -> Policy:
        return parse_policy(self.policy)

    @property
    def gibbs_temperature(self) -> float:
        """tau: as chosen, or the default of the policy."""
        return self.parsed_policy.playouts.temperature if self.temperature is None else self.temperature

    def with_stand_in(self) -> MctsOptions:
        """The same search with MAST, for games in which FAST has no features, or PAST no room."""
        policy = self.parsed_policy
        # That of FAST is on another scale.
        temperature = None if policy.has_features else self.temperature
        return replace(self, policy=policy.stand_in().name, temperature=temperature)


COUNTED_RAMP = 512
"""Visits of the root per lane in flight in a counted search, where simulations are dear and time is not."""


def default_options(simulations: int | None = None) -> MctsOptions:
    """The default options of a player's search.

    Against the clock: all cores, and lanes in flight as fast as the tree bears them. A counted search has one
    thread and few lanes in flight, no wider rows than those need, so that it plays nearly as well as one
    descent at a time would.
    """
    options = MctsOptions(is_solving=True, is_decisive=True, is_graph=True)
    if simulations is None:
        return replace(options, threads=available_cores())
    lanes = max(1, simulations // COUNTED_RAMP)
    words = next((w for w in (1, 2, 4) if 64 * w >= lanes), 8)
    return replace(options, words=words, ramp=COUNTED_RAMP, refresh=1)


def available_cores() -> int:
    """Cores that this process may use, at most MAX_THREADS."""
    if hasattr(os, "sched_getaffinity"):
        return min(MAX_THREADS, len(os.sched_getaffinity(0)))
    return min(MAX_THREADS, os.cpu_count() or 1)


def parse_options(given: Mapping[str, str], defaults: MctsOptions) -> MctsOptions:
    """`defaults` with the options of `given`, by name, as users write them. Raises OptionError."""
    return parse_table(defaults, given)
