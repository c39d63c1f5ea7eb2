"""Properties of a game sampled in random matches: `ggp validate --play`.

If the rules compile to lanes, tens of thousands of matches are played on lanes first. The slower reasoner
then looks for whatever went wrong there, and checks all facts and moves; it records the moves that lead to a
fault.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any

from gdl.errors import ReasoningError
from ggp.engines.batches import playouts
from ggp.engines.compiled import CompiledGame
from ggp.game import Game, Move, NoLegalMoveError, Role
from ggp.validation.properties import (
    CLAIMS,
    LONGEST_SEEN,
    TURN_TAKING,
    Declarations,
    Outcome,
    PlayLimits,
    Property,
    Witness,
    counted,
    goal_fault,
    players_of,
)

SEARCH_FACTOR = 20
"""Factor on the number of matches while looking for a fault that was seen on lanes."""
SEEN_ON_LANES = {
    "GDL401": "some random matches do not end within the step limit",
    "GDL402": "in some random matches, a role has no legal move",
    "GDL403": "some random matches end without exactly one goal value for every role",
}
"""What is reported of a fault for which the reasoner finds no witness."""


@dataclass
class Sampling:
    """The observations so far.

    playouts           number of matches with the reasoner; `lane_playouts`: on lanes
    ended, longest     number of matches that reached a terminal state, and steps of the longest of them
    sums               sums of goals in terminal states
    winners            roles that reached 100
    witnesses          code → (what is wrong, the match)
    """

    playouts: int = 0
    lane_playouts: int = 0
    ended: int = 0
    longest: int = 0
    sums: set[int] = field(default_factory=set)
    is_turn_taking: bool = True
    winners: set[Role] = field(default_factory=set)
    witnesses: dict[str, tuple[str, Witness]] = field(default_factory=dict)


def play_randomly(
    game: Game[Any],
    exact: Game[Any],
    declarations: Declarations,
    limits: PlayLimits,
    progress: Callable[[int], None] | None = None,
) -> list[Property]:
    """Sample the properties that random matches can refute.

    game    the game on the fastest engine; `exact`: on the reasoner (may be the same)
    """
    sampling = Sampling()
    suspicions = _play_on_lanes(game, limits, sampling) if isinstance(game, CompiledGame) else set()
    rng = random.Random(limits.seed)
    deadline = time.monotonic() + limits.seconds
    count = limits.playouts * (SEARCH_FACTOR if suspicions else 1)
    for number in range(count):
        is_enough = number >= limits.playouts and suspicions <= sampling.witnesses.keys()
        if is_enough or (number and time.monotonic() > deadline):
            break
        _Match(exact, declarations, limits, sampling, rng, deadline).play()
        if progress is not None:
            progress(number + 1)
    for code in sorted(suspicions - sampling.witnesses.keys()):
        sampling.witnesses[code] = (SEEN_ON_LANES[code], Witness((), ()))
    return _properties(exact, sampling, declarations, suspicions)


def _play_on_lanes(game: CompiledGame, limits: PlayLimits, sampling: Sampling) -> set[str]:
    """Play on lanes; returns the codes of faults that occurred."""
    deadline = time.monotonic() + limits.seconds
    statistics = playouts(
        game, limits.lane_playouts, seed=limits.seed, step_limit=limits.step_limit, deadline=deadline
    )
    sampling.lane_playouts = statistics.playouts
    sampling.ended = statistics.finished
    sampling.longest = statistics.longest
    players = players_of(game)
    seats = [r for r, role in enumerate(game.roles) if role in players]
    sampling.winners |= {game.roles[r] for r in seats if statistics.goal_counts[r].get(100)}
    found = {
        "GDL401": statistics.cut,
        "GDL402": statistics.stuck,
        "GDL403": sum(statistics.without_goal[r] + statistics.with_several_goals[r] for r in seats),
    }
    return {code for code, count in found.items() if count}


@dataclass
class _Match:
    """One random match with the reasoner, in which every state is checked."""

    game: Game[Any]
    declarations: Declarations
    limits: PlayLimits
    sampling: Sampling
    rng: random.Random
    deadline: float
    joint_moves: list[tuple[Move, ...]] = field(default_factory=list)
    is_interrupted: bool = False

    def play(self) -> None:
        """Play until the match ends, a limit is reached, or a role has no move."""
        game = self.game
        state: Hashable = game.initial_state()
        try:
            while not self.is_over(state):
                moves = self.moves(state)
                if moves is None:
                    break
                joint_move = tuple(self.rng.choice(of_role) for of_role in moves)
                state = game.next_state(state, joint_move)
                self.joint_moves.append(joint_move)
        except ReasoningError as error:
            self.note("GDL407", str(error), state)
        self.sampling.playouts += not self.is_interrupted

    def is_over(self, state: Hashable) -> bool:
        """Check `state`; returns whether the match ends there."""
        sampling = self.sampling
        outside = self.declarations.undeclared_fact(self.game.facts(state))
        if outside is not None:
            self.note("GDL404", f"base does not list the fact {outside}, which holds", state)
        steps = len(self.joint_moves)
        if self.game.is_terminal(state):
            sampling.ended += 1
            sampling.longest = max(sampling.longest, steps)
            fault = goal_fault(self.game, state)
            if fault:
                self.note("GDL403", f"at the end, {fault}", state)
            else:
                goals = {role: self.game.goal(state, role) for role in players_of(self.game)}
                sampling.sums.add(sum(goals.values()))
                sampling.winners |= {role for role, goal in goals.items() if goal == 100}
            return True
        if steps >= self.limits.step_limit:
            self.note("GDL401", f"a random match does not end within {steps} steps", state)
            return True
        self.is_interrupted = time.monotonic() > self.deadline
        return self.is_interrupted

    def moves(self, state: Hashable) -> list[tuple[Move, ...]] | None:
        """The legal moves per role; None if a role has none."""
        found = []
        for role in self.game.roles:
            try:
                moves = self.game.legal_moves(state, role)
            except NoLegalMoveError as error:
                self.note("GDL402", error.message, state)
                return None
            outside = self.declarations.undeclared_move(role, moves)
            if outside is not None:
                self.note("GDL405", f"input does not list the legal move {outside} of {role}", state)
            found.append(moves)
        if sum(len(moves) > 1 for moves in found) > 1:
            self.sampling.is_turn_taking = False
        return found

    def note(self, code: str, text: str, state: Hashable) -> None:
        """Keep the shortest match that shows the fault `code`."""
        known = self.sampling.witnesses.get(code)
        if known is None or len(known[1].joint_moves) > len(self.joint_moves):
            witness = Witness(tuple(self.joint_moves), self.game.facts(state))
            self.sampling.witnesses[code] = (text, witness)


_COUNTED_ON_LANES = ("GDL401", "GDL402")


def _properties(
    game: Game[Any], sampling: Sampling, declarations: Declarations, suspicions: set[str]
) -> list[Property]:
    declared = {"GDL404": declarations.base, "GDL405": declarations.input}
    undeclared = {code for code, terms in declared.items() if terms is None}
    found = []
    for code, statement in CLAIMS.items():
        if code in undeclared:
            continue
        if code in sampling.witnesses:
            text, witness = sampling.witnesses[code]
            is_shown = bool(witness.joint_moves or witness.facts or code not in suspicions)
            found.append(Property(statement, Outcome.REFUTED, text, witness if is_shown else None, code))
        elif code != "GDL407" and (code != "GDL403" or sampling.ended):
            count = sampling.playouts + (sampling.lane_playouts if code in _COUNTED_ON_LANES else 0)
            count = sampling.ended if code == "GDL403" else count
            found.append(Property(statement, Outcome.SAMPLED, f"{count:,} matches", code=code))
    return found + _character(game, sampling)


def _character(game: Game[Any], sampling: Sampling) -> list[Property]:
    matches = f"{sampling.playouts + sampling.lane_playouts:,} matches"
    by_reasoner = f"{sampling.playouts:,} matches"
    found, players = [], players_of(game)
    if sampling.ended:
        longest = f"{LONGEST_SEEN} {counted(sampling.longest, 'step')}"
        found.append(Property(longest, Outcome.SAMPLED, f"{sampling.ended:,} matches"))
    if len(players) > 1 and sampling.is_turn_taking:
        found.append(Property(TURN_TAKING, Outcome.SAMPLED, by_reasoner))
    if len(players) > 1 and len(sampling.sums) == 1 and "GDL403" not in sampling.witnesses:
        statement = f"the goals always add up to {min(sampling.sums)}"
        found.append(Property(statement, Outcome.SAMPLED, by_reasoner))
    won, unseen = (Outcome.PROVED, "seen in a match"), (Outcome.SAMPLED, f"not seen in {matches}")
    goals = [Property(f"{r} can get 100", *(won if r in sampling.winners else unseen)) for r in players]
    return [*found, *goals]
