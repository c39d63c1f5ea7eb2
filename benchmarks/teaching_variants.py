"""What resignation and nodes inside the trees are worth in teaching: matches of networks taught as long.

    python -m benchmarks.teaching_variants breakthrough_small othello_6x6 --minutes 2 --matches 400

Teaches a network from random weights by each variant for as many CPU minutes, then lets each play against the
plain one, side by side with as many simulations (they cost the same). Prints where the CPU time went, and
scores with 95 % intervals.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import ggp
from ggp.engines.compiled import CompiledGame
from ggp.knowledge.taught import TaughtNetwork
from ggp.teaching.generations import Teaching, TeachingOptions, TeachingProgress
from ggp.teaching.play import Taught, compare
from ggp.teaching.players import guided_forest


class TimedTeaching(Teaching):
    """Adds up the CPU seconds of fitting and of comparisons."""

    fitting = comparing = 0.0

    def _learn(self, taught: Taught) -> TeachingProgress:
        begin, compared = time.process_time(), self.comparing
        progress = super()._learn(taught)
        self.fitting += time.process_time() - begin - (self.comparing - compared)
        return progress

    def _judge(self, losses: tuple[float, float]) -> TeachingProgress:
        begin = time.process_time()
        progress = super()._judge(losses)
        self.comparing += time.process_time() - begin
        return progress


def taught_network(game: CompiledGame, name: str, options: TeachingOptions) -> TaughtNetwork:
    """The network of one variant; prints what became of the time."""
    teaching = TimedTeaching(game, options, clock=time.process_time)
    resigned, falsely, last = 0.0, 0.0, None
    for progress in teaching.run():
        resigned, falsely, last = resigned + progress.resigned, progress.falsely, progress
    assert last is not None, "no generation in the time"
    number = last.generation
    total = teaching.seconds
    shares = [
        100 * part / total for part in (teaching.fitting, teaching.comparing)
    ]  # the rest of the time is play
    print(
        f"{game.name} {name}: {number} generations, best {teaching.best.generation},"
        f" {last.positions:,} positions, {total:.0f} CPU s, fitting {shares[0]:.0f} %, comparisons"
        f" {shares[1]:.0f} %, resigned {100 * resigned / number:.0f} %, falsely {100 * falsely:.1f} %,"
        f" losses {last.losses[0]:.3f} {last.losses[1]:.3f}, against playouts {last.against_playouts}",
        flush=True,
    )
    return teaching.best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else None)
    parser.add_argument("games", nargs="+")
    parser.add_argument("--minutes", type=float, default=2.0, help="of CPU time, for each variant")
    parser.add_argument("--matches", type=int, default=400)
    parser.add_argument("--simulations", type=int, default=100, help="a move")
    parser.add_argument("--inner", type=int, default=40, help="visits of a node that is a sample")
    parser.add_argument("--variants", nargs="*", default=["resigning", "inner"], help="besides the plain one")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="folder for the networks")
    chosen = parser.parse_args()
    common = {"seconds": 60 * chosen.minutes, "simulations": chosen.simulations, "seed": chosen.seed}
    variants = {
        "plain": TeachingOptions(**common, is_resigning=False),
        "resigning": TeachingOptions(**common),
        "inner": TeachingOptions(**common, is_resigning=False, inner_visits=chosen.inner),
    }
    for name in chosen.games:
        game = ggp.load(name, engine="lanes")
        assert isinstance(game, CompiledGame)
        warm_up = TeachingOptions(
            generations=2, matches=8, simulations=10, inner_visits=4, comparison_matches=2
        )
        list(Teaching(game, warm_up).run())  # compiles the kernels
        networks = {}
        for variant in ("plain", *chosen.variants):
            networks[variant] = found = taught_network(game, variant, variants[variant])
            if chosen.out is not None:
                found.save(chosen.out / f"{game.name}-{variant}.json", game)
        plain = guided_forest(game, networks.pop("plain").network, 1)
        for variant, found in networks.items():
            mine = guided_forest(game, found.network, 2)
            numbers = (chosen.simulations, chosen.simulations)
            score = compare(game, (mine, plain), numbers, matches=chosen.matches, seed=3)
            print(f"{game.name}: {variant} against plain: {score}", flush=True)


if __name__ == "__main__":
    main()
