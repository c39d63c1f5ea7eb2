"""Every sheet of `games/` and of the reference corpus that lanes play is an environment."""

from pathlib import Path

import pytest

from ggp.engines.loading import find_rules, load
from tests.conftest import find_corpus
from tests.ggp.env.test_batch import play_beside

GAMES = sorted(find_rules("tictactoe").parent.glob("*.kif"))
CORPUS = find_corpus()
SHEETS = [] if CORPUS is None else sorted((CORPUS / "open" / "games").glob("*.kif"))


@pytest.mark.slow
@pytest.mark.skipif(CORPUS is None, reason="no reference corpus: set GGP_CORPUS")
def test_there_are_sheets_to_play():
    assert len(SHEETS) > 50


@pytest.mark.slow
@pytest.mark.parametrize("path", [*GAMES, *SHEETS], ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_environments_of_every_sheet_do_what_the_rules_say(path: Path):
    play_beside(load(path, engine="lanes"), count=3, steps=12, seed=2, observation="facts")
