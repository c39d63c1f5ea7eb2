"""Coverage-guided fuzzing of parser, validator and formatter with atheris (`pip install atheris`).

    python benchmarks/fuzz_atheris.py -max_total_time=300 corpus_folder

Arguments go to libFuzzer. The properties are those of `fuzz_parser.outcome`; a text that breaks one is
written by libFuzzer to crash-<hash>.
"""

from __future__ import annotations

import sys
from pathlib import Path

import atheris

sys.path.insert(0, str(Path(__file__).resolve().parent))

with atheris.instrument_imports(include=["gdl"]):
    from fuzz_parser import outcome


def test_one_input(data: bytes) -> None:
    """One text; anything but a RuleSheetError is a finding."""
    outcome(data.decode("utf-8", "replace"))


if __name__ == "__main__":
    atheris.Setup(sys.argv, test_one_input)
    atheris.Fuzz()
