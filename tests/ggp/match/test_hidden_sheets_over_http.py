"""Sheets with hidden information, played over HTTP between real players, without a fault."""

import asyncio
from contextlib import AsyncExitStack
from random import Random

import pytest

from ggp.engines.loading import load
from ggp.match.terms import MatchTerms
from ggp.player_server.match import SearchOptions
from ggp.protocol.manager import manage_match
from tests.ggp.wire import running_player

SHEETS = ["battleship", "krieg_tictactoe", "leduc_poker", "monty_hall", "signalling"]
"""Moves at once; moves refused; cards dealt to two; one role and chance; three roles.

All hidden sheets are played without HTTP in `tests/games/test_hidden_information.py`."""


@pytest.mark.slow
@pytest.mark.parametrize("name", SHEETS)
def test_managed_match_has_no_fault(name):
    game = load(name)
    playing = [role for role in game.roles if str(role) != "random"]
    search = SearchOptions(agent="random", seed=Random(name).randrange(1000))

    async def scenario():
        async with AsyncExitStack() as stack:
            servers = [await stack.enter_async_context(running_player(search=search)) for _ in playing]
            addresses = [f"127.0.0.1:{server.port}" for server in servers]
            return await manage_match(game, addresses, MatchTerms(60, 20, seed=1, match_id="m"))

    record = asyncio.run(scenario())
    assert record.is_completed, record.fault
    assert not any(fault for row in record.errors for fault in row)
