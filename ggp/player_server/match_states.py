"""The states of one match, computed by a state process that is replaced if it dies."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ggp.player_server.process_pools import StatePool
from ggp.processes.child import Child, ChildError, ChildFullError, ChildGoneError, ChildStartError

log = logging.getLogger("ggp.player")

_MAX_RESTARTS = 3
"""Maximum number of replacements of a dead process in one match."""


@dataclass(frozen=True)
class KnownPosition:
    """A position as reported by the state process; see `ggp.beliefs.tracking.Position`.

    state    a number that identifies the state
    legal    the role's legal moves as text, not all of them if `is_cut`
    """

    step: int
    state: int
    legal: list[str]
    is_cut: bool
    note: str


class MatchStates:
    """Follows a match in a state process. A dead process is replaced and the requests are repeated.

    program   the packed rules, once `has_program` is set
    """

    def __init__(self, match_id: str, pool: StatePool) -> None:
        self.program = ""
        self.has_program = asyncio.Event()
        self._match_id, self._pool = match_id, pool
        self._child: Child | None = None
        self._journal: list[tuple[str, dict[str, Any]]] = []
        """The requests of the match so far, in order."""
        self._done = 0
        """Entries of the journal that the process has answered."""
        self._restarts, self._most_restarts = 0, 1
        self._turn = asyncio.Lock()
        self._is_closed = False

    @property
    def pid(self) -> int | None:
        """The process id, while the process is alive."""
        return None if self._child is None else self._child.pid

    async def load(self, rules: str, role: str, seed: int) -> dict[str, Any]:
        """Read the rules and follow the match from its initial state. Raises ChildError.

        The result has `spellings`, `own_index` and `position`, see `state_process`.
        """
        parsed = await self._do("parse", rules=rules)
        self.program = parsed["program"]
        self.has_program.set()
        loaded: dict[str, Any] = await self._do("load", role=role, seed=seed)
        self._most_restarts = _MAX_RESTARTS
        return {**loaded, "spellings": parsed["spellings"]}

    async def advance(
        self, terms: Sequence[str] | None, own_move: str | None, deadline: float
    ) -> KnownPosition:
        """Advance the match by one PLAY. Raises ChildError."""
        return KnownPosition(**await self._do("advance", deadline, terms=terms, own_move=own_move))

    async def search(self, cpu_seconds: float, deadline: float) -> str | None:
        """Continue the short search for `cpu_seconds`; return its best move. Raises ChildError."""
        while True:
            await self._catch_up(deadline)
            child = self._child
            assert child is not None
            try:
                found = child.ask("search", cpu_seconds=cpu_seconds, deadline=deadline)
                move: str | None = await asyncio.wrap_future(found)
            except ChildGoneError as error:
                if child is self._child:
                    self._replace(error)
            else:
                return move

    async def _do(self, do: str, deadline: float = 0.0, **arguments: Any) -> Any:
        self._journal.append((do, arguments))
        return await self._catch_up(deadline)

    async def _catch_up(self, deadline: float) -> Any:
        """Send what the process has not answered; the last of these answers."""
        last, answer = len(self._journal), None
        async with self._turn:
            while self._done < last:
                try:
                    child = self._child or await self._take()
                    do, arguments = self._journal[self._done]
                    limit = {"deadline": deadline} if do == "advance" else {}
                    answer = await asyncio.wrap_future(child.ask(do, **arguments, **limit))
                except ChildGoneError as error:
                    self._replace(error)
                    continue
                except ChildError:
                    if self._done + 1 == last:
                        self._done += 1
                        raise
                self._done += 1
        return answer

    async def _take(self) -> Child:
        child = await self._pool.take(lambda: self._is_closed)
        if self._is_closed:
            self._pool.give_back(child)
            raise ChildGoneError
        self._child, self._done = child, 0
        return child

    def _replace(self, error: ChildGoneError) -> None:
        """Replace the process. Raises `error` if that would not help, or happened too often."""
        if self._is_closed or isinstance(error, ChildFullError | ChildStartError):
            self._restarts = self._most_restarts
            raise error
        if self._restarts == self._most_restarts:
            raise ChildGoneError("the state process died again") from None
        self._restarts += 1
        log.warning("match %s: the state process died; starting another one", self._match_id)
        if self._child is not None:
            self._pool.give_back(self._child)
            self._child, self._done = None, 0

    def close(self) -> None:
        """End the match without waiting."""
        self._is_closed = True
        self.has_program.set()
        if self._child is not None:
            self._pool.give_back(self._child)
