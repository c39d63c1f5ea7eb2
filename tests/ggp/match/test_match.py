"""Matches: what the referee does with good and bad players, and the record as JSON."""

import itertools
import json
import threading
import time

import pytest

from gdl.terms import Symbol
from ggp.engines.loading import load
from ggp.match.faults import Illegal, Late, Unreachable, fault_text, parse_fault
from ggp.match.player import MatchQuitError, Player, PlayerFaultError
from ggp.match.record import MatchRecord, RecordError, read_record, write_record
from ggp.match.referee import play_match
from ggp.match.terms import MatchTerms, derived_seed
from ggp.players.factory import make_player
from ggp.players.mcts import mcts_player
from ggp.players.options import MctsPlayerOptions
from ggp.players.simple import LegalPlayer, RandomPlayer
from ggp.protocol.messages import is_word
from tests.ggp.fakes import NOOP, Dice, Matrix, Nim, Stuck


class Scripted(LegalPlayer):
    """Plays what `behave(step)` returns or raises, else the first legal move."""

    def __init__(self, behave):
        super().__init__()
        self.behave = behave
        self.heard = []
        self.stopped_with = "never"

    def choose(self, state, deadline, joint_move):
        self.heard.append(joint_move)
        return self.behave(len(self.heard) - 1) or super().choose(state, deadline, joint_move)

    def stop(self, told):
        self.stopped_with = told


def play(game, players, *, watch=None, clock=time.monotonic, **options):
    terms = MatchTerms(**{"start_clock_seconds": 60, "play_clock_seconds": 60, "seed": 5, **options})
    return play_match(game, players, terms, watch=watch, clock=clock)


def without_times(record):
    data = record.to_dict()
    for key in ("matchId", "randomToken", "startTime", "stateTimes", "x-moveSeconds"):
        del data[key]
    for report in filter(None, itertools.chain(*data.get("x-reports", []))):
        for key in ("seconds", "playouts_per_second", "descents_per_second"):
            del report[key]
    return data


def test_play_match_plays_to_the_end():
    player = Scripted(lambda step: None)
    record = play(Nim(3), [player, LegalPlayer()])
    assert record.moves == [["(take 1)", "noop"], ["noop", "(take 1)"], ["(take 1)", "noop"]]
    assert record.states[0] == "( (control left) (heap 3) )"
    assert len(record.states) == len(record.state_times) == len(record.moves) + 1
    assert record.errors == [["", ""]] * 4
    assert record.goals == [100, 0]
    assert record.is_completed
    assert not record.is_aborted
    told = [
        None if moves is None else list(map(str, moves)) for moves in (*player.heard, player.stopped_with)
    ]
    assert told == [None, *record.moves]


@pytest.mark.parametrize(("on_error", "is_first"), [("random", False), ("first", True)])
def test_play_match_replaces_an_illegal_move(on_error, is_first):
    jumping = Scripted(lambda step: Symbol("jump"))
    records = [play(Nim(9), [jumping, LegalPlayer()], on_error=on_error, seed=seed) for seed in range(4)]
    assert all(record.is_completed and record.errors[1] == ["IL jump", ""] for record in records)
    moves = {row[0] for record in records for row in record.moves}
    assert (moves == {"(take 1)", "noop"}) == is_first
    assert all(move == "noop" or move.startswith("(take ") for move in moves)


def test_play_match_replaces_the_move_of_a_player_that_fails():
    def fail(step):
        raise PlayerFaultError(Unreachable(), "connection refused")

    record = play(Nim(4), [LegalPlayer(), Scripted(fail)])
    assert record.is_completed
    assert [row[1] for row in record.errors[1:]] == ["CE"] * len(record.moves)


@pytest.mark.parametrize("is_human", [False, True])
def test_play_match_replaces_late_moves_but_not_those_of_a_person(is_human):
    now = [0.0]

    def slow(step):
        now[0] += 5.0

    player = Scripted(slow)
    player.is_human = is_human
    options = {"play_clock_seconds": 4, "clock": lambda: now[0], "grace_seconds": 0.5}
    record = play(Nim(2), [player, LegalPlayer()], **options)
    assert record.errors[1] == ["" if is_human else "TO", ""]
    assert record.move_seconds[1] == [5.0, 0.0]
    assert record.is_player_human == (is_human, False)


def test_play_match_asks_remote_players_at_the_same_time():
    barrier = threading.Barrier(2, timeout=20)

    def together(step):
        barrier.wait()

    players = [Scripted(together), Scripted(together)]
    for player in players:
        player.is_remote = True
    assert play(Nim(2), players).is_completed


def test_play_match_lets_chance_play_the_random_role():
    record = play(Dice(), [LegalPlayer(), LegalPlayer()])
    assert record.player_names == ("random", "legal")
    assert record.moves[1][0].startswith("(roll ")
    assert record.goals[0] is None
    assert record.move_seconds[1][0] is None
    assert len({play(Dice(), [None, LegalPlayer()], seed=seed).moves[1][0] for seed in range(30)}) == 6


def test_play_match_is_reproducible_with_seed_and_simulations():
    def once(seed):
        return without_times(
            play(Nim(17), [mcts_player(MctsPlayerOptions(simulations=30)), RandomPlayer()], seed=seed)
        )

    assert once(1) == once(1)
    assert once(1) != once(2)


def test_play_match_aborts_if_the_rules_leave_a_role_stuck():
    record = play(Stuck(3), [LegalPlayer(), LegalPlayer()])
    assert (record.is_aborted, record.is_completed, record.goals) == (True, False, None)
    assert record.fault == "step 2: left has no legal move"


@pytest.mark.parametrize(
    ("error", "fault"), [(MatchQuitError("enough"), "enough"), (KeyboardInterrupt(), "interrupted")]
)
def test_play_match_keeps_its_record_when_it_is_ended(error, fault):
    def end(step):
        if step == 1:
            raise error

    other = Scripted(lambda step: None)
    record = play(Nim(5), [Scripted(end), other])
    assert (record.is_aborted, record.fault, len(record.moves), len(record.states)) == (True, fault, 1, 2)
    assert other.stopped_with is None


def test_play_match_reports_a_missing_goal_as_null():
    record = play(Matrix([[[50, None]]], moves=("a",)), [LegalPlayer(), LegalPlayer()])
    assert record.goals == [50, None]
    assert json.loads(record.to_json())["goalValues"] == [50, None]


def test_play_match_needs_one_player_per_role():
    with pytest.raises(ValueError, match="2 roles"):
        play(Nim(), [LegalPlayer()])


def test_play_match_shows_every_state_to_a_watcher():
    moments = []
    record = play(Nim(3), [LegalPlayer(), LegalPlayer()], watch=moments.append)
    assert [m.step for m in moments if m.thinking is None and not m.is_over] == [0, 1, 2, 3]
    assert (moments[-1].is_over, moments[-1].record) == (True, record)
    assert NOOP in moments[-1].joint_move


def test_match_record_holds_search_reports():
    record = play(Nim(9), [mcts_player(MctsPlayerOptions(simulations=40)), LegalPlayer()])
    assert len(record.reports) == len(record.moves)
    assert record.reports[0][0]["playouts"] > 0
    assert all(other is None for _, other in record.reports)
    assert MatchRecord.from_json(record.to_json()).reports == record.reports
    assert "x-reports" not in play(Nim(9), [LegalPlayer(), LegalPlayer()]).to_dict()


@pytest.mark.parametrize("name", ["connectfour_4x4", "dark_hex_3x3"])  # on states, on observations
def test_players_ponder_while_others_think(name):
    def work(spec):
        player = make_player(spec)
        other = make_player("mcts:simulations=20000,words=1,memory=16,solver=off,proof=off")
        record = play(load(name, engine="lanes"), [player, other], step_limit=3)
        assert record.errors == [["", ""]] * 4
        return record.reports[2][0]["carried"] if name == "connectfour_4x4" else player.simulation_count

    spec = "mcts:simulations=100,words=1,memory=16,solver=off,proof=off"
    assert work(f"{spec},ponder=on") > 2 * work(spec)


def test_match_record_survives_json(tmp_path):
    record = play(Nim(4), [RandomPlayer(), mcts_player(MctsPlayerOptions(simulations=10))])
    record.rules = '; "quotes", \\ and \u00e9\n'
    write_record(record, tmp_path / "match.json")
    assert read_record(tmp_path / "match.json") == record


def test_match_record_uses_the_keys_of_ggp_base():
    data = play(Nim(1), [LegalPlayer(), LegalPlayer()], match_id="m1").to_dict()
    assert len(data["randomToken"]) == 32
    assert data["startTime"] > 1_600_000_000_000
    assert data["version"].startswith("ggp-lanes")
    assert {"rules", "stateTimes", "x-moveSeconds"} <= data.keys()
    expected = {
        "matchId": "m1",
        "states": ["( (control left) (heap 1) )", "( (control right) (heap 0) )"],
        "moves": [["(take 1)", "noop"]],
        "errors": [["", ""], ["", ""]],
        "isCompleted": True,
        "isAborted": False,
        "goalValues": [100, 0],
        "startClock": 60,
        "playClock": 60,
        "previewClock": -1,
        "playerNamesFromHost": ["legal", "legal"],
        "isPlayerHuman": [False, False],
        "scrambled": False,
        "seed": 5,
    }
    assert {key: data[key] for key in expected} == expected


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("{", "not JSON"),
        ("[]", "JSON object"),
        ('{"matchId": "x", "states": []}', "no 'moves'"),
        ('{"matchId": "x", "states": 3, "moves": []}', "'states' is not a list"),
        ('{"matchId": "x", "states": [], "moves": ["a"]}', "'moves' is not a list of lists"),
        ('{"matchId": "x", "states": [], "moves": [[3]]}', "'moves' has an entry of another type"),
        ('{"matchId": "x", "states": [[]], "moves": []}', "'states' has an entry of another type"),
        ('{"matchId": "x", "states": [], "moves": [], "goalValues": "9"}', "'goalValues' is not a list"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_match_record_refuses_other_text(text, part):
    with pytest.raises(RecordError, match=part):
        MatchRecord.from_json(text)


def test_derived_seeds_differ_and_are_stable():
    assert derived_seed(1, "chance") == derived_seed(1, "chance")
    assert len({derived_seed(seed, purpose) for seed in (1, 2) for purpose in ("chance", "player 0")}) == 4


def test_match_id_is_one_word_for_any_sheet_name():
    game = Nim(3)
    game.name = "my nim (2)"
    record = play_match(game, [LegalPlayer(), LegalPlayer()])
    assert record.match_id.startswith("my_nim__2_.")
    assert is_word(record.match_id)


def test_custom_agent_overrides_choose_alone():
    class Last(Player):
        name = "last"

        def choose(self, state, deadline, joint_move):
            return self.legal_moves(state)[-1]

    record = play(Nim(6), [Last(), LegalPlayer()])
    assert record.player_names == ("last", "legal")
    assert record.moves[0] == ["(take 3)", "noop"]
    assert record.errors == [["", ""]] * len(record.steps)
    assert "x-reports" not in record.to_dict()


def test_play_match_stops_players_after_an_internal_error():
    def fail(step):
        raise ZeroDivisionError("oops")

    other = Scripted(lambda step: None)
    with pytest.raises(ZeroDivisionError):
        play(Nim(5), [Scripted(fail), other])
    assert other.stopped_with is None


def test_records_of_other_managers_are_read():
    data = {
        "matchId": "m",
        "states": ["( a )", "( b )"],
        "moves": [["x"], ["y"]],
        "errors": [["TO"], ["IL z"]],
        "stateTimes": [1],
        "playerNamesFromHost": ["A"],
    }
    record = MatchRecord.from_dict({**data, "new": 1})
    assert (record.player_names, record.goals, len(record.roles)) == (("A",), None, 1)
    assert [step.faults for step in record.steps] == [(), (Late(),), (Illegal("z"),)]
    assert {key: record.to_dict()[key] for key in data} == data


@pytest.mark.parametrize("text", ["", "TO", "CE", "TB", "IL ", "IL (a b)", "IL", "ZZ top"])
def test_faults_survive_their_text(text):
    assert fault_text(parse_fault(text)) == text
