"""Limits on the work of a child: CPU time, and much more wall time for one that does nothing."""

import asyncio
import subprocess
import sys
import time

import pytest

from ggp.processes.child_process import WALL_FACTOR, result_of_work


def seconds_until_timeout(code, seconds):
    """Wall and CPU seconds that a child running `code` gets for a result that never comes."""
    child = subprocess.Popen([sys.executable, "-c", code])

    async def wait():
        await result_of_work(asyncio.get_running_loop().create_future(), child.pid, seconds)

    begin = time.monotonic()
    try:
        with pytest.raises(TimeoutError):
            asyncio.run(wait())
        return time.monotonic() - begin
    finally:
        child.kill()
        child.wait()


@pytest.mark.skipif(sys.platform != "linux", reason="reads the CPU clock of a process")
def test_child_that_gets_no_core_is_given_more_time():
    assert seconds_until_timeout("import time; time.sleep(60)", 0.1) >= 0.1 * WALL_FACTOR


def test_child_that_works_too_long_is_over_its_limit():
    assert seconds_until_timeout("while True: pass", 0.1) >= 0.1


def test_result_is_returned_as_soon_as_it_is_there():
    async def scenario():
        return await result_of_work(asyncio.create_task(asyncio.sleep(0.01, "done")), None, 3600.0)

    assert asyncio.run(scenario()) == "done"
