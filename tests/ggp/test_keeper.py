"""The thread that keeps a match's state: it can be abandoned at any time."""

import asyncio
import threading

import pytest

from ggp.keeper import Keeper, KeeperClosed


def run_for_ever():
    while True:
        sum(range(100))


def test_keeper_runs_jobs_in_order_in_one_thread():
    async def scenario():
        keeper = Keeper("test")
        seen = []
        futures = [keeper.submit(lambda n=n: seen.append((n, threading.get_ident())) or n) for n in range(5)]
        results = await asyncio.gather(*futures)
        keeper.close()
        return results, seen

    results, seen = asyncio.run(scenario())
    assert results == [0, 1, 2, 3, 4]
    assert [n for n, _ in seen] == results
    assert len({thread for _, thread in seen}) == 1
    assert threading.get_ident() not in {thread for _, thread in seen}


def test_keeper_hands_on_errors():
    async def scenario():
        keeper = Keeper("test")
        with pytest.raises(ZeroDivisionError):
            await keeper.submit(lambda: 1 / 0)
        assert await keeper.submit(lambda: 7) == 7
        keeper.close()

    asyncio.run(scenario())


def test_keeper_interrupts_a_job_that_does_not_end():
    async def scenario():
        keeper = Keeper("test")
        endless = keeper.submit(run_for_ever)
        while keeper.busy_seconds == 0:
            await asyncio.sleep(0.01)
        keeper.close()
        async with asyncio.timeout(10):
            with pytest.raises(KeeperClosed):
                await endless
        while any(thread.name == "test" for thread in threading.enumerate()):
            await asyncio.sleep(0.01)
        assert keeper.busy_seconds == 0

    asyncio.run(scenario())


def test_keeper_refuses_jobs_once_closed():
    async def scenario():
        keeper = Keeper("test")
        keeper.close()
        with pytest.raises(KeeperClosed):
            await keeper.submit(lambda: 1)

    asyncio.run(scenario())


def test_keepers_closed_at_any_moment_leave_the_loop_alive():
    async def scenario():
        for delay in range(100):
            keeper = Keeper("test")
            futures = [keeper.submit(lambda: sum(range(2000))) for _ in range(5)]
            await asyncio.sleep(delay * 2e-5)
            keeper.close()
            async with asyncio.timeout(10):
                await asyncio.wait(futures, timeout=0.01)
        return True

    assert asyncio.run(scenario())
