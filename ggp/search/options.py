"""MctsOptions: everything that can be chosen about a Monte-Carlo tree search, with the defaults.

A *policy* is written as parts joined by `+`:

    uniform     playouts choose uniformly
    mast        playouts by Gibbs sampling over the mean goal of each move (MAST)
    to-mast     the same, learned from moves in the tree only (TO-MAST)
    past        the same per fact that holds and move, the largest mean (PAST)
    fast        by Gibbs sampling over values learned for pieces or cells of the board (FAST)
    nst         means of moves together with the one or two joint moves before them (N-grams, NST)
    rave        all-moves-as-first values in the tree (RAVE); goes with each of the others
    grave       the same from the nearest node above that knows enough (GRAVE), instead of rave
    greedy      with mast, to-mast or nst: the best mean, but a uniform move with probability epsilon

Constants are those of Finnsson & Björnsson (2010) on the scale 0..100. What concerns speed and parallelism
applies to `ggp.search.mcts` only; the plain-Python search has one descent in flight.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

POLICY_PARTS = ("uniform", "mast", "to-mast", "past", "nst", "fast", "rave", "grave", "greedy")
LEARNING_PARTS = ("mast", "to-mast", "past", "nst", "fast")
FEATURE_KINDS = ("auto", "pieces", "cells")
IN_FLIGHT = ("ignored", "losses", "denominator")


class OptionError(ValueError):
    """An option that there is not, or a value that it cannot have."""


@dataclass(frozen=True)
class MctsOptions:
    """How to search.

    exploration       C of UCT
    temperature       tau of the Gibbs distribution; None: 10, and 1 for FAST
    epsilon           probability of a uniform move in `greedy` playouts, in steps of 1/1024
    rave_k            k in beta = sqrt(k / (3 N + k)), of `rave` and `grave`
    grave_reference   playouts from which a node's all-moves-as-first values serve the nodes below it
    decay             what learned statistics of moves are multiplied by when the match goes on, 0..1
    past_visits       visits below which a fact-move pair does not count
    episodes          playouts from which FAST learns
    feature_kind      what FAST learns of: `pieces`, `cells`, or what suits the game (`auto`)
    weights           a file of `ggp learn`, from which FAST takes its weights instead of learning them
    fast_scale        c of FAST in games where cells count
    nst_visits        visits below which an N-gram does not count
    cutoff            joint moves outside the tree after which a playout is cut and scored; 0: never
    refresh           playouts after which the weights of moves are computed anew; None: by the search
    is_solving        prove wins, losses and draws (one role, or two with goals that sum up to 100)
    is_decisive       who can win at once has no other moves, and who can stop a win must, in the tree and in
                      playouts, where the circuit can tell (`ggp.decisive_moves`); on lanes only
    is_reusing        keep the subtree of the joint move that was made; else every move begins an empty tree
    step_limit        joint moves of a playout, then it counts as an end
    depth_limit       joint moves in the tree, then the playout begins
    node_limit        nodes of one tree of the plain-Python search

    words             W: 64*W lanes per tree
    lanes             lanes in use; None: all
    lanes_per_leaf    lanes that share one descent, at most ...
    leaf_growth       ... and at most one per so many visits of the root; 0: always the most
    ramp              lanes in flight are at most (visits of the root) / ramp, or so many as the root has
                      untried moves; 0: no limit
    fill              ... or as the time that has passed allows: all of them after this share of it;
                      0: only `ramp` counts
    in_flight         how playouts that have not ended count in UCT: `ignored`, as `losses`, or in the
                      `denominator` only ("watch the unobserved", Liu et al. 2020)
    threads           trees, each in a thread of its own, merged at the root
    memory_mebibytes  for all trees together
    """

    policy: str = "uniform"
    exploration: float = 40.0
    temperature: float | None = None
    epsilon: float = 0.2
    rave_k: float = 1000.0
    grave_reference: int = 50
    decay: float = 1.0
    past_visits: int = 3
    episodes: int = 1024
    feature_kind: str = "auto"
    weights: str | None = None
    fast_scale: float = 1.0
    nst_visits: int = 7
    cutoff: int = 0
    refresh: int | None = None
    is_solving: bool = False
    is_decisive: bool = False
    is_reusing: bool = True
    step_limit: int = 10_000
    depth_limit: int = 512
    node_limit: int = 200_000
    words: int = 8
    lanes: int | None = None
    lanes_per_leaf: int = 8
    leaf_growth: int = 8192
    ramp: int = 32
    fill: float = 0.2
    in_flight: str = "denominator"
    threads: int = 1
    memory_mebibytes: int = 1024

    def __post_init__(self) -> None:
        parts = self.parts
        unknown = parts - set(POLICY_PARTS)
        if unknown:
            raise OptionError(f"no policy {min(unknown)!r}: there are {', '.join(POLICY_PARTS)}, joined by +")
        learning = parts & set(LEARNING_PARTS)
        if len(learning) > 1:
            raise OptionError(f"{' and '.join(sorted(learning))} do not go together")
        if "uniform" in parts and (learning or "greedy" in parts):
            raise OptionError("uniform playouts learn nothing")
        if "greedy" in parts and not learning & {"mast", "to-mast", "nst"}:
            raise OptionError("greedy goes with mast, to-mast or nst")
        if parts >= {"rave", "grave"}:
            raise OptionError("rave and grave do not go together")
        if not 0.0 <= self.decay <= 1.0:
            raise OptionError(f"decay is a number from 0 to 1, not {self.decay:g}")
        if self.feature_kind not in FEATURE_KINDS:
            raise OptionError(f"features is one of {', '.join(FEATURE_KINDS)}, not {self.feature_kind!r}")
        if self.in_flight not in IN_FLIGHT:
            raise OptionError(f"in_flight is one of {', '.join(IN_FLIGHT)}, not {self.in_flight!r}")
        if self.weights is not None and "fast" not in parts:
            raise OptionError("weights are for policy=fast")
        if self.words not in (1, 2, 4, 8, 16, 32):
            raise OptionError(f"words is 1, 2, 4, 8, 16 or 32, not {self.words}")

    @property
    def parts(self) -> frozenset[str]:
        """The parts of the policy."""
        return frozenset(self.policy.split("+"))

    @property
    def has_rave(self) -> bool:
        return "rave" in self.parts

    @property
    def has_grave(self) -> bool:
        return "grave" in self.parts

    @property
    def is_greedy(self) -> bool:
        return "greedy" in self.parts

    @property
    def learns(self) -> str:
        """`mast`, `to-mast`, `past`, `nst`, `fast`, or `` for uniform playouts."""
        return next(iter(self.parts & set(LEARNING_PARTS)), "")

    @property
    def looks_at_context(self) -> bool:
        """Whether playouts choose by the state or by earlier moves, not by the moves alone."""
        return self.learns in ("past", "nst", "fast")

    @property
    def gibbs_temperature(self) -> float:
        """tau: as chosen, or the paper's for the policy."""
        if self.temperature is not None:
            return self.temperature
        return 1.0 if "fast" in self.parts else 10.0

    @property
    def epsilon_in_1024ths(self) -> int:
        return round(1024 * self.epsilon)

    def with_mast_instead(self) -> MctsOptions:
        """The same search with MAST, and MAST's temperature, where FAST has no features or PAST no room."""
        parts = ["mast" if part in ("fast", "past") else part for part in self.policy.split("+")]
        temperature = self.temperature if "past" in self.parts else None
        return replace(self, policy="+".join(parts), temperature=temperature, weights=None)

    def with_one_lane(self) -> MctsOptions:
        """The same search with one descent at a time: what the plain-Python search does."""
        return replace(self, words=1, lanes=1, lanes_per_leaf=1, threads=1, refresh=self.refresh or 1)


COUNTED_RAMP = 512
"""Visits of the root per lane in flight in a counted search, where simulations are dear and time is not."""


def default_options(simulations: int | None = None) -> MctsOptions:
    """What a player searches with.

    Against the clock: all cores, and lanes in flight as fast as the tree bears them. A counted search has one
    thread and few lanes in flight, no wider rows than those need, so that it plays nearly as well as
    one descent at a time would.
    """
    if simulations is None:
        return MctsOptions(is_solving=True, is_decisive=True, threads=available_cores())
    lanes = max(1, simulations // COUNTED_RAMP)
    words = next((w for w in (1, 2, 4) if 64 * w >= lanes), 8)
    return MctsOptions(is_solving=True, is_decisive=True, words=words, ramp=COUNTED_RAMP, refresh=1)


def available_cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def parse_number(name: str, text: str, least: int | float) -> Any:
    """An int where `least` is one, else a finite float; at least `least`. Raises OptionError."""
    kind: Callable[[str], int | float] = int if isinstance(least, int) else float
    try:
        value = kind(text)
    except ValueError:
        raise OptionError(f"{name} is a number, not {text!r}") from None
    if not math.isfinite(value) or value < least:
        raise OptionError(f"{name} cannot be {text}")
    return value


def parse_switch(name: str, text: str) -> bool:
    """Whether `text` is `on`. Raises OptionError where it is not `off` either."""
    if text not in ("on", "off"):
        raise OptionError(f"{name} is on or off, not {text!r}")
    return text == "on"


_NUMBERS: Mapping[str, tuple[str, int | float]] = {
    "c": ("exploration", 0.0),
    "tau": ("temperature", 0.01),
    "epsilon": ("epsilon", 0.0),
    "k": ("rave_k", 0.0),
    "grave_ref": ("grave_reference", 1),
    "decay": ("decay", 0.0),
    "past_visits": ("past_visits", 1),
    "episodes": ("episodes", 1),
    "fast_scale": ("fast_scale", 0.0),
    "nst_visits": ("nst_visits", 1),
    "cutoff": ("cutoff", 0),
    "refresh": ("refresh", 1),
    "nodes": ("node_limit", 1),
    "words": ("words", 1),
    "lanes": ("lanes", 1),
    "lanes_per_leaf": ("lanes_per_leaf", 1),
    "leaf_growth": ("leaf_growth", 0),
    "ramp": ("ramp", 0),
    "fill": ("fill", 0.0),
    "threads": ("threads", 1),
    "memory": ("memory_mebibytes", 1),
}
_TEXTS = {
    "policy": "policy",
    "features": "feature_kind",
    "in_flight": "in_flight",
    "weights": "weights",
}
_SWITCHES = {"solver": "is_solving", "decisive": "is_decisive", "reuse": "is_reusing"}
OPTION_NAMES = ("simulations", "margin", "search", "ponder", "head_start", *_TEXTS, *_SWITCHES, *_NUMBERS)


def parse_options(given: Mapping[str, str], defaults: MctsOptions) -> MctsOptions:
    """`defaults`, with what a person wrote as option=value instead. Raises OptionError."""
    changes: dict[str, Any] = {}
    for name, text in given.items():
        if name in _NUMBERS:
            field, least = _NUMBERS[name]
            changes[field] = parse_number(name, text, least)
        elif name in _TEXTS:
            changes[_TEXTS[name]] = text
        elif name in _SWITCHES:
            changes[_SWITCHES[name]] = parse_switch(name, text)
        else:
            raise OptionError(f"no option {name!r}; there are {', '.join(OPTION_NAMES)}")
    return replace(defaults, **changes)


def check_weights(path: str) -> None:
    """Raises OSError or OptionError where FAST cannot read them."""
    # Not at the top: a player that listens for matches does not need numpy, its search processes do.
    from ggp.search.evaluation import EvaluationFileError, LinearEvaluation

    try:
        LinearEvaluation.load(path)
    except EvaluationFileError as error:
        raise OptionError(str(error)) from None


__all__ = [
    "IN_FLIGHT",
    "OPTION_NAMES",
    "POLICY_PARTS",
    "MctsOptions",
    "OptionError",
    "available_cores",
    "check_weights",
    "default_options",
    "parse_number",
    "parse_options",
    "parse_switch",
]
