"""The searches of a match: what they find while they start is of the initial state, and not passed on."""

import queue

from gdl.syntax.parser import parse
from gdl.terms import Symbol
from ggp.players.simple import LegalPlayer
from ggp.search.report import SearchReport
from ggp.web import agent_thread
from ggp.web.agent_thread import AgentThread, Task
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
