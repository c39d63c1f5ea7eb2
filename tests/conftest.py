"""Where tests find their data."""

import os
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# The same examples everywhere, and no failure where a machine is slow or busy.
settings.register_profile(
    "ggp", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("ggp")

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


def slow_if_large(names: Iterable[str], large: Iterable[str]) -> list[object]:
    """Parameters of a test, one per name; those of `large` are marked slow."""
    slow = set(large)
    return [pytest.param(name, marks=pytest.mark.slow) if name in slow else name for name in names]


def mostly_slow(cases: Iterable[object], every: int) -> list[object]:
    """Parameters of a test, one per case: each `every`-th is quick, the others are marked slow.

    For tests of one property on many cases, so that `make test` looks at some and CI at all of them.
    """
    return [
        case if number % every == 0 else pytest.param(case, marks=pytest.mark.slow)
        for number, case in enumerate(cases)
    ]
