"""The sheets with hidden information: what each role sees, what that is worth, and the chances of chance."""

from collections import Counter
from fractions import Fraction
from itertools import pairwise, product
from random import Random

import pytest

from gdl.syntax.parser import parse_term
from ggp.engines.loading import load
from tests.conftest import ROOT
from tests.games.sheets import facts, final_goals, legal, play, rules
from tests.oracles.naive_beliefs import best_goal, first_belief, step

HIDDEN = sorted(path.stem for path in (ROOT / "games").glob("*.kif") if "(sees " in path.read_text())
MAX_STATES = 300
"""At most this many possible states are followed in one playout."""


def percepts(game, state, joint_move, role):
    terms = [parse_term(move.strip()) for move in joint_move.split("|")]
    return [str(percept) for percept in game.percepts(state, terms, game.roles[role])]


def test_number_of_sheets():
    assert len(HIDDEN) >= 13


@pytest.mark.parametrize("name", HIDDEN)
def test_roles_know_their_legal_moves_but_not_the_state(name):
    """Own moves and percepts leave several states possible, and in all of them the same moves legal."""
    game, rng, most = load(name), Random(1), 0
    state, roles = game.initial_state(), [role for role in game.roles if str(role) != "random"]
    beliefs = {role: first_belief(game) for role in roles}
    while not game.is_terminal(state):
        joint_move = [rng.choice(game.legal_moves(state, role)) for role in game.roles]
        following = game.next_state(state, joint_move)
        for role, belief in list(beliefs.items()):
            assert state in belief
            assert {game.legal_moves(each, role) for each in belief} == {game.legal_moves(state, role)}
            if not game.is_terminal(following):
                move, seen = joint_move[game.roles.index(role)], game.percepts(state, joint_move, role)
                beliefs[role] = step(game, role, belief, move, seen)
                most = max(most, len(beliefs[role]))
            if len(beliefs[role]) > MAX_STATES:
                del beliefs[role]
        state = following
    assert most > 1


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("monty_hall", Fraction(200, 3)),
        ("number_guessing", Fraction(500, 7)),
        ("wire_cutting", Fraction(80)),
        ("blind_maze", Fraction(50)),
    ],
)
def test_value_of_one_role_and_chance(name, value):
    game = load(name)
    assert best_goal(game, game.roles[0]) == value


def test_signalling_two_flags_tell_two_islands_apart():
    game = rules("signalling")
    islands, flags = ("north", "middle", "south"), ("red", "white")

    def goal(island, shown, passed, named):
        first, second = shown[island], passed[shown[island]]
        name = named[second]
        steps = (
            f"noop|noop|noop|(choose {island})",
            f"(show {first})|noop|noop|noop",
            f"noop|(show {second})|noop|noop",
            f"noop|noop|(name {name})|noop",
        )
        return final_goals(game, play(game, *steps))[0]

    passed = dict(zip(flags, flags, strict=True))  # turning the flags around is the captain's business
    best = max(
        sum(goal(island, dict(zip(islands, shown, strict=True)), passed, dict(zip(flags, named, strict=True)))
            for island in islands)
        for shown in product(flags, repeat=3)
        for named in product(islands, repeat=2)
    )  # fmt: skip
    assert best == 200


def test_leduc_deals_as_six_cards_do():
    game = rules("leduc_poker")
    deck = ["jack", "jack", "queen", "queen", "king", "king"]
    dealt = Counter((a, b) for i, a in enumerate(deck) for j, b in enumerate(deck) if i != j)
    moves = Counter(tuple(move.split()[1:3]) for move in legal(game, game.initial_state(), 2))
    assert {deal: Fraction(count, 30) for deal, count in dealt.items()} == {
        deal: Fraction(count, moves.total()) for deal, count in moves.items()
    }
    for first, second, turned in (
        ("jack", "queen", {"jack": 1, "queen": 1, "king": 2}),
        ("king", "king", {"jack": 2, "queen": 2}),
    ):
        state = play(game, f"noop|noop|(deal {first} {second} one)", "check|noop|noop", "noop|check|noop")
        assert Counter(move.split()[1] for move in legal(game, state, 2)) == turned


@pytest.mark.parametrize(
    ("betting", "goals"),
    [
        (["bet", "fold"], [53, 47]),
        (["bet", "raise", "fold"], [41, 59]),
        (["check", "check", "turn king", "check", "check"], [47, 53]),
        (["check", "check", "turn queen", "check", "check"], [53, 47]),
        (["bet", "call", "turn king", "bet", "fold"], [59, 41]),
        (["bet", "raise", "call", "turn king", "bet", "raise", "call"], [11, 89]),
        (["check", "bet", "raise", "call", "turn queen", "check", "bet", "raise", "call"], [89, 11]),
    ],
)
def test_leduc_pots_with_a_queen_against_a_king(betting, goals):
    game = rules("leduc_poker")
    state = play(game, "noop|noop|(deal queen king one)")
    for each in betting:
        control = next(fact for fact in facts(game, state) if fact.startswith("(control")).split()[1]
        own = f"({each} one)" if each.startswith("turn") else each
        moves = [own if str(role) == control.rstrip(")") else "noop" for role in game.roles]
        state = game.next_state(state, [parse_term(move) for move in moves])
    assert final_goals(game, state) == goals


def test_leduc_equal_cards_share_the_pot_and_one_raise_is_the_most():
    game = rules("leduc_poker")
    state = play(game, "noop|noop|(deal queen queen one)", "bet|noop|noop", "noop|raise|noop")
    assert legal(game, state, 0) == {"call", "fold"}
    steps = ("noop|noop|(deal queen queen one)", "check|noop|noop", "noop|check|noop")
    ended = play(game, *steps, "noop|noop|(turn king one)", "check|noop|noop", "noop|check|noop")
    assert final_goals(game, ended) == [50, 50]
    assert percepts(game, play(game, *steps), "noop|noop|(turn king one)", 1) == ["(public king)"]
    assert percepts(game, game.initial_state(), "noop|noop|(deal queen king two)", 0) == ["(card queen)"]


@pytest.mark.parametrize(
    ("dice", "bids", "goals"),
    [
        ("1 3", ["1 3"], [100, 0]),
        ("1 3", ["2 3"], [0, 100]),
        ("1 3", ["1 1", "1 2"], [100, 0]),
        ("2 2", ["1 1", "2 2"], [0, 100]),
    ],
)
def test_liars_dice_the_last_bid_decides(dice, bids, goals):
    game = rules("liars_dice")
    steps = [f"noop|noop|(dice {dice})"]
    for place, bid in enumerate([*(f"(bid {bid})" for bid in bids), "doubt"]):
        steps.append(f"{bid}|noop|noop" if place % 2 == 0 else f"noop|{bid}|noop")
    assert final_goals(game, play(game, *steps)) == goals


def test_liars_dice_bids_rise():
    game = rules("liars_dice")
    state = play(game, "noop|noop|(dice 1 2)")
    order = ["1 1", "1 2", "1 3", "2 1", "2 2", "2 3"]
    assert legal(game, state, 0) == {f"(bid {bid})" for bid in order}
    for place, (last, _) in enumerate(pairwise(order), start=1):
        after = play(game, "noop|noop|(dice 1 2)", f"(bid {last})|noop|noop")
        assert legal(game, after, 1) == {"doubt", *(f"(bid {bid})" for bid in order[place:])}


def test_kriegspiel_refuses_a_marked_cell_aloud_and_the_turn_stays():
    for name in ("krieg_tictactoe", "dark_hex_3x3"):
        game = rules(name)
        state = play(game, "(mark 2 2)|noop")
        assert percepts(game, game.initial_state(), "(mark 2 2)|noop", 1) == []
        assert percepts(game, state, "noop|(mark 2 2)", 0) == percepts(game, state, "noop|(mark 2 2)", 1)
        after = play(game, "(mark 2 2)|noop", "noop|(mark 2 2)")
        assert len(legal(game, after, 1)) == 8
        assert legal(game, after, 0) == {"noop"}


def test_abrupt_phantom_tictactoe_costs_the_turn_and_only_one_player_notices():
    game = rules("phantom_tictactoe")
    state = play(game, "(mark 2 2)|noop")
    assert percepts(game, state, "noop|(mark 2 2)", 1) == ["(occupied 2 2)"]
    assert percepts(game, state, "noop|(mark 2 2)", 0) == []
    after = play(game, "(mark 2 2)|noop", "noop|(mark 2 2)")
    assert len(legal(game, after, 0)) == 8
    assert legal(game, after, 1) == {"noop"}


def test_battleship_fires_at_the_same_time():
    game = rules("battleship")
    hide = "(hide 1 1 lying)|(hide 3 2 upright)"
    state = play(game, hide)
    assert percepts(game, game.initial_state(), hide, 0) == []
    shots = "(fire 3 2)|(fire 2 2)"
    assert percepts(game, state, shots, 0) == ["(shot 2 2)", "hit"]
    assert percepts(game, state, shots, 1) == ["(shot 3 2)"]
    assert final_goals(game, play(game, hide, shots, "(fire 3 3)|(fire 1 1)")) == [100, 0]
    assert final_goals(game, play(game, hide, "(fire 3 2)|(fire 2 1)", "(fire 3 3)|(fire 1 1)")) == [50, 50]


def test_hidden_goofspiel_shows_who_takes_the_prize_alone():
    game = rules("goofspiel_hidden")
    state = game.initial_state()
    assert percepts(game, state, "(bid 3)|(bid 1)", 1) == ["(prize_to left)"]
    assert percepts(game, state, "(bid 3)|(bid 3)", 1) == []
    bids = ("(bid 2)|(bid 1)", "(bid 4)|(bid 2)", "(bid 1)|(bid 3)", "(bid 3)|(bid 4)")
    assert final_goals(game, play(game, *bids)) == [100, 0]
