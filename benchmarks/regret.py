"""Measure how many points a player gives away in positions of solved games.

    python benchmarks/regret.py make connectfour_4x4 hex_4x4 > positions.json
    python benchmarks/regret.py play results/regret_positions.json.gz mcts mcts:proof=off --seconds 0.1

`make` solves each game and samples positions along games that the tree search plays against itself, without
proofs: those in which one role chooses and some but not all of its moves keep the value of the position. It
prints them with the value of every move. `play` asks players for a move in each position, without a start
clock, and prints a table of *regret*: the goals that the player's move gives away, mean and 95 % interval.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean, stdev

import numpy as np

from gdl.syntax.parser import parse_term
from gdl.terms import Compound
from ggp.engines.compiled import CompiledGame, PackedState
from ggp.engines.loading import load
from ggp.game import Move
from ggp.match.player import MatchSetup
from ggp.match.record import state_text
from ggp.players.factory import make_player
from ggp.search.mcts.options import default_options
from ggp.search.mcts.search import LanesSearch
from ggp.solver import Solution, solve

SELF_PLAY_SIMULATIONS = 200
RANDOM_SHARE = 0.25
"""Share of random moves in self-play, so that its games differ and leave the path of good play."""
MOST_GAMES = 400


@dataclass(frozen=True)
class RegretPosition:
    """A position: `goals` has the exact goal of the role to move after each of its moves."""

    game: str
    facts: str
    role: str
    goals: dict[str, float]

    def regret(self, move: Move) -> float:
        """What `move` gives away, in goals."""
        return max(self.goals.values()) - self.goals[str(move)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    making = commands.add_parser("make")
    making.add_argument("games", nargs="+")
    making.add_argument("--per-game", type=int, default=60)
    making.add_argument("--seed", type=int, default=1)
    playing = commands.add_parser("play")
    playing.add_argument("file", type=Path)
    playing.add_argument("specs", nargs="+")
    playing.add_argument("--seconds", type=float, default=0.1)
    playing.add_argument("--per-game", type=int, default=10**6)
    arguments = parser.parse_args()
    if arguments.command == "make":
        found = [each for name in arguments.games for each in sample(name, arguments)]
        print(json.dumps([asdict(each) for each in found], indent=0))
    else:
        print_table(read(arguments.file, arguments.per_game), arguments.specs, arguments.seconds)


def sample(name: str, arguments: argparse.Namespace) -> list[RegretPosition]:
    """Positions of one game, each once."""
    game = load(name, "lanes")
    assert isinstance(game, CompiledGame)
    solution = solve(game)
    rng = random.Random(arguments.seed)
    found: dict[PackedState, RegretPosition] = {}
    for number in range(MOST_GAMES):
        for state in self_play(game, number, rng):
            position = None if state in found else position_at(solution, state)
            if position is not None:
                found[state] = position
        if len(found) >= arguments.per_game:
            break
    return list(found.values())[: arguments.per_game]


def self_play(game: CompiledGame, seed: int, rng: random.Random) -> Iterator[PackedState]:
    """The states of one game of the tree search against itself."""
    state = game.initial_state()
    while not game.is_terminal(state):
        yield state
        joint_move = []
        for role in game.roles:
            move = rng.choice(game.legal_moves(state, role))
            if len(game.legal_moves(state, role)) > 1 and rng.random() >= RANDOM_SHARE:
                options = default_options(SELF_PLAY_SIMULATIONS)
                search = LanesSearch(game, role, seed=seed, options=options)
                search.move_to(state, None)
                search.run(simulations=SELF_PLAY_SIMULATIONS)
                move = search.best_move()
            joint_move.append(move)
        state = game.next_state(state, tuple(joint_move))


def position_at(solution: Solution, state: PackedState) -> RegretPosition | None:
    """The position of `state`, or None if nothing can be given away there, or several roles choose."""
    game = solution.game
    legal = [game.legal_moves(state, role) for role in game.roles]
    choosing = [r for r, moves in enumerate(legal) if len(moves) > 1]
    if len(choosing) != 1:
        return None
    mover = choosing[0]
    goals = {}
    for move in legal[mover]:
        joint_move = tuple(move if r == mover else moves[0] for r, moves in enumerate(legal))
        goals[str(move)] = solution.worth(game.next_state(state, joint_move)).values[mover]
    if min(goals.values()) == max(goals.values()):
        return None
    return RegretPosition(game.name, state_text(game.facts(state)), str(game.roles[mover]), goals)


def read(path: Path, per_game: int) -> dict[str, list[RegretPosition]]:
    """Game → its positions, at most `per_game`."""
    positions: dict[str, list[RegretPosition]] = {}
    for entry in json.loads(gzip.decompress(path.read_bytes())):
        position = RegretPosition(**entry)
        of_game = positions.setdefault(position.game, [])
        if len(of_game) < per_game:
            of_game.append(position)
    return positions


def print_table(positions: dict[str, list[RegretPosition]], specs: list[str], seconds: float) -> None:
    print(f"| game | positions | {' | '.join(f'`{spec}`' for spec in specs)} |")
    print(f"|---|---:|{'---:|' * len(specs)}")
    losses: dict[str, list[float]] = {spec: [] for spec in specs}
    for name, of_game in positions.items():
        game = load(name, "lanes")
        assert isinstance(game, CompiledGame)
        here: dict[str, list[float]] = {spec: [] for spec in specs}
        for spec in specs:
            make_player(spec).prepare(game)
        for seed, position in enumerate(of_game):
            for spec in specs:
                here[spec].append(position.regret(choose(game, spec, position, seconds, seed)))
        for spec in specs:
            losses[spec] += here[spec]
        cells = " | ".join(mean_text(here[spec]) for spec in specs)
        print(f"| {name} | {len(of_game)} | {cells} |", flush=True)
    cells = " | ".join(mean_text(losses[spec]) for spec in specs)
    print(f"| all | {sum(map(len, positions.values()))} | {cells} |")


def choose(game: CompiledGame, spec: str, position: RegretPosition, seconds: float, seed: int) -> Move:
    """The player's move, `seconds` after it first hears of the game."""
    state = state_of(game, position.facts)
    role = next(role for role in game.roles if str(role) == position.role)
    player = make_player(spec)
    player.start(MatchSetup("regret", game, role, 0.0, seconds, seed), time.monotonic())
    try:
        return player.choose(state, time.monotonic() + seconds, None)
    finally:
        player.stop(None)


def state_of(game: CompiledGame, facts: str) -> PackedState:
    state = parse_term(f"(state {facts.strip()[1:-1]})")
    assert isinstance(state, Compound)
    held = set(state.arguments)
    return game.pack(np.array([fluent in held for fluent in game.terms.fluents]))


def mean_text(regrets: list[float]) -> str:
    """Mean and 95 % interval of the mean, in goals."""
    spread = 1.96 * stdev(regrets) / len(regrets) ** 0.5 if len(regrets) > 1 else 0.0
    return f"{fmean(regrets):.1f} ± {spread:.1f}"


if __name__ == "__main__":
    main()
