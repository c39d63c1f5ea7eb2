"""The searches of a match: what they find while they start is not passed on; best play once all is proven."""

import queue
import time

import ggp
from gdl.syntax.parser import parse
from gdl.terms import Symbol
from ggp.players.simple import LegalPlayer
from ggp.search.report import SearchReport
from ggp.web import agent_thread
from ggp.web.agent_thread import AgentThread, Task
from ggp.web.best_play import best_play
from ggp.web.server import read_rules


class ReportingPlayer(LegalPlayer):
    """Reports once while it starts and once while it chooses."""

    def __init__(self, on_report):
        super().__init__()
        self.on_report = on_report

    def prepare(self, game):
        assert self.begins_early
        self.start_clock_of_prepare = self.start_clock_seconds

    def start(self, setup, deadline):
        assert setup.start_clock_seconds == self.start_clock_of_prepare
        super().start(setup, deadline)
        self.on_report(SearchReport(seconds=11.0))

    def choose(self, state, deadline, joint_move):
        self.on_report(SearchReport(seconds=22.0))
        return super().choose(state, deadline, joint_move)


def test_report_of_the_initial_state_is_not_taken_for_one_of_the_position(monkeypatch):
    monkeypatch.setattr(agent_thread, "make_player", lambda spec, on_report: ReportingPlayer(on_report))
    findings = queue.Queue()
    thread = AgentThread(parse(read_rules("nim")), 1, findings.put)
    thread.put(Task(0, Symbol("first"), "legal", 1.0, (), ()))
    found = [findings.get(timeout=60) for _ in range(4)]
    assert [finding.phase for finding in found[:2]] == ["preparing", "searching"]
    assert [finding.report and finding.report["seconds"] for finding in found[2:]] == [22.0, None]
    assert found[3].move is not None


def line_and_goals(name, moves=()):
    """Best play for the role to move after joint moves, and the goals at the end of its line."""
    game = ggp.load(name)
    state = game.initial_state()
    for row in moves:
        state = game.next_state(state, [ggp.parse_term(each) for each in row])
    role = next(each for each in game.roles if len(game.legal_moves(state, each)) > 1)
    found = best_play(game, state, role, 600.0)  # kernels may have to be compiled
    for row in found.line:
        state = game.next_state(state, row)
    assert game.is_terminal(state)
    return found, [game.goal(state, each) for each in game.roles]


def test_line_of_a_solved_position_ends_with_its_value_and_every_move_is_rated():
    found, goals = line_and_goals("tictactoe", [("(mark 1 1)", "noop"), ("noop", "(mark 1 2)")])
    assert (goals, len(found.line), len(found.goals)) == ([100, 0], 5, 7)
    assert found.goals[found.line[0][0]] == 100
    lost, goals = line_and_goals("breakthrough_4x4")
    assert (goals[0], set(lost.goals.values()), len(lost.line) >= 6) == (0, {0}, True)


def test_line_of_a_position_too_large_to_solve_is_proven_move_by_move(monkeypatch):
    monkeypatch.setattr("ggp.web.best_play._STATES", 10)
    found, goals = line_and_goals("hex_4x4")
    assert (goals, found.goals[found.line[0][0]]) == ([100, 0], 100)


def test_analysis_of_a_solved_position_has_a_line_and_every_move():
    findings = queue.Queue()
    thread = AgentThread(parse(read_rules("tictactoe")), 1, findings.put)
    moves = [("(mark 1 1)", "noop"), ("noop", "(mark 1 2)")]
    joint_moves = tuple(tuple(map(ggp.parse_term, row)) for row in moves)
    for _ in range(120):  # the kernels of proofs may come later: until then the line is that of the tree
        thread.put(Task(0, Symbol("x"), "mcts:book=off", 60.0, joint_moves, (), is_analysis=True))
        while (finding := findings.get(timeout=600)).move is None:
            assert not finding.error
        report = finding.report
        if all(each["goal"] is not None for each in report["moves"]):
            break
        time.sleep(1)
    assert (report["goal"], len(report["line"]), len(report["moves"])) == (100, 5, 7)
    assert report["moves"][0]["move"] == report["line"][0][0]
    assert {each["goal"] for each in report["moves"]} == {100, 50}
