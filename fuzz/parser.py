"""Feed mutated rule sheets to parser, validator, formatter and normalizer: only RuleSheetError may come out.

    python fuzz/parser.py --count 10000 --seed 1 games $GGP_CORPUS/open/games

Half of the mutations start from a sheet in KIF, half from the same sheet in infix form. Prints outcomes, the
slowest text and the growth of memory. At the first other exception, writes the offending text to
fuzz_failure.txt and exits with status 1.
"""

from __future__ import annotations

import argparse
import gc
import random
import re
import resource
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from gdl.errors import RuleSheetError, render
from gdl.normalize import normalize
from gdl.syntax.formatting import format_kif
from gdl.syntax.parser import looks_infix, parse, parse_file
from gdl.syntax.printer import to_infix, to_kif
from gdl.validation import MAX_FINDINGS, check, validate

PIECES = [
    *("(", ")", "((", "))", "(<=", "<=", ":-", "~", "&", "|", ",", ".", "'", "?", "?x", "_", ";", "%"),
    *("(not", "(or", "(and", "(or)", "()", "(distinct", "(true", "true(", "\0", "\x1b", "\x85", "\r", "\n"),
    *("\ufeff", "\ud800", "İ", "語", "\\", '"', "\t", "(" * 300, ")" * 300, "~" * 300, "(or a b)" * 20),
    *("a" * 5000, "role", "next", "does", "1" * 400, "\u2028", "\u202e"),
]

WORD = re.compile(r"[^\s(),.&|~]+")


def mutated(text: str, other: str, rng: random.Random) -> str:
    """`text` with one to eight random edits; pieces of `other` are spliced in."""
    if rng.random() < 0.5:
        return _with_other_words(text, other, rng)
    for _ in range(rng.randint(1, 8)):
        start = rng.randrange(len(text) + 1)
        end = min(len(text), start + int(rng.expovariate(1 / 20)))
        kind = rng.randrange(7)
        if kind == 0:
            text = text[:start] + text[end:]
        elif kind == 1:
            text = text[:start] + rng.choice(PIECES) + text[start:]
        elif kind == 2:
            text = text[:start] + rng.choice(PIECES) + text[end:]
        elif kind == 3:
            text = text[:start] + text[start:end] * rng.randint(2, 50) + text[end:]
        elif kind == 4:
            place = rng.randrange(len(other) + 1)
            text = text[:start] + other[place : place + rng.randint(1, 400)] + text[end:]
        elif kind == 5:
            text = text[:start] + chr(rng.randrange(1, 0x2FF)) + text[start + 1 :]
        else:
            text = text[:start]
            text += other[rng.randrange(len(other) + 1) :] if rng.random() < 0.5 else ""
    return text


def _with_other_words(text: str, other: str, rng: random.Random) -> str:
    """`text` with words replaced by others; parentheses stay balanced."""
    words = WORD.findall(other)
    places = list(WORD.finditer(text))
    for place in sorted(
        rng.sample(places, min(len(places), rng.randint(1, 8))), key=lambda found: -found.start()
    ):
        word = (
            rng.choice(words) if rng.random() < 0.8 else rng.choice(["not", "or", "and", "<=", "?new", "()"])
        )
        text = text[: place.start()] + word + text[place.end() :]
    return text


def outcome(text: str) -> str:
    """Outcome of reading, validating, formatting and normalizing `text`.

    A program that reads must print alike, and its layout must keep its meaning and settle at once.
    """
    try:
        program = parse(text)
        found = validate(program)
        for diagnostic in found:
            render(diagnostic, program.source)
        if not looks_infix(program.source.text):
            formatted = format_kif(text)
            if format_kif(formatted) != formatted:
                raise AssertionError("the canonical layout does not settle")
        errors = check(program)
        is_whole = len(found) < MAX_FINDINGS
        if is_whole and not {error.code for error in errors} <= {diagnostic.code for diagnostic in found}:
            raise AssertionError("the complete validation misses an essential error")
        if errors:
            return errors[0].code
        plain = normalize(program)
        if parse(to_kif(plain), syntax="kif") != plain:
            raise AssertionError("printed rules read back differently")
    except RuleSheetError as error:
        str(error)
        return error.diagnostics[0].code
    return f"valid, {'with' if found else 'no'} warnings"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path, default=[Path("games")])
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    programs = [parse_file(path) for folder in options.folders for path in sorted(folder.glob("*.kif"))]
    texts = [program.source.text for program in programs] + [to_infix(program) for program in programs]
    rng = random.Random(options.seed)
    counts: Counter[str] = Counter()
    slowest = 0.0
    memory = 0
    started = time.process_time()
    for number in range(options.count):
        text = mutated(rng.choice(texts), rng.choice(texts), rng)
        before = time.process_time()
        try:
            counts[outcome(text)] += 1
        except Exception:
            Path("fuzz_failure.txt").write_text(text, encoding="utf-8", errors="surrogatepass")
            print(f"mutation {number} of seed {options.seed}: text written to fuzz_failure.txt")
            raise
        slowest = max(slowest, time.process_time() - before)
        if number == options.count // 5:
            gc.collect()
            memory = _peak_mebibytes()
    print(f"{options.count} mutations of {len(texts)} texts, seed {options.seed}: no crash")
    print("  " + ", ".join(f"{code} {count}" for code, count in counts.most_common()))
    print(f"  {time.process_time() - started:.1f} CPU seconds, slowest text {slowest:.2f} s")
    print(f"  peak memory {memory} MiB after a fifth, {_peak_mebibytes()} MiB at the end")
    return 0


def _peak_mebibytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


if __name__ == "__main__":
    sys.exit(main())
