"""Where tests find their data."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def find_corpus() -> Path | None:
    """The reference corpus: `$GGP_CORPUS`, else `../shared/corpus` beside the project; None if absent."""
    place = Path(os.environ.get("GGP_CORPUS") or ROOT.parent / "shared" / "corpus")
    return place if (place / "open" / "games").is_dir() else None


@pytest.fixture(scope="session")
def corpus_dir() -> Path:
    place = find_corpus()
    if place is None:
        pytest.skip("no reference corpus: set GGP_CORPUS to a folder with open/games and open/traces")
    return place
