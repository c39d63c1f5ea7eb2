"""Pools of warm, reusable processes: for states and for searches."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from ggp.players.own import is_own_player
from ggp.processes.child import Child, ChildError, ChildGoneError, ChildLateError, resident_mebibytes
from ggp.protocol.messages import printable

log = logging.getLogger("ggp.player")

_STATES_MEBIBYTES = 1024
_STATES_GROWTH_MEBIBYTES, _SEARCH_GROWTH_MEBIBYTES = 100, 50
_STATES_READY_SECONDS = 30.0
_FORGET_SECONDS = 0.5
"""CPU time for a state process to forget a match before it is killed."""
_STOP_SECONDS = 1.0
"""CPU time for a search process to end its match before it is killed."""
_COMPILING_SECONDS = 120.0
"""Additional time while it compiles, which fills the cache for the next match."""
_PREPARING_SECONDS = 300.0
"""CPU time for a process to compile and load the kernels of the agent."""


class _Pool:
    """Processes that wait for a match.

    most               maximum number, processes that end a match included
    growth_mebibytes   a process that has grown by more than this since it became warm is not reused
    """

    def __init__(self, module: str, arguments: tuple[str, ...], most: int, growth_mebibytes: int) -> None:
        self.idle: list[Child] = []
        self._module, self._arguments = module, arguments
        self._most, self._growth_mebibytes = most, growth_mebibytes
        self._warm_mebibytes = 0
        self._busy: list[Child] = []
        """Processes that are warming up or ending a match."""
        self._is_closed = False

    def _new(self) -> Child:
        return Child(self._module, *self._arguments)

    def _take_idle(self) -> Child | None:
        while self.idle:
            if not (child := self.idle.pop()).is_gone:
                return child
        return None

    async def _add_warm(self, do: str, seconds: float, **arguments: Any) -> None:
        """Start a process and wait until it is warm. Raises ChildError."""
        child, is_warm = self._new(), False
        self._busy.append(child)
        try:
            await child.answer(child.ask(do, **arguments), seconds)
            self._warm_mebibytes, is_warm = resident_mebibytes(child.pid), True
        finally:
            await self._settle(child, is_warm)

    async def _end_match(
        self, child: Child, do: str, seconds: float, compiling_seconds: float = 0.0, **arguments: Any
    ) -> None:
        """End the match of a process, and keep it if it can be reused and is needed."""
        is_fit, is_wanted = False, len(self.idle) + len(self._busy) < self._most and not self._is_closed
        self._busy.append(child)
        try:
            with contextlib.suppress(ChildError):
                if is_wanted:
                    ending = child.ask(do, **arguments)
                    await child.answer(ending, seconds, compiling_seconds=compiling_seconds)
                    growth = resident_mebibytes(child.pid) - self._warm_mebibytes
                    is_fit = bool(self._warm_mebibytes) and growth <= self._growth_mebibytes
        finally:
            await self._settle(child, is_fit)

    async def _settle(self, child: Child, is_fit: bool) -> None:
        """Add a busy process to those that wait, or end it."""
        self._busy.remove(child)
        if is_fit and not (child.is_gone or self._is_closed):
            self.idle.append(child)
        else:
            await child.aclose()

    async def close(self) -> None:
        """Kill the processes without a match."""
        self._is_closed = True
        await asyncio.gather(*(child.aclose() for child in [*self.idle, *self._busy]))


class StatePool(_Pool):
    """State processes for matches; `spares` of them wait for the next one.

    Processes are started one at a time, so that many short matches cannot occupy the machine.
    """

    def __init__(self, spares: int = 2) -> None:
        arguments = (str(_STATES_MEBIBYTES),)
        super().__init__("ggp.player_server.state_process", arguments, spares, _STATES_GROWTH_MEBIBYTES)
        self._starting = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()

    async def take(self, is_abandoned: Callable[[], bool] = lambda: False) -> Child:
        """A warm process. Raises ChildError if none can be started, or none is needed any more.

        is_abandoned   called before a process is started for this match: a match that was aborted
                       meanwhile must not delay the next ones
        """
        while (child := self._take_idle()) is None:
            async with self._starting:
                if self._is_closed or is_abandoned():
                    raise ChildGoneError("the match ended meanwhile")
                if not self.idle:
                    await self._add_warm("forget", _STATES_READY_SECONDS)
        return child

    def give_back(self, child: Child) -> None:
        """End the match of a process, and keep it if it can be reused. Does not wait."""
        if child.is_busy:
            child.kill()
        self._keep(self._recycle(child))

    async def open(self) -> None:
        """Start the spares: wait for the first one, the others start in the background."""
        filling = self._keep(self._fill())
        while not self.idle and not filling.done():
            await asyncio.sleep(0.01)

    async def close(self) -> None:
        await super().close()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _recycle(self, child: Child) -> None:
        await self._end_match(child, "forget", _FORGET_SECONDS)
        await self._fill()

    async def _fill(self) -> None:
        while len(self.idle) < self._most and not self._is_closed:
            async with self._starting:
                if len(self.idle) >= self._most or self._is_closed:
                    return
                try:
                    await self._add_warm("forget", _STATES_READY_SECONDS)
                except ChildError as error:
                    if not self._is_closed:
                        log.error("no process for states: %s", error)
                    return

    def _keep(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


class WorkerPool(_Pool):
    """Search processes for matches: their modules imported, their kernels loaded.

    Otherwise the first matches on a machine would end before anything is compiled and cached, and later ones
    would lose time on loading.

    preparing_seconds   of work, after which a process that still prepares is killed
    """

    def __init__(self, agent: str, most: int = 1, *, preparing_seconds: float = _PREPARING_SECONDS) -> None:
        arguments = ("own",) if is_own_player(agent) else ()
        super().__init__("ggp.player_server.worker", arguments, most, _SEARCH_GROWTH_MEBIBYTES)
        self._agent, self._preparing_seconds = agent, preparing_seconds
        self._is_preparing = False

    async def fill(self) -> bool:
        """Compile and load the kernels of the agent in a spare process; return whether there is one."""
        self.idle = [child for child in self.idle if not child.is_gone]
        if self._is_closed or self.idle or self._is_preparing:
            return bool(self.idle)
        self._is_preparing = True
        try:
            await self._add_warm("prepare", self._preparing_seconds, agent=self._agent)
        except ChildLateError:
            log.warning("not prepared: %s took more than %g s", self._agent, self._preparing_seconds)
        except ChildError as error:
            log.warning("not prepared: %s", printable(str(error)))
        finally:
            self._is_preparing = False
        return bool(self.idle)

    def take(self) -> Child:
        """A process for one match, warm if there is one. Raises ChildStartError."""
        return self._take_idle() or self._new()

    async def give_back(self, child: Child, terms: Sequence[str] | None) -> None:
        """End the match of a process; keep it if it can be reused, else kill it.

        terms   of the STOP message; None after ABORT
        """
        await self._end_match(child, "stop", _STOP_SECONDS, _COMPILING_SECONDS, terms=terms)
