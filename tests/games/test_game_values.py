"""Known position counts and values of the games in `games/`, recomputed from the sheets."""

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from ggp.engines.loading import load
from ggp.game import Game
from tests.conftest import mostly_slow
from tests.oracles.naive_solver import joint_moves, perft, positions, solve, successors

PERFT = {
    "tictactoe": [9, 72, 504, 3024],
    "connectfour": [7, 49, 343, 2401, 16807],
    "breakthrough": [22, 484, 11132],
    "othello": [4, 12, 56, 244, 1396, 8200],
    "checkers": [7, 49, 302, 1469, 7361],
    "knightthrough": [40, 40 * 40],
    "nineboard": [81, 81 * 9 - 9],
    "pentago": [36, 36 * 8],
    "minichess": [7, 49],
    "skirmish": [20, 400, 8902],
    "dotsandboxes": [24, 24 * 23],
    "hex_7x7": [49, 49 * 48],
    "hex_11x11": [121],
    "amazons": [2176],
    "amazons_5x5": [260],
}
"""Move sequences by length. Othello, checkers, breakthrough and amazons: published counts; skirmish: those
of chess, whose rules of check and castling nobody meets in three moves; amazons 5x5: `amazon_moves`; the
others follow from the number of columns, pieces and cells."""


def rules(name: str) -> Game[Any]:
    return load(name, engine="reasoner")


def facts(game: Game[Any], state: Any) -> set[str]:
    return {str(fact) for fact in game.facts(state)}


@pytest.mark.parametrize("name", mostly_slow(PERFT, 4))
def test_perft_counts(name: str) -> None:
    assert perft(rules(name), len(PERFT[name])) == PERFT[name]


def test_tictactoe_has_5478_states_and_is_a_draw() -> None:
    game = rules("tictactoe")
    values = solve(game)
    assert len(values) == 5478
    assert values[game.initial_state()] == (50, 50)


def test_tictactoe_has_255168_games() -> None:
    game = rules("tictactoe")
    games, level = 0, Counter([game.initial_state()])
    while level:
        games += sum(ways for state, ways in level.items() if game.is_terminal(state))
        following: Counter[Any] = Counter()
        for state, ways in level.items():
            for successor in successors(game, state):
                following[successor] += ways
        level = following
    assert games == 255_168


def test_connectfour_positions_by_ply() -> None:
    assert positions(rules("connectfour"), 5) == [1, 7, 49, 238, 1120, 4263]


def amazon_moves(size: int, white: set[tuple[int, int]], black: set[tuple[int, int]], plies: int) -> int:
    """Move sequences of amazons, from an independent model: walks over cells, arrows are taken cells."""

    def reachable(taken: set[tuple[int, int]], x: int, y: int) -> Iterator[tuple[int, int]]:
        for dx, dy in set(product((-1, 0, 1), repeat=2)) - {(0, 0)}:
            u, v = x + dx, y + dy
            while 1 <= u <= size and 1 <= v <= size and (u, v) not in taken:
                yield u, v
                u, v = u + dx, v + dy

    def count(
        mine: set[tuple[int, int]], others: set[tuple[int, int]], taken: set[tuple[int, int]], left: int
    ) -> int:
        total = 0
        for amazon in mine:
            for cell in reachable(taken, *amazon):
                moved = taken - {amazon} | {cell}
                shots = reachable(moved, *cell)
                following = mine - {amazon} | {cell}
                total += sum(
                    count(others, following, moved | {shot}, left - 1) if left > 1 else 1 for shot in shots
                )
        return total

    return count(white, black, white | black, plies)


@pytest.mark.slow
def test_amazons_5x5_has_the_moves_of_an_independent_model() -> None:
    white, black = {(1, 2), (2, 1), (4, 1), (5, 2)}, {(1, 4), (2, 5), (4, 5), (5, 4)}
    assert perft(rules("amazons_5x5"), 2) == [amazon_moves(5, white, black, plies) for plies in (1, 2)]


def drop_positions(width: int, height: int, plies: int) -> list[int]:
    """Connect four positions by ply, from an independent model (columns as strings, lines as cells)."""
    cells = {(x, y) for x in range(width) for y in range(height)}
    ways = ((1, 0), (0, 1), (1, 1), (1, -1))
    lines = [[(x + i * dx, y + i * dy) for i in range(4)] for x, y in cells for dx, dy in ways]
    lines = [line for line in lines if cells.issuperset(line)]

    def has_line(columns: Sequence[str], disc: str) -> bool:
        return any(all(columns[x][y : y + 1] == disc for x, y in line) for line in lines)

    level, counts = {("",) * width}, [1]
    for ply in range(plies):
        disc, last = "rb"[ply % 2], "br"[ply % 2]
        level = {
            (*columns[:x], columns[x] + disc, *columns[x + 1 :])
            for columns in level
            if not has_line(columns, last)
            for x in range(width)
            if len(columns[x]) < height
        }
        counts.append(len(level))
    return counts


@pytest.mark.slow
@pytest.mark.parametrize(("width", "height"), [(5, 4), (4, 5), (5, 5)])
def test_connectfour_boards_agree_with_a_model_by_columns(width: int, height: int) -> None:
    game = rules(f"connectfour_{width}x{height}")
    assert positions(game, 7) == drop_positions(width, height, 7)


VALUES = {"hex_3x3": 100, "othello_4x4": 0, "bucket": 51}
"""What the first role gets when both play perfectly."""


@pytest.mark.parametrize("name", mostly_slow(VALUES, 3))
def test_value_of_the_first_role(name: str) -> None:
    game, value = rules(name), VALUES[name]
    assert solve(game, stop_at_win=True)[game.initial_state()] == (value, 100 - value)


def number_in(known: set[str], functor: str) -> int:
    """The last argument of the one fact with this functor."""
    (number,) = (int(fact.rstrip(")").split()[-1]) for fact in known if fact.startswith(f"({functor} "))
    return number


def test_nim_follows_the_xor_rule_in_every_state() -> None:
    game = rules("nim")
    values = solve(game)
    assert len(values) == 752
    for state, (first, _) in values.items():
        known = facts(game, state)
        xor = 0
        for heap in "abcd":
            xor ^= number_in(known, f"heap {heap}")
        assert (first == 100) == ((xor != 0) == ("(control first)" in known))


def test_halving_follows_its_recursion_in_every_state() -> None:
    mover_wins = {0: True}
    for number in range(1, 51):
        mover_wins[number] = not (mover_wins[number - 1] and mover_wins[number // 2])
    game = rules("halving")
    values = solve(game)
    for state, (first, _) in values.items():
        known = facts(game, state)
        assert (first == 100) == (mover_wins[number_in(known, "number")] == ("(control first)" in known))
    assert values[game.initial_state()] == (0, 100)


def bucket_goals() -> dict[str, dict[int, int]]:
    """Per bucket, the picker's goal for each number in it."""
    game = rules("bucket")
    found: dict[str, dict[int, int]] = {}
    for picked, _ in list(joint_moves(game, game.initial_state())):
        state = game.next_state(
            game.initial_state(), (picked, game.legal_moves(game.initial_state(), game.roles[1])[0])
        )
        contents = found.setdefault(str(picked), {})
        for joint_move in list(joint_moves(game, state)):
            number = int(str(joint_move[1]).removeprefix("(draw ").rstrip(")").replace("minus", "-"))
            contents[number] = game.goal(game.next_state(state, joint_move), game.roles[0])
    return found


def test_bucket_goals_are_the_numbers_of_the_lecture_shifted() -> None:
    goals = bucket_goals()
    numbers = {"(pick a)": {-50, 50}, "(pick b)": {1, 3}, "(pick c)": {-5, 15}}
    assert goals == {bucket: {n: 50 + n for n in contents} for bucket, contents in numbers.items()}


def test_bucket_c_is_best_against_chance_and_b_against_an_opponent() -> None:
    goals = {bucket: list(contents.values()) for bucket, contents in bucket_goals().items()}
    means = {bucket: Fraction(sum(each), len(each)) for bucket, each in goals.items()}
    worst = {bucket: min(each) for bucket, each in goals.items()}
    assert (max(means, key=means.__getitem__), means["(pick c)"]) == ("(pick c)", 55)
    assert (max(worst, key=worst.__getitem__), worst["(pick b)"]) == ("(pick b)", 51)


def payoffs(name: str, role: int = 0) -> dict[tuple[str, ...], int]:
    """Goals of one role for every joint move of a one-round game."""
    game = rules(name)
    found = {}
    for joint_move in joint_moves(game, game.initial_state()):
        state = game.next_state(game.initial_state(), joint_move)
        assert game.is_terminal(state)
        found[tuple(map(str, joint_move))] = game.goal(state, game.roles[role])
    return found


def test_morra_value_is_minus_one_twelfth() -> None:
    goal = payoffs("morra")
    value = Fraction(50) - Fraction(10, 12)
    chance = {"(show 1)": Fraction(7, 12), "(show 2)": Fraction(5, 12)}
    for other in chance:
        assert sum(p * goal[shown, other] for shown, p in chance.items()) == value
        assert sum(p * goal[other, shown] for shown, p in chance.items()) == value


def test_rockpaperscissors_is_fair_against_a_uniform_hand() -> None:
    goal = payoffs("rockpaperscissors")
    assert Counter(goal.values()) == {100: 3, 50: 3, 0: 3}
    for hand in {left for left, _ in goal}:
        assert sum(value for (left, _), value in goal.items() if left == hand) == 150
    assert goal["(show paper)", "(show rock)"] == 100


def test_prisoners_dilemma_has_a_dominant_move_that_hurts_both() -> None:
    row, column = payoffs("prisoners_dilemma", 0), payoffs("prisoners_dilemma", 1)
    for other in ("silent", "confess"):
        assert row["confess", other] > row["silent", other]
        assert column[other, "confess"] > column[other, "silent"]
    assert row["confess", "confess"] < row["silent", "silent"]


def test_prisoners_goals_are_the_years_of_the_lecture_scaled() -> None:
    years = {
        ("silent", "silent"): 1,
        ("silent", "confess"): 10,
        ("confess", "silent"): 0,
        ("confess", "confess"): 5,
    }
    assert payoffs("prisoners_dilemma") == {moves: 100 - 10 * each for moves, each in years.items()}


def test_morra_goals_are_the_amounts_of_the_lecture_scaled() -> None:
    amount = {("(show 1)", "(show 1)"): 2, ("(show 2)", "(show 2)"): 4}
    for (even, odd), goal in payoffs("morra").items():
        assert goal == 50 + 10 * amount.get((even, odd), -3)


@pytest.mark.slow
def test_dicerace_favors_the_first_role() -> None:
    game = rules("dicerace")
    values = solve(game)
    assert len(values) == 77_895
    red, blue, _ = values[game.initial_state()]
    assert float(red) == pytest.approx(68.088, abs=0.001)
    assert red + blue == 100


def kuhn_chances(card: str, role: int, known: set[str]) -> dict[str, Fraction]:
    """Kuhn's equilibrium in which the first player never bets at once: probability of each move."""
    aggressive = "bet" if not any("bet" in fact for fact in known) else "call"
    passive = "check" if aggressive == "bet" else "fold"
    third = Fraction(1, 3)
    if aggressive == "bet":
        bold = Fraction(0) if role == 0 else {"jack": third, "queen": Fraction(0), "king": Fraction(1)}[card]
    else:
        bold = {"jack": Fraction(0), "queen": third, "king": Fraction(1)}[card]
    return {aggressive: bold, passive: 1 - bold}


def test_kuhn_poker_pays_minus_one_eighteenth_in_equilibrium() -> None:
    game = rules("kuhn_poker")

    def expected(state: Any) -> Fraction:
        known = facts(game, state)
        if game.is_terminal(state):
            assert game.goal(state, game.roles[0]) + game.goal(state, game.roles[1]) == 100
            return Fraction(game.goal(state, game.roles[0]))
        moves = list(joint_moves(game, state))
        if "(control random)" in known:
            assert len(moves) == 6
            return sum((expected(game.next_state(state, move)) for move in moves), Fraction(0)) / 6
        role = 0 if "(control first)" in known else 1
        (card,) = (
            fact.split()[2].rstrip(")") for fact in known if fact.startswith(f"(holds {game.roles[role]}")
        )
        chances = kuhn_chances(card, role, known)
        assert chances.keys() == {str(move[role]) for move in moves}
        return sum(
            (chances[str(move[role])] * expected(game.next_state(state, move)) for move in moves), Fraction(0)
        )

    assert expected(game.initial_state()) == 50 - Fraction(25, 18)
