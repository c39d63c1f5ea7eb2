"""The sheets in `games/` in action: captures, passes, crashes, scores and percepts."""

from collections.abc import Iterator
from itertools import permutations
from random import Random
from typing import Any

import pytest

from gdl.syntax.parser import parse_term
from ggp.engines.loading import load as load_rules
from ggp.game import Game
from tests.conftest import ROOT
from tests.games.sheets import facts, final_goals, legal, play, rules, starting_from


def final_states(game: Game[Any], seeds: range) -> Iterator[Any]:
    for seed in seeds:
        rng, state = Random(seed), game.initial_state()
        while not game.is_terminal(state):
            state = game.next_state(state, [rng.choice(game.legal_moves(state, role)) for role in game.roles])
        yield state


def test_connectfour_3p_pays_the_winner_alone() -> None:
    game = rules("connectfour_3p")
    round_of_three = ["(drop 1)|noop|noop", "noop|(drop 2)|noop", "noop|noop|(drop 3)"]
    state = play(game, *round_of_three * 3, "(drop 1)|noop|noop")
    assert final_goals(game, state) == [100, 0, 0]


def test_breakthrough_captures_diagonally_but_not_straight() -> None:
    game = starting_from(
        "breakthrough", "(cell 4 4 white)", "(cell 4 5 black)", "(cell 5 5 black)", "(control white)"
    )
    assert legal(game, game.initial_state(), 0) == {"(move 4 4 5 5)", "(move 4 4 3 5)"}
    assert facts(game, play(game, "(move 4 4 5 5)|noop")) == {
        "(cell 5 5 white)",
        "(cell 4 5 black)",
        "(control black)",
    }


def test_breakthrough_is_won_by_taking_the_last_piece() -> None:
    game = starting_from("breakthrough", "(cell 4 4 white)", "(cell 5 5 black)", "(control white)")
    assert final_goals(game, play(game, "(move 4 4 5 5)|noop")) == [100, 0]


def test_othello_turns_over_every_enclosed_line() -> None:
    game = starting_from(
        "othello",
        *("(cell 2 1 white)", "(cell 3 1 white)", "(cell 4 1 black)"),
        *("(cell 1 2 white)", "(cell 1 3 black)", "(cell 2 2 white)", "(control black)"),
    )
    state = play(game, "(place 1 1)|noop")
    assert {f"(cell {x} 1 black)" for x in (1, 2, 3, 4)} <= facts(game, state)
    assert {"(cell 1 2 black)", "(cell 2 2 white)"} <= facts(game, state)


def test_othello_passes_only_when_stuck() -> None:
    game = starting_from(
        "othello", "(cell 1 1 black)", "(cell 2 1 white)", "(cell 8 8 black)", "(control white)"
    )
    assert legal(game, game.initial_state(), 1) == {"pass"}
    assert legal(game, play(game, "noop|pass"), 0) == {"(place 3 1)"}
    assert final_goals(game, play(game, "noop|pass", "(place 3 1)|noop")) == [100, 0]


def test_checkers_captures_are_forced_and_continued_by_the_same_piece() -> None:
    game = starting_from(
        "checkers",
        *("(cell 6 6 black_man)", "(cell 2 6 black_man)", "(cell 5 5 white_man)", "(cell 3 3 white_man)"),
        *("(control black)", "(quiet 7)"),
    )
    assert legal(game, game.initial_state(), 1) == {"(move 6 6 4 4)"}
    state = play(game, "noop|(move 6 6 4 4)")
    assert legal(game, state, 0) == {"noop"}
    assert legal(game, state, 1) == {"(move 4 4 2 2)"}
    assert {"(capturing 4 4)", "(control black)", "(quiet 0)"} <= facts(game, state)
    assert final_goals(game, play(game, "noop|(move 6 6 4 4)", "noop|(move 4 4 2 2)")) == [0, 100]


def test_checkers_crowning_ends_the_turn() -> None:
    game = starting_from(
        "checkers",
        *("(cell 3 3 black_man)", "(cell 4 2 white_man)", "(cell 6 2 white_man)", "(cell 8 8 white_man)"),
        *("(control black)", "(quiet 0)"),
    )
    state = play(game, "noop|(move 3 3 5 1)")
    assert {"(cell 5 1 black_king)", "(control white)"} <= facts(game, state)
    assert not any("capturing" in fact for fact in facts(game, state))


def test_checkers_king_walks_back_and_quiet_turns_end_in_a_draw() -> None:
    game = starting_from(
        "checkers", "(cell 1 1 black_king)", "(cell 8 8 white_king)", "(control black)", "(quiet 39)"
    )
    assert legal(game, game.initial_state(), 1) == {"(move 1 1 2 2)"}
    assert final_goals(game, play(game, "noop|(move 1 1 2 2)")) == [50, 50]


@pytest.mark.parametrize("size", [3, 4, 5])
def test_hex_always_has_exactly_one_winner(size: int) -> None:
    game = rules(f"hex_{size}x{size}")
    for state in final_states(game, range(10)):
        assert sorted(final_goals(game, state)) == [0, 100]


def test_hex_11x11_looks_at_the_chains_of_who_moved_last_alone() -> None:
    """Made smaller, the sheet with one chain in a mirror plays like the sheet with two."""
    text = (ROOT / "games" / "hex_11x11.kif").read_text(encoding="utf-8")
    for i in range(6, 12):
        text = text.replace(f"(index {i})\n", "").replace(f"(succ {i - 1} {i})\n", "")
    mirrored = load_rules(text.replace("(linked 11 ", "(linked 5 "), engine="reasoner")
    plain = rules("hex_5x5")
    for seed in range(20):
        rng = Random(seed)
        states = [mirrored.initial_state(), plain.initial_state()]
        while not plain.is_terminal(states[1]):
            assert not mirrored.is_terminal(states[0])
            assert all(legal(mirrored, states[0], r) == legal(plain, states[1], r) for r in range(2))
            moves = [rng.choice(sorted(plain.legal_moves(states[1], role), key=str)) for role in plain.roles]
            states = [game.next_state(s, moves) for game, s in zip((mirrored, plain), states, strict=True)]
        assert mirrored.is_terminal(states[0])
        assert final_goals(mirrored, states[0]) == final_goals(plain, states[1])


def test_hex_chains_follow_the_six_neighbors() -> None:
    red = ("(cell 1 1 red)", "(cell 2 1 red)")
    game = starting_from("hex_3x3", *red, "(control red)")
    assert not game.is_terminal(play(game, "(mark 3 2)|noop"))
    assert game.is_terminal(play(game, "(mark 3 1)|noop"))
    game = starting_from("hex_3x3", "(cell 1 2 red)", "(cell 2 1 red)", "(control red)")
    assert game.is_terminal(play(game, "(mark 3 1)|noop"))


@pytest.mark.parametrize(("sense", "arrival"), [("clockwise", "1 3"), ("counterclockwise", "3 1")])
def test_pentago_quadrants_turn(sense: str, arrival: str) -> None:
    game = rules("pentago")
    state = play(game, "(mark 1 1)|noop", f"(turn southwest {sense})|noop")
    assert facts(game, state) == {f"(cell {arrival} white)", "(control black)", "marking"}


def test_pentago_turning_moves_nothing_outside_the_quadrant() -> None:
    game = rules("pentago")
    state = play(game, "(mark 4 2)|noop", "(turn southwest clockwise)|noop")
    assert "(cell 4 2 white)" in facts(game, state)


def test_minichess_queen_is_blocked_and_takes_the_king() -> None:
    game = starting_from(
        "minichess",
        *(
            "(cell 1 1 white_queen)",
            "(cell 5 1 white_king)",
            "(cell 1 4 black_pawn)",
            "(cell 4 4 black_king)",
        ),
        *("(control white)", "(quiet 0)"),
    )
    moves = legal(game, game.initial_state(), 0)
    assert {"(move 1 1 1 4)", "(move 1 1 4 4)", "(move 1 1 4 1)"} <= moves
    assert not {"(move 1 1 1 5)", "(move 1 1 5 5)", "(move 1 1 5 1)"} & moves
    assert final_goals(game, play(game, "(move 1 1 4 4)|noop")) == [100, 0]


def test_minichess_pawns_promote_to_queens() -> None:
    game = starting_from(
        "minichess",
        *("(cell 2 5 white_pawn)", "(cell 1 6 black_rook)", "(cell 5 1 white_king)", "(cell 5 6 black_king)"),
        *("(control white)", "(quiet 9)"),
    )
    assert {"(move 2 5 2 6)", "(move 2 5 1 6)"} <= legal(game, game.initial_state(), 0)
    state = play(game, "(move 2 5 1 6)|noop")
    assert {"(cell 1 6 white_queen)", "(quiet 0)"} <= facts(game, state)


SKIRMISH_COUNTS = ("(taken white 3)", "(taken black 4)", "(turn 20)")


def test_skirmish_pawns_go_two_rows_from_home_where_both_are_empty() -> None:
    pawns = (
        "(cell 1 2 white_pawn)",
        "(cell 2 2 white_pawn)",
        "(cell 3 2 white_pawn)",
        "(cell 4 3 white_pawn)",
    )
    black = ("(cell 2 3 black_knight)", "(cell 3 4 black_rook)")
    game = starting_from("skirmish", *pawns, *black, *SKIRMISH_COUNTS, "(control white)")
    steps = {"(move 1 2 1 3)", "(move 1 2 1 4)", "(move 3 2 3 3)", "(move 4 3 4 4)"}
    assert legal(game, game.initial_state(), 0) == steps | {
        "(move 1 2 2 3)",
        "(move 3 2 2 3)",
        "(move 4 3 3 4)",
    }


def test_skirmish_black_pawns_go_down() -> None:
    pawns = ("(cell 1 7 black_pawn)", "(cell 4 2 black_pawn)", "(cell 8 8 white_rook)")
    game = starting_from("skirmish", *pawns, *SKIRMISH_COUNTS, "(control black)")
    moves = {"(move 1 7 1 6)", "(move 1 7 1 5)", "(move 4 2 4 1)"}
    assert legal(game, game.initial_state(), 1) == moves
    assert "(cell 4 1 black_queen)" in facts(game, play(game, "noop|(move 4 2 4 1)"))


def test_skirmish_kings_are_taken_and_counted_like_all_others() -> None:
    pieces = (
        "(cell 4 4 black_rook)",
        "(cell 4 8 white_king)",
        "(cell 1 1 white_knight)",
        "(cell 8 8 black_king)",
    )
    game = starting_from("skirmish", *pieces, *SKIRMISH_COUNTS, "(control black)")
    state = play(game, "noop|(move 4 4 4 8)")
    assert not game.is_terminal(state)
    assert facts(game, state) == {
        *("(cell 4 8 black_rook)", "(cell 1 1 white_knight)", "(cell 8 8 black_king)"),
        *("(taken white 3)", "(taken black 5)", "(turn 21)", "(control white)"),
    }


def test_skirmish_pawn_takes_and_becomes_a_queen() -> None:
    pieces = ("(cell 2 7 white_pawn)", "(cell 2 8 black_king)", "(cell 3 8 black_rook)")
    game = starting_from("skirmish", *pieces, *SKIRMISH_COUNTS, "(control white)")
    assert legal(game, game.initial_state(), 0) == {"(move 2 7 3 8)"}
    state = play(game, "(move 2 7 3 8)|noop")
    assert {"(cell 3 8 white_queen)", "(taken white 4)"} <= facts(game, state)


@pytest.mark.parametrize(("white", "black", "goals"), [(3, 4, [0, 100]), (4, 4, [50, 50]), (15, 0, [100, 0])])
def test_skirmish_is_won_by_more_captures_in_100_turns(white: int, black: int, goals: list[int]) -> None:
    counts = (f"(taken white {white})", f"(taken black {black})", "(turn 99)")
    game = starting_from(
        "skirmish", "(cell 1 1 white_rook)", "(cell 8 7 black_rook)", *counts, "(control white)"
    )
    state = play(game, "(move 1 1 1 5)|noop")
    assert game.is_terminal(state)
    assert final_goals(game, state) == goals


def test_skirmish_ends_with_the_last_piece_and_where_the_one_in_control_cannot_move() -> None:
    counts = ("(taken white 15)", "(taken black 15)", "(turn 60)")
    game = starting_from(
        "skirmish", "(cell 1 1 white_rook)", "(cell 1 7 black_rook)", *counts, "(control white)"
    )
    state = play(game, "(move 1 1 1 7)|noop")
    assert game.is_terminal(state)
    assert final_goals(game, state) == [100, 0]
    blocked = ("(cell 5 4 white_pawn)", "(cell 5 5 black_pawn)", "(cell 8 8 black_king)")
    for player, is_over in (("white", True), ("black", False)):
        game = starting_from("skirmish", *blocked, *SKIRMISH_COUNTS, f"(control {player})")
        assert game.is_terminal(game.initial_state()) == is_over


def test_nineboard_place_names_the_next_board() -> None:
    game = rules("nineboard")
    state = play(game, "(mark 6 2)|noop")
    assert legal(game, state, 1) == {f"(mark {x} {y})" for x in (7, 8, 9) for y in (4, 5, 6)}


def test_nineboard_full_boards_free_the_choice() -> None:
    marks = {1: "xxo", 2: "oox", 3: "xxo"}
    full = [f"(cell {x} {y} {marks[y][x - 1]})" for x in (1, 2, 3) for y in marks]
    game = starting_from("nineboard", *full, "(board 2 2)", "(control x)")
    assert not game.is_terminal(game.initial_state())
    assert len(legal(game, play(game, "(mark 4 4)|noop"), 1)) == 81 - 9 - 1


def test_tron_riders_on_the_same_cell_both_crash() -> None:
    game = starting_from(
        "tron", *("(cell 3 3 red)", "(cyclist red 3 3)", "(cell 5 3 blue)", "(cyclist blue 5 3)")
    )
    assert final_goals(game, play(game, "(ride east)|(ride west)")) == [50, 50]


def test_tron_walls_leave_only_the_crash() -> None:
    walls = ("(cell 1 2 blue)", "(cell 2 1 blue)", "(cell 1 1 red)", "(cell 5 5 blue)")
    game = starting_from("tron", *walls, "(cyclist red 1 1)", "(cyclist blue 5 5)")
    assert legal(game, game.initial_state(), 0) == {"crash"}
    assert final_goals(game, play(game, "crash|(ride west)")) == [0, 100]


def test_goofspiel_discards_prizes_on_equal_bids() -> None:
    game = rules("goofspiel")
    state = play(game, "(bid 1)|(bid 1)", "(bid 2)|(bid 3)", "(bid 3)|(bid 2)", "(bid 5)|(bid 4)")
    assert {"(score left 6)", "(score right 4)"} <= facts(game, state)
    bids = ["(bid 1)|(bid 1)", "(bid 2)|(bid 3)", "(bid 3)|(bid 2)", "(bid 5)|(bid 4)", "(bid 4)|(bid 5)"]
    assert final_goals(game, play(game, *bids)) == [0, 100]


def test_blocker_gets_a_cell_that_both_mark() -> None:
    game = rules("blocker")
    state = play(game, "(mark 1 1)|(mark 1 1)", "(mark 4 4)|(mark 1 2)")
    assert {"(cell 1 1 blocker)", "(cell 1 2 blocker)", "(cell 4 4 crosser)"} <= facts(game, state)
    assert "(cell 1 1 crosser)" not in facts(game, state)


def test_blocker_loses_to_a_diagonal_chain() -> None:
    game = rules("blocker")
    crosser, blocker = ["1 1", "2 2", "3 3", "4 4"], ["1 2", "1 3", "1 4", "2 4"]
    steps = [f"(mark {mine})|(mark {other})" for mine, other in zip(crosser, blocker, strict=True)]
    assert final_goals(game, play(game, *steps)) == [100, 0]


def test_dotsandboxes_closing_two_boxes_scores_both_and_moves_again() -> None:
    upright = [f"(drawn (upright {x} 1))" for x in (1, 3)]
    across = [f"(drawn (across {x} {y}))" for x in (1, 2) for y in (1, 2)]
    game = starting_from(
        "dotsandboxes", *upright, *across, "(score first 1)", "(score second 0)", "(control first)"
    )
    state = play(game, "(draw (upright 2 1))|noop")
    assert {"(score first 3)", "(score second 0)", "(control first)"} <= facts(game, state)
    state = play(game, "(draw (upright 1 2))|noop")
    assert {"(score first 1)", "(control second)"} <= facts(game, state)


def test_sheepandwolf_wolf_wins_behind_the_sheep_and_loses_when_enclosed() -> None:
    sheep = ("(cell 1 5 sheep)", "(cell 3 5 sheep)", "(cell 5 5 sheep)", "(cell 7 5 sheep)")
    game = starting_from("sheepandwolf", *sheep, "(cell 4 2 wolf)", "(control wolf)")
    assert final_goals(game, play(game, "(move 4 2 3 1)|noop")) == [100, 0]
    sheep = ("(cell 2 6 sheep)", "(cell 3 5 sheep)", "(cell 5 5 sheep)", "(cell 7 5 sheep)")
    game = starting_from("sheepandwolf", *sheep, "(cell 1 7 wolf)", "(cell 2 8 sheep)", "(control wolf)")
    assert final_goals(game, game.initial_state()) == [0, 100]


def test_knightthrough_knights_hop_over_pieces_but_only_forward() -> None:
    own = ("(cell 4 4 white)", "(cell 4 5 white)", "(cell 3 5 white)", "(cell 5 6 black)")
    game = starting_from("knightthrough", *own, "(control white)")
    from_4_4 = {move for move in legal(game, game.initial_state(), 0) if move.startswith("(move 4 4 ")}
    assert from_4_4 == {"(move 4 4 2 5)", "(move 4 4 6 5)", "(move 4 4 3 6)", "(move 4 4 5 6)"}


def test_dicerace_blocks_squares_and_passes() -> None:
    track = ("(at red a 3)", "(at red b 4)", "(at blue a 5)", "(at blue b 6)", "(turn red)")
    game = starting_from("dicerace", *track)
    assert legal(game, game.initial_state(), 0) == {"noop"}
    assert legal(game, play(game, "noop|noop|(roll 1)"), 0) == {"(run a)"}
    assert legal(game, play(game, "noop|noop|(roll 2)"), 0) == {"pass"}
    assert legal(game, play(game, "noop|noop|(roll 3)"), 0) == {"(run b)"}


def test_dicerace_finish_may_be_overshot() -> None:
    game = starting_from(
        "dicerace", "(at red a 10)", "(at red b 8)", "(at blue a 9)", "(at blue b 0)", "(turn red)"
    )
    assert final_goals(game, play(game, "noop|noop|(roll 3)", "(run b)|noop|noop")) == [100, 0]


def percepts(game: Game[Any], state: Any, step: str, role: int) -> list[str]:
    joint_move = [parse_term(move.strip()) for move in step.split("|")]
    return [str(percept) for percept in game.percepts(state, joint_move, game.roles[role])]


def test_kuhn_poker_players_see_their_own_card_only() -> None:
    game = rules("kuhn_poker")
    state = game.initial_state()
    for first, second in permutations(("jack", "queen", "king"), 2):
        step = f"noop|noop|(deal {first} {second})"
        assert percepts(game, state, step, 0) == [f"(card {first})"]
        assert percepts(game, state, step, 1) == [f"(card {second})"]
        assert percepts(game, state, step, 2) == []


def test_kuhn_poker_players_see_each_other_bet() -> None:
    game = rules("kuhn_poker")
    state = play(game, "noop|noop|(deal queen king)")
    assert percepts(game, state, "bet|noop|noop", 1) == ["(move first bet)"]


@pytest.mark.parametrize(
    ("moves", "expected"),
    [
        (["check|noop", "noop|check"], [25, 75]),
        (["bet|noop", "noop|call"], [0, 100]),
        (["bet|noop", "noop|fold"], [75, 25]),
        (["check|noop", "noop|bet", "fold|noop"], [25, 75]),
        (["check|noop", "noop|bet", "call|noop"], [0, 100]),
    ],
)
def test_kuhn_poker_pots(moves: list[str], expected: list[int]) -> None:
    game = rules("kuhn_poker")
    state = play(game, "noop|noop|(deal queen king)", *(f"{move}|noop" for move in moves))
    assert final_goals(game, state) == expected


def test_chinesecheckers_jumps_may_go_on_but_not_back_or_stop() -> None:
    game = starting_from(
        "chinesecheckers_3p",
        *("(cell 5 5 red)", "(cell 6 5 blue)", "(cell 7 6 green)", "(control red)", "(step 0)"),
    )
    state = play(game, "(move 5 5 7 5)|noop|noop")
    assert legal(game, state, 0) == {"stop", "(move 7 5 7 7)"}
    assert legal(game, state, 1) == {"noop"}
    state = play(game, "(move 5 5 7 5)|noop|noop", "stop|noop|noop")
    assert {"(cell 7 5 red)", "(control green)", "(step 2)"} == facts(game, state) - {
        "(cell 6 5 blue)",
        "(cell 7 6 green)",
    }


def test_chinesecheckers_pays_the_winner_and_the_pegs_at_home() -> None:
    red = ("(cell 1 7 red)", "(cell 2 6 red)", "(cell 3 7 red)")
    others = ("(cell 7 2 green)", "(cell 6 2 green)", "(cell 5 5 green)", "(cell 8 8 blue)")
    game = starting_from("chinesecheckers_3p", *red, *others, "(control red)", "(step 0)")
    assert final_goals(game, play(game, "(move 3 7 2 7)|noop|noop")) == [100, 50, 0]


def test_amazons_may_shoot_back_over_the_cell_they_left() -> None:
    game = starting_from("amazons", "(cell 5 5 white)", "(cell 1 10 black)", "(control white)")
    moves = legal(game, game.initial_state(), 0)
    assert {"(move 5 5 5 7 5 5)", "(move 5 5 5 7 5 2)", "(move 5 5 5 7 5 6)", "(move 5 5 5 7 8 4)"} <= moves
    assert "(move 5 5 5 7 5 7)" not in moves
    assert "(move 5 5 2 8 1 10)" not in moves
    state = play(game, "(move 5 5 5 7 5 5)|noop")
    assert facts(game, state) == {
        "(cell 5 7 white)",
        "(cell 5 5 arrow)",
        "(cell 1 10 black)",
        "(control black)",
    }
