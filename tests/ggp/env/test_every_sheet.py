"""Every sheet of `games/` and of the reference corpus that lanes play is an environment.

Amazons takes half a minute to compile: its rules are here on 5x5, and a sheet of as many moves in a test.
"""

from pathlib import Path

import pytest

from ggp.engines.loading import load
from tests.conftest import CORPUS_SHEETS, OWN_GAMES, needs_corpus
from tests.ggp.env.test_batch import play_beside

SHEETS = [path for path in [*OWN_GAMES, *CORPUS_SHEETS] if path.stem != "amazons"]


@pytest.mark.slow
@needs_corpus
def test_there_are_sheets_to_play():
    assert len(CORPUS_SHEETS) > 50


@pytest.mark.slow
@pytest.mark.parametrize("path", SHEETS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_environments_of_every_sheet_do_what_the_rules_say(path: Path):
    play_beside(load(path, engine="lanes"), count=3, steps=12, seed=2, observation="facts")


@pytest.mark.slow
def test_moves_may_be_more_than_sixteen_bits_count():
    numbers = " ".join(f"(number {n})" for n in range(257))
    rules = f"""(role r) {numbers} (init (at 0)) (goal r 50) (<= terminal (true (at 9)))
        (<= (legal r (go ?from ?to)) (true (at ?from)) (number ?to))
        (<= (next (at ?to)) (number ?from) (does r (go ?from ?to)))"""
    env, _ = play_beside(load(rules, engine="lanes"), count=3, steps=3, seed=2, observation="facts")
    assert len(env.game.moves[0]) == 257**2
