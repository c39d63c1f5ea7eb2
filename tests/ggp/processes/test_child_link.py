"""Child processes: one that is closed while it starts does not stay."""

import asyncio

import pytest

from ggp.processes.child_link import ChildError, ChildLink, ChildStartError


@pytest.mark.slow
def test_process_that_is_closed_while_it_starts_ends():
    async def scenario():
        gone = asyncio.Event()
        link = ChildLink("ggp.web.sheet_process", 2048, lambda event, text: gone.set())
        start = asyncio.create_task(link.start())
        await asyncio.sleep(0)
        await link.close()
        await start
        await asyncio.wait_for(gone.wait(), 10)
        with pytest.raises(ChildError):
            await link.ask("check", {"rules": "(role x)"}, 5.0)

    asyncio.run(scenario())


def test_process_that_cannot_start_is_an_error_of_its_own(monkeypatch):
    def fail(*command, **options):
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(asyncio, "create_subprocess_exec", fail)
    with pytest.raises(ChildStartError, match="no process could be started"):
        asyncio.run(ChildLink("ggp.web.sheet_process", 512).start())
