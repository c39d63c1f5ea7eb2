"""Policy: how playouts choose, what they teach, and what the tree mixes in; each is registered here.

A policy is written as parts joined by `+`: one of PLAYOUT_POLICIES, and RAVE.

    >>> policy = parse_policy("rave+mast")
    >>> policy.playouts.name, policy.mixes_in, policy.playouts.temperature
    ('mast', 'rave', 10.0)

Everything else that belongs to a policy is in the module of its name (`mast` for TO-MAST), and in plain
Python in `ggp.search.tree.reference`. CONTRIBUTING.md says what a new policy takes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

# Settings.playout: how playouts draw.
UNIFORM, GIBBS, PAST, FAST = range(4)

# Settings.learning: whose moves enter the move statistics.
NO_MOVES, ALL_MOVES, TREE_MOVES = range(3)

PAST_VISITS = 3
"""PAST: visits below which a pair of fact and move does not count."""


class PolicyError(ValueError):
    """A text that names no policy."""


@dataclass(frozen=True)
class PlayoutPolicy:
    """One way to choose moves in playouts.

    draws         Settings.playout
    learns        Settings.learning
    temperature   default tau of the Gibbs distribution
    """

    name: str
    draws: int
    learns: int = NO_MOVES
    temperature: float = 10.0


PLAYOUT_POLICIES = (
    PlayoutPolicy("uniform", UNIFORM),
    PlayoutPolicy("mast", GIBBS, ALL_MOVES),
    PlayoutPolicy("to-mast", GIBBS, TREE_MOVES),
    PlayoutPolicy("past", PAST, ALL_MOVES),
    PlayoutPolicy("fast", FAST, temperature=1.0),
)
RAVE = "rave"
"""What is mixed into the means of the tree; see `ggp.search.tree.policies.rave`."""

_BY_NAME = {each.name: each for each in PLAYOUT_POLICIES}
POLICY_PARTS = (*_BY_NAME, RAVE)


@dataclass(frozen=True)
class Policy:
    """A policy put together from its parts; made by `parse_policy`.

    name       as it was written
    mixes_in   RAVE or ""
    """

    name: str
    playouts: PlayoutPolicy
    mixes_in: str = ""

    @property
    def has_statistics(self) -> bool:
        """Whether there are means per move, or what all-moves-as-first values need of their scratch."""
        return bool(self.mixes_in) or self.playouts.draws != UNIFORM

    @property
    def has_states(self) -> bool:
        """Whether it keeps the states of the lanes for some ticks, and pairs of facts and moves."""
        return self.playouts.draws == PAST

    @property
    def has_features(self) -> bool:
        """Whether it needs features of the game, learned before the first search."""
        return self.playouts.draws == FAST

    def stand_in(self) -> Policy:
        """The same policy with MAST, for games in which FAST has no features, or PAST no room."""
        if not (self.has_states or self.has_features):
            return self
        return parse_policy(self.name.replace(self.playouts.name, "mast"))


@cache
def parse_policy(text: str) -> Policy:
    """The policy written as `text`, such as `mast+rave`. Raises PolicyError."""
    parts = set(text.split("+"))
    if unknown := parts - set(POLICY_PARTS):
        raise PolicyError(
            f"unknown policy {min(unknown)!r}; policies are {', '.join(POLICY_PARTS)}, joined by +"
        )
    playouts = [name for name in _BY_NAME if name in parts]
    if len(playouts) > 1:
        raise PolicyError(f"{' and '.join(playouts)} cannot be combined")
    return Policy(text, _BY_NAME[playouts[0] if playouts else "uniform"], RAVE if RAVE in parts else "")
