"""MctsOptions: everything that can be chosen about a Monte-Carlo tree search, with the defaults.

A *policy* is written as parts joined by `+`:

    uniform     playouts choose uniformly
    mast        playouts by Gibbs sampling over the mean goal of each move (MAST)
    to-mast     the same, learned from moves in the tree only (TO-MAST)
    past        the same per fact that holds and move, the largest mean (PAST)
    rave        all-moves-as-first values in the tree (RAVE); goes with each of the others
    greedy      with mast or to-mast: the best mean, but a uniform move with probability epsilon

Constants are those of Finnsson & Björnsson (2010) on the scale 0..100. What concerns speed and parallelism
applies to `ggp.search.mcts` only; the plain-Python search has one descent in flight.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

POLICY_PARTS = ("uniform", "mast", "to-mast", "past", "rave", "greedy")
IN_FLIGHT = ("ignored", "losses", "denominator")


class PolicyError(ValueError):
    """A policy text names parts that there are not, or that do not go together."""


@dataclass(frozen=True)
class MctsOptions:
    """How to search.

    exploration       C of UCT
    temperature       tau of the Gibbs distribution
    epsilon           probability of a uniform move in `greedy` playouts, in steps of 1/1024
    rave_k            k in beta = sqrt(k / (3 N + k))
    past_visits       visits below which a fact-move pair does not count
    refresh           playouts after which the weights of moves are computed anew; None: by the search
    is_solving        prove wins, losses and draws (one role, or two with goals that sum up to 100)
    step_limit        joint moves of a playout, then it counts as an end
    depth_limit       joint moves in the tree, then the playout begins
    node_limit        nodes of one tree of the plain-Python search

    words             W: 64*W lanes per tree
    lanes             lanes in use; None: all
    lanes_per_leaf    lanes that share one descent
    ramp              lanes in flight are at most (visits of the root) / ramp; 0: no limit
    in_flight         how playouts that have not ended count in UCT: `ignored`, as `losses`, or in the
                      `denominator` only ("watch the unobserved", Liu et al. 2020)
    threads           trees, each in a thread of its own, merged at the root
    memory_mebibytes  for all trees together
    """

    policy: str = "uniform"
    exploration: float = 40.0
    temperature: float = 10.0
    epsilon: float = 0.2
    rave_k: float = 1000.0
    past_visits: int = 3
    refresh: int | None = None
    is_solving: bool = False
    step_limit: int = 10_000
    depth_limit: int = 512
    node_limit: int = 200_000
    words: int = 8
    lanes: int | None = None
    lanes_per_leaf: int = 8
    ramp: int = 8
    in_flight: str = "denominator"
    threads: int = 1
    memory_mebibytes: int = 1024

    def __post_init__(self) -> None:
        parts = self.parts
        unknown = parts - set(POLICY_PARTS)
        if unknown:
            raise PolicyError(f"no policy {min(unknown)!r}: there are {', '.join(POLICY_PARTS)}, joined by +")
        learning = parts & {"mast", "to-mast", "past"}
        if len(learning) > 1:
            raise PolicyError(f"{' and '.join(sorted(learning))} do not go together")
        if "uniform" in parts and (learning or "greedy" in parts):
            raise PolicyError("uniform playouts learn nothing")
        if "greedy" in parts and not learning & {"mast", "to-mast"}:
            raise PolicyError("greedy goes with mast or to-mast")
        if self.in_flight not in IN_FLIGHT:
            raise ValueError(f"in_flight is one of {', '.join(IN_FLIGHT)}, not {self.in_flight!r}")

    @property
    def parts(self) -> frozenset[str]:
        """The parts of the policy."""
        return frozenset(self.policy.split("+"))

    @property
    def has_rave(self) -> bool:
        return "rave" in self.parts

    @property
    def is_greedy(self) -> bool:
        return "greedy" in self.parts

    @property
    def learns(self) -> str:
        """`mast`, `to-mast`, `past`, or `` for uniform playouts."""
        return next(iter(self.parts & {"mast", "to-mast", "past"}), "")

    @property
    def epsilon_in_1024ths(self) -> int:
        return round(1024 * self.epsilon)

    def with_one_lane(self) -> MctsOptions:
        """The same search with one descent at a time: what the plain-Python search does."""
        return replace(self, words=1, lanes=1, lanes_per_leaf=1, threads=1, refresh=self.refresh or 1)


__all__ = ["IN_FLIGHT", "POLICY_PARTS", "MctsOptions", "PolicyError"]
