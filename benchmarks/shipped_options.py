"""Write what `ggp prepare options` has found on this machine into the table of options that is shipped.

    for game in othello skirmish; do ggp prepare options $game; done
    python -m benchmarks.shipped_options othello skirmish

Entries of games that are not named stay. A tuning that is not finished is left out, and so is one that found
the default: a game without an entry plays with it.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict

from ggp.engines.loading import read_program
from ggp.files import write_text
from ggp.knowledge.folder import find_kept_file, read_knowledge
from ggp.knowledge.tuned import FILE_NAME, SHIPPED, SHIPPED_FORMAT, TunedOptions, Tuning
from ggp.solver.saved_header import rules_digest


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("games", nargs="+")
    entries = read_knowledge(SHIPPED, SHIPPED_FORMAT)["games"]
    for name in parser.parse_args().games:
        program, _ = read_program(name)
        place = find_kept_file(program, FILE_NAME)
        tuning = None if place is None else Tuning.load(place)
        if tuning is None or not tuning.is_finished:
            print(f"{name}: not tuned, or not to the end")
            continue
        entries.pop(rules_digest(program), None)
        if tuning.best != TunedOptions():
            entries[rules_digest(program)] = {"game": name, **asdict(tuning.best)}
        print(f"{name}: {tuning.best}")
    rows = [f"{json.dumps(digest)}: {json.dumps(entry)}" for digest, entry in entries.items()]
    body = "".join(f"\n  {row}," for row in sorted(rows, key=lambda row: row.split(": ", 1)[1])).rstrip(",")
    write_text(SHIPPED, f'{{"format": "{SHIPPED_FORMAT}", "games": {{{body}\n}}}}\n')


if __name__ == "__main__":
    main()
