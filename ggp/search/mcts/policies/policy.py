"""Policy: how playouts choose, what they teach, and what the tree mixes in; each is registered here.

A policy is written as parts joined by `+`: one of PLAYOUT_POLICIES and one of TREE_POLICIES.

    >>> policy = parse_policy("rave+mast")
    >>> policy.playouts.name, policy.mixes_in
    ('mast', 'rave')
    >>> policy.temperature
    10.0

Everything else that belongs to a policy is in the module of its name (`rave` for GRAVE too, `mast` for
TO-MAST), and in plain Python in `ggp.search.mcts.reference`. A new policy takes a row below, its module, its
kernels in `parts`, and its twin.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Flag, auto
from functools import cache

# Settings.playout: how playouts draw.
UNIFORM, GIBBS, PAST, FAST = range(4)

# Settings.learning: whose moves enter the move statistics.
NO_MOVES, ALL_MOVES, TREE_MOVES = range(3)


class PolicyError(ValueError):
    """A text that names no policy."""


class Need(Flag):
    """Memory, beside the tree, and preparation that a playout policy needs.

    STATISTICS   means per move
    CONTEXTS     choices by the state, not by the moves alone
    STATES       the states of the lanes for some ticks, and pairs of facts and moves
    FEATURES     features of the game, learned before the first search
    """

    NOTHING = 0
    STATISTICS = auto()
    CONTEXTS = auto()
    STATES = auto()
    FEATURES = auto()


@dataclass(frozen=True)
class PlayoutPolicy:
    """One way to choose moves in playouts.

    draws                 Settings.playout
    learns                Settings.learning
    temperature           default tau of the Gibbs distribution
    has_stand_in          whether MAST plays if its needs cannot be met
    keeps_temperature     whether MAST then takes over the tau that was chosen
    """

    name: str
    help: str
    draws: int
    learns: int = NO_MOVES
    needs: Need = Need.NOTHING
    temperature: float = 10.0
    has_stand_in: bool = False
    keeps_temperature: bool = True


PLAYOUT_POLICIES = (
    PlayoutPolicy("uniform", "every legal move alike", UNIFORM),
    PlayoutPolicy(
        "mast",
        "Gibbs sampling over the mean goal of each move (MAST)",
        GIBBS,
        learns=ALL_MOVES,
        needs=Need.STATISTICS,
    ),
    PlayoutPolicy(
        "to-mast",
        "MAST that learns from moves in the tree only (TO-MAST)",
        GIBBS,
        learns=TREE_MOVES,
        needs=Need.STATISTICS,
    ),
    PlayoutPolicy(
        "past",
        "Gibbs sampling over means per fact that holds and move (PAST)",
        PAST,
        learns=ALL_MOVES,
        needs=Need.STATISTICS | Need.CONTEXTS | Need.STATES,
        has_stand_in=True,
    ),
    PlayoutPolicy(
        "fast",
        "Gibbs sampling over values learned for pieces or cells of the board (FAST)",
        FAST,
        needs=Need.STATISTICS | Need.CONTEXTS | Need.FEATURES,
        temperature=1.0,
        has_stand_in=True,
        keeps_temperature=False,
    ),
)
"""The first is that of a policy that names none."""

RAVE, GRAVE = "rave", "grave"
TREE_POLICIES = {
    RAVE: "all-moves-as-first values in the tree (RAVE)",
    GRAVE: "the same from the nearest node above that knows enough (GRAVE)",
}
"""What is mixed into the means of the tree; see `ggp.search.mcts.policies.rave`."""

_BY_NAME = {each.name: each for each in PLAYOUT_POLICIES}
POLICY_PARTS = (*_BY_NAME, *TREE_POLICIES)


@dataclass(frozen=True)
class Policy:
    """A policy put together from its parts; made by `parse_policy`.

    name       as it was written
    mixes_in   a key of TREE_POLICIES, or ""
    """

    name: str
    playouts: PlayoutPolicy
    mixes_in: str = ""

    @property
    def draws(self) -> int:
        """Settings.playout."""
        return self.playouts.draws

    @property
    def temperature(self) -> float:
        """Default tau."""
        return self.playouts.temperature

    @property
    def has_statistics(self) -> bool:
        """Whether anything is learned from moves; all-moves-as-first values use its scratch."""
        return bool(self.mixes_in) or self.needs(Need.STATISTICS)

    def needs(self, need: Need) -> bool:
        return need in self.playouts.needs

    def stand_in(self) -> Policy:
        """The same policy with MAST, for games in which FAST has no features, or PAST no room."""
        if not self.playouts.has_stand_in:
            return self
        name = "+".join("mast" if part == self.playouts.name else part for part in self.name.split("+"))
        return replace(self, name=name, playouts=_BY_NAME["mast"])


@cache
def parse_policy(text: str) -> Policy:
    """The policy written as `text`, such as `mast+rave`. Raises PolicyError."""
    parts = set(text.split("+"))
    if unknown := parts - set(POLICY_PARTS):
        raise PolicyError(
            f"unknown policy {min(unknown)!r}; policies are {', '.join(POLICY_PARTS)}, joined by +"
        )
    named = [_BY_NAME[part] for part in sorted(parts) if part in _BY_NAME]
    learning = [each.name for each in named if each.draws != UNIFORM]
    if len(learning) > 1:
        raise PolicyError(f"{' and '.join(learning)} cannot be combined")
    if len(named) > 1:
        raise PolicyError("uniform playouts learn nothing")
    playouts = named[0] if named else PLAYOUT_POLICIES[0]
    if parts.issuperset(TREE_POLICIES):
        raise PolicyError("rave and grave cannot be combined")
    mixed = next((part for part in TREE_POLICIES if part in parts), "")
    return Policy(text, playouts, mixed)
