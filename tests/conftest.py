"""Where tests find their data, and how they are collected."""

import gc
import os
import signal
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from gdl.reasoning.reasoner import Reasoner
from ggp.engines import reasoner as reasoner_engine

# The same examples everywhere, and no failure where a machine is slow or busy.
settings.register_profile(
    "ggp", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("ggp")

# Books that whoever runs the tests has kept must not play in them.
os.environ["XDG_DATA_HOME"] = os.devnull
# Machine code in the tests about it only: every game would start a process.
os.environ["GGP_NATIVE"] = "0"

# A shell that runs the tests in the background has SIGINT ignored, and processes inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).resolve().parent.parent


LINE_END_FORMS: tuple[Callable[[str], str], ...] = (
    str,
    lambda text: text.replace("\n", "\r\n"),
    lambda text: text.replace("\n", "\r"),
    lambda text: "\ufeff" + text.replace("\n", "\r\n"),
)
"""The same text as editors save it: with LF, CRLF, CR, and with a byte order mark."""


def find_corpus() -> Path | None:
    """The reference corpus: `$GGP_CORPUS`, else `../shared/corpus` beside the project; None if absent."""
    place = Path(os.environ.get("GGP_CORPUS") or ROOT.parent / "shared" / "corpus")
    return place if (place / "open" / "games").is_dir() else None


CORPUS = find_corpus()
CORPUS_SHEETS = sorted((CORPUS / "open" / "games").glob("*.kif")) if CORPUS else []
OWN_GAMES = sorted((ROOT / "games").glob("*.kif"))
needs_corpus = pytest.mark.skipif(not CORPUS, reason="no reference corpus: set GGP_CORPUS")


@pytest.fixture(scope="session")
def corpus_dir() -> Path:
    if CORPUS is None:
        pytest.skip("no reference corpus: set GGP_CORPUS to a folder with open/games and open/traces")
    return CORPUS


def line_end_forms(path: Path) -> tuple[Callable[[str], str], ...]:
    """The forms to test a corpus sheet in: all four of every 15th sheet, each other one in one, by turns."""
    number = CORPUS_SHEETS.index(path)
    return LINE_END_FORMS if number % 15 == 0 else LINE_END_FORMS[number % 4 :][:1]


def mostly_slow(cases: Iterable[object], every: int, *, first: int = 0) -> list[object]:
    """Parameters of a test, one per case: each `every`-th from `first` on is quick, the others marked slow.

    For tests of one property on many cases, so that `make test` looks at some and CI at all of them.
    """
    parameters = list(cases)
    quick = set(range(first, len(parameters), every))
    return [
        case if number in quick else pytest.param(case, marks=pytest.mark.slow)
        for number, case in enumerate(parameters)
    ]


@pytest.fixture(scope="session", autouse=True)
def one_reasoner_per_sheet() -> Iterator[None]:
    """Prepare the reasoner of a sheet once for all tests: a reasoner keeps nothing of a match."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reasoner_engine, "Reasoner", lru_cache(maxsize=64)(Reasoner))
        yield


def pytest_collection() -> None:
    """Collect without looking for garbage: all that is made stays, and looking costs half as much again."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Thousands of collected tests are no garbage: leave them out of every collection to come."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    gc.enable()
