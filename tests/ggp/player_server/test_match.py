"""What a match of the HTTP player sends when its processes are late."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from gdl.terms import Symbol
from ggp.player_server.match import Answer, PlayerMatch, SearchOptions
from ggp.player_server.match_states import KnownPosition
from ggp.protocol.messages import Play, Start

BEFORE = {"step": 0, "state": 0, "legal": ["early", "other"], "is_cut": False, "note": ""}
NOW = {"step": 1, "state": 1, "legal": ["now"], "is_cut": False, "note": ""}


class LateStates:
    """A state process that replies after the deadline, or never."""

    def __init__(self, *, never: bool, position: dict[str, Any] = NOW) -> None:
        self.never = never
        self.position = position

    async def _wait(self) -> None:
        await (asyncio.Event().wait() if self.never else asyncio.sleep(0.001))

    async def advance(self, *observed: Any) -> KnownPosition:
        await self._wait()
        return KnownPosition(**self.position)

    async def search(self, *limits: float) -> str:
        await self._wait()
        return str(self.position["legal"][-1])


class SilentWorker:
    """A search process that takes requests and sends nothing."""

    def tell(self, do: str, **values: Any) -> None:
        """Take a request."""


def late_answer(
    *, has_states: bool, worker_move: str | None, wait_seconds: float, position: dict[str, Any] = NOW
) -> Answer:
    """The answer to a PLAY at whose deadline nothing is known, neither the state nor a move of the worker."""

    async def play() -> Answer:
        start = Start("m", Symbol("x"), "(role x)", 1.0, 1.0)
        match: Any = PlayerMatch(start, SearchOptions(seed=1), None, None, "")  # type: ignore[arg-type]
        match._states, match._worker = LateStates(never=not has_states, position=position), SilentWorker()
        match._position = KnownPosition(**BEFORE)
        if worker_move is not None:
            event = {"event": "best", "ticket": 0, "move": worker_move, "is_searched": False}
            asyncio.get_running_loop().call_later(0.01, match._receive, match._worker, event, "")
        now = time.monotonic()
        answer: Answer = await match.play(Play("m", (Symbol("early"),)), now, now + wait_seconds)
        return answer

    return asyncio.run(play())


@pytest.mark.parametrize(("has_states", "worker_move"), [(True, None), (False, "now")])
def test_late_position_or_worker_saves_from_guessing(has_states: bool, worker_move: str | None) -> None:
    answer = late_answer(has_states=has_states, worker_move=worker_move, wait_seconds=60.0)
    assert (answer.text, answer.how == "guess") == ("now", False)


def test_late_search_saves_from_a_random_move() -> None:
    choice = {**NOW, "legal": ["first", "second", "third"]}
    answer = late_answer(has_states=True, worker_move="first", wait_seconds=60.0, position=choice)
    assert (answer.text, answer.how) == ("third", "short search")


def test_guess_is_sent_when_nothing_arrives() -> None:
    assert late_answer(has_states=False, worker_move=None, wait_seconds=0.02).how == "guess"
