"""Make the suite of `ggp assess --regret`: positions with the exact goal of every move.

    python benchmarks/make_regret_positions.py ggp/assessment/regret_positions.json.gz
    python benchmarks/make_regret_positions.py some.json.gz connectfour_4x4 hex_7x7 --per-game 30

Positions are sampled along games that the tree search plays against itself with a quarter of random moves:
those in which some but not all moves keep the value, and in which telling them apart takes `LEAST_PLIES`
plies. Small games are solved whole, with chance and simultaneous moves. Of large games the late positions are
taken in which alpha-beta proves every move, of each match the earliest. The file is written after every game.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from ggp.assessment.regret import TOLERANCE, RegretPosition, write_positions
from ggp.engines.compiled import CompiledGame, PackedState
from ggp.engines.loading import load
from ggp.game import RANDOM_ROLE, Move
from ggp.match.record import state_text
from ggp.search.alphabeta.proof import NO_EVALUATION, PROVING, ProofSearch
from ggp.search.alphabeta.search import AlphaBeta
from ggp.search.budget import Budget
from ggp.search.mcts.options import default_options
from ggp.search.mcts.search import LanesSearch
from ggp.solver import Solution, solve

SOLVED = (
    *("tictactoe", "nim", "bucket", "halving", "sheepandwolf", "dicerace", "blocker", "goofspiel"),
    *("eightpuzzle", "hex_3x3", "hex_4x4", "breakthrough_4x4", "othello_4x4"),
    *("connectfour_4x4", "connectfour_4x5", "connectfour_5x4", "connectfour_5x5"),
)
ENDINGS = (
    *("connectfour", "breakthrough", "breakthrough_small", "knightthrough", "hex_5x5", "hex_7x7"),
    *("othello", "othello_6x6", "pentago", "nineboard", "checkers", "skirmish", "minichess", "dotsandboxes"),
)
SELF_PLAY_SIMULATIONS = 200
RANDOM_SHARE = 0.25
"""Share of random moves in self-play, so that its games differ and leave the path of good play."""
MOST_GAMES = 400
LEAST_PLIES = 3
"""A position whose moves differ within fewer plies tests nothing but the next move."""
PROOF_NODES = 30_000
"""Positions that alpha-beta expands for one move before its value counts as unknown."""
SLICE_NODES = 2_000
MOST_UNKNOWN = 3
"""After this many failed proofs in a row, earlier positions of the match are not tried."""
MOST_PER_MATCH = 4


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("games", nargs="*", default=[*SOLVED, *ENDINGS])
    parser.add_argument("--per-game", type=int, default=70)
    parser.add_argument("--minutes", type=float, default=4.0, help="for one game")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    found: list[RegretPosition] = []
    for number, name in enumerate(arguments.games, start=1):
        begin = time.process_time()
        of_game = sample(name, arguments.per_game, arguments.seed, begin + 60 * arguments.minutes)
        found += of_game
        write_positions(arguments.file, found)
        seconds = time.process_time() - begin
        print(
            f"{number}/{len(arguments.games)} {name}: {len(of_game)} positions, {seconds:.0f} CPU s",
            file=sys.stderr,
        )


def sample(name: str, count: int, seed: int, cpu_deadline: float) -> list[RegretPosition]:
    """Up to `count` positions of one game, each once, until the CPU clock shows `cpu_deadline`."""
    game = load(name, "lanes")
    assert isinstance(game, CompiledGame)
    judge: SolvedPositions | ProvenEndings = (
        SolvedPositions(solve(game)) if name in SOLVED else ProvenEndings(game)
    )
    rng = random.Random(seed)
    found: dict[tuple[PackedState, str], RegretPosition] = {}
    for number in range(MOST_GAMES):
        for state, position in judge.positions(list(self_play(game, number, rng))):
            found.setdefault((state, position.role), position)
        if len(found) >= count or time.process_time() > cpu_deadline:
            break
    return list(found.values())[:count]


def self_play(game: CompiledGame, seed: int, rng: random.Random) -> Iterator[PackedState]:
    """The states of one game of the tree search against itself, the terminal one left out."""
    state = game.initial_state()
    while not game.is_terminal(state):
        yield state
        joint_move = []
        for role in game.roles:
            moves = game.legal_moves(state, role)
            move = rng.choice(moves)
            if len(moves) > 1 and role != RANDOM_ROLE and rng.random() >= RANDOM_SHARE:
                search = LanesSearch(game, role, seed=seed, options=default_options(SELF_PLAY_SIMULATIONS))
                search.move_to(state, None)
                search.run(Budget(simulations=SELF_PLAY_SIMULATIONS))
                move = search.best_move()
                search.close()
            joint_move.append(move)
        state = game.next_state(state, tuple(joint_move))


def position_of(
    game: CompiledGame, state: PackedState, mover: int, goals: dict[str, float]
) -> RegretPosition | None:
    """None if nothing can be given away."""
    if max(goals.values()) - min(goals.values()) <= TOLERANCE:
        return None
    rounded = {move: round(goal, 6) for move, goal in goals.items()}
    return RegretPosition(game.name, state_text(game.facts(state)), str(game.roles[mover]), rounded)


class SolvedPositions:
    """Positions of a game whose states are all valued."""

    def __init__(self, solution: Solution) -> None:
        self.solution, self.game = solution, solution.game

    def positions(self, states: list[PackedState]) -> Iterator[tuple[PackedState, RegretPosition]]:
        for state in states:
            for mover, role in enumerate(self.game.roles):
                goals = self._goals(state, mover) if role != RANDOM_ROLE else {}
                position = position_of(self.game, state, mover, goals) if goals else None
                if position is not None:
                    yield state, position

    def _goals(self, state: PackedState, mover: int) -> dict[str, float]:
        """Move → goal, the others choosing optimally; empty without a choice, or if the end is near."""
        game, solution = self.game, self.solution
        legal = [game.legal_moves(state, role) for role in game.roles]
        choosing = [r for r, moves in enumerate(legal) if len(moves) > 1]
        if mover not in choosing or len(choosing) > 2 or solution.worth(state).depth < LEAST_PLIES:
            return {}
        shares: list[tuple[Move, float]] = [(legal[1 - mover][0], 1.0)] if len(legal) == 2 else []
        other = next((r for r in choosing if r != mover), -1)
        if other >= 0 and game.roles[other] == RANDOM_ROLE:
            return {}
        if other >= 0:
            best = solution.stage(state).best_moves[game.roles[other]]
            shares = [(rated.move, rated.probability) for rated in best]
        goals = {}
        for move in legal[mover]:
            goals[str(move)] = 0.0
            for reply, share in shares or [(move, 1.0)]:
                joint_move = [moves[0] for moves in legal]
                if other >= 0:
                    joint_move[other] = reply
                joint_move[mover] = move
                following = game.next_state(state, tuple(joint_move))
                goals[str(move)] += share * solution.worth(following).values[mover]
        return goals


class ProvenEndings:
    """Late positions in which alpha-beta proves the value of every move."""

    def __init__(self, game: CompiledGame) -> None:
        self.game = game
        self.search = AlphaBeta(game, PROVING, NO_EVALUATION, mebibytes=256)

    def positions(self, states: list[PackedState]) -> Iterator[tuple[PackedState, RegretPosition]]:
        unknown = 0
        found: list[tuple[PackedState, RegretPosition]] = []
        for state in reversed(states):
            legal = [self.game.legal_moves(state, role) for role in self.game.roles]
            choosing = [r for r, moves in enumerate(legal) if len(moves) > 1]
            if len(choosing) != 1:
                continue
            proven = self._goals(state, choosing[0], legal)
            if proven is None:
                unknown += 1
                if unknown == MOST_UNKNOWN:
                    break
                continue
            goals, plies = proven
            position = position_of(self.game, state, choosing[0], goals)
            if position is not None and plies >= LEAST_PLIES:
                found.append((state, position))
        yield from found[-MOST_PER_MATCH:]

    def _goals(
        self, state: PackedState, mover: int, legal: list[tuple[Move, ...]]
    ) -> tuple[dict[str, float], int] | None:
        """Move → goal of the mover, and the plies that the longest proof took; None without one of them."""
        goals: dict[str, float] = {}
        longest = 1
        for move in legal[mover]:
            joint_move = tuple(move if r == mover else moves[0] for r, moves in enumerate(legal))
            following = self.game.next_state(state, joint_move)
            if self.game.is_terminal(following):
                goals[str(move)] = self.game.goal(following, self.game.roles[mover])
                continue
            proof = ProofSearch(self.search, following)
            while not proof.is_over and proof.nodes < PROOF_NODES:
                proof.advance(SLICE_NODES)
            if proof.proven is None:
                return None
            goals[str(move)] = proof.proven.goal if mover == 0 else self.search.goal_sum - proof.proven.goal
            longest = max(longest, proof.depth)
        return goals, longest


if __name__ == "__main__":
    main()
