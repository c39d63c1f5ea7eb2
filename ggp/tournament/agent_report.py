"""Report on one agent: its matches with outcome, and its faults with their reasons."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from ggp.match.faults import Fault
from ggp.match.record import MatchRecord
from ggp.tournament.results import pair_scores
from ggp.tournament.store import Run, Store, StoredMatch

FAULTS_SHOWN = 3
"""Maximum number of reasons, and of steps with the same reason, in a line of text."""

LINES_SHOWN = 30
"""Maximum number of matches in a list for the terminal, the newest ones."""

REASONS = {
    "TO": "time-out",
    "CE": "no connection",
    "IL": "illegal move",
    "CR": "crashed:",
}
"""Code of a fault, as records write it → words."""

OUTCOMES = ("won", "drawn", "lost", "alone", "aborted")


@dataclass(frozen=True)
class Appearance:
    """A match from the point of view of an agent.

    outcome   one of OUTCOMES; "alone" in single-player games
    roles     those that the agent had
    score     what every role got, the agent's own first: `x 0, o (bob) 100`
    faults    step and reason
    """

    match: StoredMatch
    outcome: str
    roles: tuple[str, ...]
    score: str
    faults: tuple[tuple[int, str], ...]

    @property
    def fault_text(self) -> str:
        """The faults in one line, those with the same reason together; empty without any."""
        places: dict[str, list[str]] = {}
        for step, reason in self.faults:
            places.setdefault(reason, []).append(str(step) if step else "START")
        parts = []
        for reason, steps in places.items():
            word = "" if steps == ["START"] else "step " if len(steps) == 1 else "steps "
            parts.append(f"{reason} at {word}{_first(steps)}")
        return _first(parts, "; ")


def _first(texts: list[str], between: str = ", ") -> str:
    more = len(texts) - FAULTS_SHOWN
    return between.join(texts[:FAULTS_SHOWN]) + (f" and {more} more" if more > 0 else "")


def appearance(match: StoredMatch, record: MatchRecord, agent: str) -> Appearance:
    """One match from the side of `agent`."""
    own = [number for number, seat in enumerate(match.seats) if seat.agent == agent]
    goals = []
    for seat in sorted(match.seats, key=lambda seat: seat.agent != agent):
        name = seat.role if seat.agent == agent else f"{seat.role} ({seat.agent or 'random'})"
        goals.append(f"{name} {'-' if seat.goal is None else seat.goal}")
    faults = tuple(
        (step, reason_of(fault))
        for step, entry in enumerate(record.steps)
        for number in own
        if number < len(entry.faults) and (fault := entry.faults[number]) is not None
    )
    roles = tuple(match.seats[number].role for number in own)
    scores = [score for (of_agent, _), score in pair_scores(match) if of_agent == agent]
    mean = sum(scores) / max(1, len(scores))
    outcome = "alone" if not scores else "won" if mean > 0.5 else "lost" if mean < 0.5 else "drawn"
    return Appearance(match, outcome if match.is_completed else "aborted", roles, ", ".join(goals), faults)


def reason_of(fault: Fault) -> str:
    """A fault in words.

    >>> from ggp.match.faults import Illegal, Late, OtherFault
    >>> reason_of(Late()), reason_of(Illegal("(mark 9 9)")), reason_of(OtherFault("dns failed"))
    ('time-out', 'illegal move (mark 9 9)', 'dns failed')
    """
    code, _, rest = str(fault).partition(" ")
    return f"{REASONS.get(code, code)} {rest}".rstrip()


def summary(found: Iterable[Appearance]) -> str:
    """Number of matches by outcome, and of those with faults.

    >>> summary([])
    '0 matches: 0 won, 0 drawn, 0 lost'
    """
    found = list(found)
    counts = Counter(each.outcome for each in found)
    parts = [f"{counts[name]} {name}" for name in OUTCOMES if counts[name] or name in OUTCOMES[:3]]
    flawed = sum(bool(each.faults) for each in found)
    return f"{len(found)} matches: {', '.join(parts)}" + (f"; faults in {flawed}" if flawed else "")


def agent_text(store: Store, run: Run, agent: str) -> str:
    """Faults and losses of an agent, and the command that replays a match. Raises StoreError."""
    matches = [match for match in store.matches(run) if agent in {seat.agent for seat in match.seats}]
    matches.sort(key=lambda match: match.stored_ms, reverse=True)
    found = [appearance(match, store.record(run, match.id), agent) for match in matches]
    flawed = [each for each in found if each.faults]
    lost = [each for each in found if each.outcome == "lost"]
    lines = [f"{agent} ({run.plan.agent(agent).player}): {summary(found)}"]
    faults = [f"  {each.match.id}   as {', '.join(each.roles)}: {each.fault_text}" for each in flawed]
    losses = [f"  {each.match.id}   {each.score}, {each.match.steps} steps" for each in lost]
    for title, listed in (("Faults", faults), ("Losses", losses)):
        lines += ["", title, *listed[:LINES_SHOWN]] if listed else []
        more = len(listed) - LINES_SHOWN
        lines += [f"  and {more} older ones: --html writes pages with all"] if more > 0 else []
    if flawed or lost:
        place = f"{shlex.quote(str(store.path))} --run {shlex.quote(run.name)}"
        example = shlex.quote((flawed or lost)[0].match.id)
        lines += ["", f"Replay one: ggp tournament show {place} --match {example}"]
    return "\n".join(lines)
