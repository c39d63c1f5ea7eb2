"""What tables of endings are worth: how often matches reach them, and goals given away just before.

    python -m benchmarks.endings reach checkers TABLE --matches 20 --simulations 500
    python -m benchmarks.endings regret checkers SMALL TABLE --positions 100 --count 300

`reach` counts the matches of two counted tree searches, after a random opening, that come to a position of
TABLE, and the share of their positions that lie in it. `regret` draws positions that TABLE knows and SMALL
does not, in which some but not all moves keep the value, and adds up the goals that players give away with
SMALL and without. Tables are files of `ggp endings -o`. Prints rows of a table.
"""

from __future__ import annotations

import argparse
import random
import time
from dataclasses import replace
from typing import cast

import ggp
from ggp.confidence_intervals import mean_interval
from ggp.engines.compiled import CompiledGame, PackedState
from ggp.features.endings import draw_endings, recognize_ending_measure
from ggp.game import Move, Role
from ggp.match.player import MatchSetup, Player
from ggp.players.factory import make_player
from ggp.search.budget import Budget
from ggp.search.mcts.options import default_options
from ggp.search.mcts.search import LanesSearch
from ggp.solver.endings import EndingTable

PLAYERS = ("mcts:threads=1,simulations={count}", "alphabeta:evaluation=mobility,nodes={count}")

LONG = 600.0
"""Seconds; the searches are counted."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    commands = parser.add_subparsers(required=True)
    reach = commands.add_parser("reach")
    reach.add_argument("game")
    reach.add_argument("table")
    reach.add_argument("--matches", type=int, default=20)
    reach.add_argument("--simulations", type=int, default=500)
    reach.set_defaults(run=print_reach)
    regret = commands.add_parser("regret")
    regret.add_argument("game")
    regret.add_argument("small")
    regret.add_argument("table")
    regret.add_argument("--positions", type=int, default=100)
    regret.add_argument("--count", type=int, default=300, help="simulations, or nodes, for a move")
    regret.add_argument("--players", nargs="+", default=PLAYERS, help="specs, with {count}")
    regret.set_defaults(run=print_regret)
    given = parser.parse_args()
    given.run(given)


def print_reach(given: argparse.Namespace) -> None:
    """One row: matches, those that reach the table, and the share of positions with a choice in it."""
    game = cast("CompiledGame", ggp.load(given.game, engine="lanes"))
    table = EndingTable(given.table, game)
    rng = random.Random(given.seed)
    reached = positions = known = 0
    for _ in range(given.matches):
        found = [knows(table, game, state) for state in match_states(game, given.simulations, rng)]
        reached += any(found)
        positions += len(found)
        known += sum(found)
    share = 100 * known / max(1, positions)
    print(f"| {given.game} | {table.state_count:,} | {reached} of {given.matches} | {share:.1f} % |")


def match_states(game: CompiledGame, simulations: int, rng: random.Random) -> list[PackedState]:
    """The nonterminal states of a match of two equal tree searches after two random moves."""
    options = replace(default_options(simulations), threads=1)
    searches = {
        role: LanesSearch(game, role, seed=rng.randrange(1 << 30), options=options) for role in game.roles
    }
    state, joint, states = game.initial_state(), None, []
    while not game.is_terminal(state):
        states.append(state)
        legal = {role: game.legal_moves(state, role) for role in game.roles}
        moves = {role: rng.choice(legal[role]) for role in game.roles}
        for role, search in searches.items():
            search.move_to(state, joint)
            if len(legal[role]) > 1 and len(states) > 2:
                search.run(Budget(simulations=simulations))
                moves[role] = search.best_move()
        joint = tuple(moves[role] for role in game.roles)
        state = game.next_state(state, joint)
    return states


def knows(table: EndingTable, game: CompiledGame, state: PackedState) -> bool:
    """Whether a state is in the table."""
    try:
        table.tablebase.worth(game.facts(state))
    except KeyError:
        return False
    return True


def print_regret(given: argparse.Namespace) -> None:
    """For each player a row without and one with the small table."""
    game = cast("CompiledGame", ggp.load(given.game, engine="lanes"))
    table, small = EndingTable(given.table, game), EndingTable(given.small, game)
    cases = draw_cases(game, table, small, given.positions, given.seed)
    for spec in given.players:
        for endings in ("off", given.small):
            player = make_player(f"{spec.format(count=given.count)},endings={endings}")
            lost = [regret(player, game, case) for case in cases]
            mean, half = mean_interval(lost)
            print(
                f"| {given.game} | {spec.partition(':')[0]} | {'off' if endings == 'off' else 'on'} |"
                f" {sum(each > 0 for each in lost)} of {len(lost)} | {mean:.1f} ± {half:.1f} |",
                flush=True,
            )


Case = tuple[PackedState, Role, dict[Move, float]]
"""A state, who chooses, and the goal behind each of the moves."""


def draw_cases(
    game: CompiledGame, table: EndingTable, small: EndingTable, count: int, seed: int
) -> list[Case]:
    """States of random playouts in the one table and not in the other, where the move matters."""
    measure = recognize_ending_measure(game)
    assert measure is not None
    endings = draw_endings(game, measure, most=1000, playouts=20_000, seed=seed)
    states = [game.pack(state) for number in sorted(endings) for state in endings[number]]
    random.Random(seed).shuffle(states)
    cases: list[Case] = []
    for state in states:
        if len(cases) == count:
            break
        if game.is_terminal(state) or knows(small, game, state) or not knows(table, game, state):
            continue
        for index, role in enumerate(game.roles):
            goals = goals_behind(game, table, state, index)
            if len(set(goals.values())) > 1:
                cases.append((state, role, goals))
    return cases


def goals_behind(game: CompiledGame, table: EndingTable, state: PackedState, index: int) -> dict[Move, float]:
    """Move of a role that alone has a choice → its exact goal behind it."""
    legal = [game.legal_moves(state, role) for role in game.roles]
    if any(len(moves) > 1 for r, moves in enumerate(legal) if r != index):
        return {}
    found = {}
    for move in legal[index]:
        joint = tuple(move if r == index else moves[0] for r, moves in enumerate(legal))
        facts = game.facts(game.next_state(state, joint))
        found[move] = table.tablebase.worth(facts).values[index]
    return found


def regret(player: Player, game: CompiledGame, case: Case) -> float:
    """Goals that the player gives away by its move."""
    state, role, goals = case
    player.start(MatchSetup("endings", game, role, LONG, LONG, 1), time.monotonic() + LONG)
    move = player.choose(state, time.monotonic() + LONG, None)
    player.stop(None)
    return max(goals.values()) - goals[move]


if __name__ == "__main__":
    main()
