"""Playing and proving: `tests/invalid/play` has a sheet per fault; small games are fully decided."""

import re

import pytest

import ggp
from gdl.errors import Severity
from gdl.syntax.parser import parse
from ggp.engines.loading import load
from ggp.match.record import read_record
from ggp.validation.output import explanation
from ggp.validation.playouts import play_randomly
from ggp.validation.properties import CODES, Declarations, Outcome, PlayLimits, ProofLimits, declarations_of
from ggp.validation.proving import prove
from ggp.validation.sheet import Request, examine
from tests.conftest import ROOT

FAULTY = sorted((ROOT / "tests" / "invalid" / "play").glob("*.kif"))
FEW = PlayLimits(playouts=20, lane_playouts=1000, seconds=10)
ONLY_BY_PROOF, ONLY_BY_PLAY = {"GDL406"}, {"GDL407"}


def expected_code(path):
    return re.match(r"; expect: (GDL\d+)", path.read_text(encoding="utf-8")).group(1)


def decided(properties):
    return {fact.statement: fact.outcome.value for fact in properties}


def proved(name):
    game = load(ROOT / "games" / f"{name}.kif", "lanes")
    return prove(game, Declarations(), ProofLimits(10_000, 60))


@pytest.mark.parametrize("path", FAULTY, ids=lambda path: path.stem)
def test_fault_is_found_by_playing_and_by_proof(path):
    code = expected_code(path)
    assert {diagnostic.code for diagnostic in examine(str(path), Request()).diagnostics} <= {"GDL318"}
    for request in (Request(play=FEW), Request(prove=ProofLimits(1000, 10))):
        if request.prove is None and code in ONLY_BY_PROOF:
            continue
        report = examine(str(path), request)
        if request.prove is not None and code in ONLY_BY_PLAY:
            assert report.note == "nothing proved: the rules cannot be compiled"
            continue
        found = [diagnostic for diagnostic in report.diagnostics if diagnostic.code in CODES]
        assert [diagnostic.code for diagnostic in found] == [code]
        (fact,) = (fact for fact in report.properties if fact.code == code)
        assert fact.outcome is Outcome.REFUTED
        assert fact.witness is not None or code == "GDL406"


def test_every_code_of_playing_has_a_sheet_and_an_explanation():
    assert {expected_code(path) for path in FAULTY} == set(CODES)
    for code, title in CODES.items():
        assert explanation(code).startswith(f"{code}: {title}\n")


def test_witness_is_recorded_as_a_match(tmp_path):
    record_file = tmp_path / "witness.json"
    path = ROOT / "tests" / "invalid" / "play" / "no_goal.kif"
    examine(str(path), Request(play=FEW, record=record_file))
    record = read_record(record_file)
    ((move,),) = record.moves
    assert move in ("(make bright)", "(make dim)")
    how = move.removeprefix("(make ").removesuffix(")")
    assert record.states == ["( (light off) )", f"( (light {how}) )"]
    assert record.fault.startswith("GDL403: ")


def test_tictactoe_is_decided():
    game = load(ROOT / "games" / "tictactoe.kif", "lanes")
    facts = prove(game, declarations_of(game.program), ProofLimits(10_000, 120))
    assert decided(facts) == {
        "5,478 reachable states, 958 of them terminal": "proved",
        "every match ends": "proved",
        "the longest match has 9 steps": "proved",
        "every role has a legal move in every non-terminal state": "proved",
        "every role has exactly one goal from 0 to 100 at the end": "proved",
        "base lists every fact that holds": "proved",
        "input lists every legal move": "proved",
        "x can get 100": "proved",
        "o can get 100": "proved",
        "x can force 100 from the initial state": "refuted",
        "o can force 100 from the initial state": "refuted",
        "the goals always add up to 100": "proved",
        "at most one role has a choice at a time": "proved",
    }


def test_second_player_can_force_a_win_in_nim():
    facts = decided(proved("nim"))
    assert facts["first can force 100 from the initial state"] == "refuted"
    assert facts["second can force 100 from the initial state"] == "proved"


def test_simultaneous_moves_are_found_and_force_nothing():
    facts = decided(proved("rockpaperscissors"))
    assert facts["at most one role has a choice at a time"] == "refuted"
    assert facts["left can force 100 from the initial state"] == "refuted"
    assert facts["the goals always add up to 100"] == "proved"


def test_no_sum_of_goals_is_claimed_where_an_end_lacks_a_goal():
    sheet = """(role a) (role b) (init fresh) (legal a left) (legal a right) (legal b wait)
        (<= (next (went ?m)) (does a ?m)) (<= terminal (true (went ?_m)))
        (<= (goal a 100) (true (went left))) (<= (goal b 0) (true (went left)))"""
    for explored in ({"prove": True}, {"play": True, "seconds": 5}):
        report = ggp.validate(sheet, **explored)
        assert "the goals always add up to 100" not in {each.statement for each in report.properties}


def test_claims_about_ends_say_that_matches_are_stuck_and_that_there_is_no_end():
    report = ggp.validate(
        "(role a) (init first) (<= (legal a go) (true first)) (next second) "
        "(<= terminal (true third)) (goal a 100)",
        prove=True,
    )
    details = {each.code: each.detail for each in report.properties}
    assert details["GDL401"] == "or is stuck: a role has no legal move"
    assert details["GDL403"] == "no reachable state is terminal"


def test_goals_of_the_prisoners_are_not_constant_sum():
    (fact,) = (f for f in proved("prisoners_dilemma") if f.statement.startswith("the goals"))
    assert fact.outcome is Outcome.REFUTED
    assert fact.witness is not None


def test_cycle_is_shown_as_a_match_that_returns():
    game = load(ROOT / "tests" / "invalid" / "play" / "no_end.kif", "lanes")
    facts = prove(game, Declarations(), ProofLimits(100, 10))
    (fact,) = (fact for fact in facts if fact.code == "GDL401")
    states = [game.initial_state()]
    for joint_move in fact.witness.joint_moves:
        states.append(game.next_state(states[-1], joint_move))
    assert states[-1] in states[:-1]


def test_declarations_are_derived_with_their_rules():
    text = (
        "(role r) (n 1) (n 2) (<= (base (f ?x)) (n ?x))"
        "(<= (input r (m ?x ?y)) (n ?x) (n ?y) (distinct ?x ?y))"
        "(init (f 1)) (legal r (m 1 2)) (<= (next (f ?x)) (does r (m ?_y ?x)))"
        "(<= terminal (true (f 2))) (goal r 100)"
    )
    found = declarations_of(parse(text))
    assert {str(fact) for fact in found.base} == {"(f 1)", "(f 2)"}
    ((role, moves),) = found.input.items()
    assert str(role) == "r"
    assert {str(move) for move in moves} == {"(m 1 2)", "(m 2 1)"}
    assert declarations_of(parse("(role r)")) == Declarations()


def test_random_matches_are_reproducible():
    game = load(ROOT / "games" / "nim.kif", "reasoner")
    limits = PlayLimits(playouts=5, seconds=60, seed=3)
    first, again = (play_randomly(game, game, Declarations(), limits) for _ in range(2))
    assert first == again


def test_meaningless_rules_are_not_played(tmp_path):
    sheet = tmp_path / "bad.kif"
    sheet.write_text("(role r) (legal r ?x)")
    report = examine(str(sheet), Request(play=FEW))
    assert report.properties == []
    assert report.note.startswith("not played")
    assert report.count(Severity.ERROR)
