"""Margins of the HTTP player: defaults by distance, at most half a clock."""

import asyncio
import time

import pytest

from ggp.player_server.margins import PLAY_MARGIN, START_MARGIN, LoopLag, Margin, answer_deadline

LOCAL, REMOTE = "127.0.0.1:4000", "192.0.2.1:4000"


@pytest.mark.parametrize(
    ("margin", "peer", "seconds"),
    [
        (PLAY_MARGIN, LOCAL, 9.8),
        (PLAY_MARGIN, REMOTE, 9),
        (START_MARGIN, LOCAL, 9.7),
        (START_MARGIN, REMOTE, 8),
    ],
)
def test_default_margin_depends_on_the_distance(margin: Margin, peer: str, seconds: float) -> None:
    assert answer_deadline(100.0, 10.0, margin, None, peer) == pytest.approx(100.0 + seconds)


@pytest.mark.parametrize(("chosen", "seconds"), [(0.0, 10.0), (3.0, 7.0), (5.0, 5.0), (60.0, 5.0)])
def test_chosen_margin_takes_at_most_half_the_clock(chosen: float, seconds: float) -> None:
    assert answer_deadline(100.0, 10.0, PLAY_MARGIN, chosen, LOCAL) == 100.0 + seconds


def test_time_for_which_the_loop_was_late_is_kept_of_the_next_clocks() -> None:
    async def scenario() -> tuple[float, float]:
        lag = LoopLag()
        assert lag.seconds(10.0) == 0.0
        watching = asyncio.create_task(lag.watch())
        await asyncio.sleep(0)
        time.sleep(0.4)
        await asyncio.sleep(0.2)
        watching.cancel()
        return lag.seconds(10.0), lag.seconds(1.0)

    long, short = asyncio.run(scenario())
    assert 0.5 < long <= 2.5
    assert short == 0.25
