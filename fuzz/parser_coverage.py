"""Fuzz parser, validator and formatter with coverage guidance by atheris (`pip install atheris`).

    python fuzz/parser_coverage.py -max_total_time=300 corpus_folder

Arguments are libFuzzer's, which writes a text that breaks a property of `fuzz.parser.outcome` to
crash-<hash>.
"""

from __future__ import annotations

import sys
from pathlib import Path

import atheris

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

with atheris.instrument_imports(include=["gdl"]):
    from fuzz.parser import outcome


def test_one_input(data: bytes) -> None:
    """One text; anything but a RuleSheetError is a finding."""
    outcome(data.decode("utf-8", "replace"))


if __name__ == "__main__":
    atheris.Setup(sys.argv, test_one_input)
    atheris.Fuzz()
