"""Every sheet of `games/` and of the reference corpus that lanes play is an environment.

Our own amazons takes half a minute to compile; that of the corpus has as many gate inputs.
"""

from pathlib import Path

import pytest

from ggp.engines.loading import load
from tests.conftest import CORPUS_SHEETS, OWN_GAMES, needs_corpus
from tests.ggp.env.test_batch import play_beside

SHEETS = [path for path in OWN_GAMES if path.stem != "amazons"] + CORPUS_SHEETS


@pytest.mark.slow
@needs_corpus
def test_there_are_sheets_to_play():
    assert len(CORPUS_SHEETS) > 50


@pytest.mark.slow
@pytest.mark.parametrize("path", SHEETS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_environments_of_every_sheet_do_what_the_rules_say(path: Path):
    play_beside(load(path, engine="lanes"), count=3, steps=12, seed=2, observation="facts")
