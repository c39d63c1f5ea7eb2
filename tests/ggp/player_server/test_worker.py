"""The search process of a match, run in this process: requests in, events out. See also `test_server`."""

import gc
import io
import random
import threading
import time

import pytest

from gdl.syntax.parser import parse_term
from ggp.beliefs.tracker import make_tracker
from ggp.engines import compilation
from ggp.engines.loading import find_rules
from ggp.match.player import MatchSetup
from ggp.player_server import worker
from ggp.player_server.state_process import load_rules
from ggp.player_server.worker import AgentMatch, Outbox
from ggp.player_server.worker_messages import (
    BestMove,
    Decision,
    Failed,
    PlayRequest,
    PonderRequest,
    Progress,
    Ready,
    StartRequest,
    StopRequest,
    parse_event,
    parse_request,
    to_line,
)
from ggp.players.factory import make_player
from ggp.players.simple import LegalPlayer
from ggp.protocol.messages import parse_message
from tests.ggp.fakes import Nim
from tests.ggp.percept_games import COIN

ILLEGAL = "(take 99)"


class Cheat(LegalPlayer):
    name = "cheat"

    def choose(self, state, deadline, joint_move):
        return parse_term(ILLEGAL)


def events_of(player):
    game = Nim(7)
    stream = io.BytesIO()
    match = AgentMatch(player, make_tracker(game, game.roles[0], random.Random(0)), game, Outbox(stream))
    deadline = time.monotonic() + 60
    player.start(MatchSetup("m", game, game.roles[0], 1.0, 1.0, 0), deadline)
    match.play([PlayRequest(5, None, None, deadline)])
    return [parse_event(line) for line in stream.getvalue().splitlines()]


def test_worker_has_a_move_before_it_searches():
    first, last = events_of(LegalPlayer())
    assert first == BestMove(5, last.move, is_searched=False)
    assert last == Decision(5, last.move, None)


def test_worker_replaces_and_logs_an_illegal_move(caplog):
    moves = [event.move for event in events_of(Cheat())]
    assert moves[-1] == moves[0] != ILLEGAL
    assert "cheat chose (take 99), which is not legal" in caplog.text


def test_worker_survives_a_message_with_texts_that_are_not_terms():
    """The server reads them as symbols, whose text is sent to the worker."""
    game = Nim(7)
    stream = io.BytesIO()
    match = AgentMatch(
        LegalPlayer(), make_tracker(game, game.roles[0], random.Random(0)), game, Outbox(stream)
    )
    deadline = time.monotonic() + 60
    match.player.start(MatchSetup("m", game, game.roles[0], 1.0, 1.0, 0), deadline)
    message = parse_message("(PLAY m (((take)) ?x))")
    terms = tuple(map(str, message.terms))
    match.play([PlayRequest(5, terms, "((take))", deadline)])
    assert isinstance(parse_event(stream.getvalue().splitlines()[-1]), Decision)
    assert "not legal" in match.tracker.position.note


def test_rules_of_a_message_are_never_the_name_of_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for rules in ("(role a)", "(role a) ; b.kif"):
        (tmp_path / rules).write_text("(role from_the_file)")
        assert [str(role) for role in load_rules(rules, engine="reasoner").roles] == ["a"]


@pytest.mark.parametrize(
    ("message", "parse"),
    [
        (StartRequest("m", "(role a)", "a", "mcts", "auto", 10, 5.5, 1, 512, True, 3.25), parse_request),
        (PlayRequest(0, None, None, 1.5), parse_request),
        (PlayRequest(3, ("(mark 1 1)", "noop"), "noop", 1.5), parse_request),
        (StopRequest(()), parse_request),
        (Ready(), parse_event),
        (Progress(1, {"playouts": 3, "moves": []}), parse_event),
        (Decision(1, "noop", None), parse_event),
        (Failed("out of memory"), parse_event),
    ],
)
def test_messages_round_trip_as_lines(message, parse):
    line = to_line(message)
    assert line.endswith(b"\n")
    assert parse(line) == message


@pytest.mark.parametrize("line", [b"{", b"[]", b"{}", b'{"type": "dance"}', b'{"type": "best", "move": "a"}'])
def test_lines_that_are_not_messages_are_refused(line):
    with pytest.raises(ValueError):  # noqa: PT011 - of JSON or our own
        parse_event(line)


class Watching(LegalPlayer):
    """Notes the game of every move it makes."""

    name = "watching"

    def __init__(self):
        self.games = []
        self.may_prepare = threading.Event()

    def prepare_change(self, game):
        self.may_prepare.wait(60)

    def choose(self, state, deadline, joint_move):
        self.games.append(self.setup.game)
        assert self.setup.game.facts(state)
        return super().choose(state, deadline, joint_move)


def test_worker_changes_to_the_simplified_circuit_when_the_player_is_prepared_for_it(monkeypatch):
    go_on = threading.Event()
    simplify = compilation.simplify
    monkeypatch.setattr(
        compilation, "simplify", lambda *given, **options: go_on.wait() and simplify(*given, **options)
    )
    monkeypatch.setenv("GGP_CACHE", "off")
    player = Watching()
    monkeypatch.setattr(worker, "make_player", lambda *given, **options: player)
    monkeypatch.setattr(worker, "limit_memory", lambda mebibytes: None)
    rules = find_rules("tictactoe").read_text()
    monkeypatch.setattr(worker, "SIMPLIFICATION_SHARE", 0.0)
    deadline = time.monotonic() + 60
    request = StartRequest("m", rules, "x", "watching", "lanes", 1.0, 1.0, 1, 1000, False, deadline)
    match = worker._start(request, Outbox(io.BytesIO()))
    match.play([PlayRequest(1, None, None, deadline)])
    go_on.set()
    finished = match.game.finish()
    match.play([PlayRequest(2, ("(mark 1 1)", "noop"), "(mark 1 1)", deadline)])
    player.may_prepare.set()
    while match.finished is None and time.monotonic() < deadline:
        time.sleep(0.01)
    match.play([PlayRequest(3, ("noop", "(mark 2 2)"), "noop", deadline)])
    match.play([PlayRequest(4, ("(mark 3 3)", "noop"), "(mark 3 3)", deadline)])
    assert player.games == [match.game, match.game, finished, finished]


@pytest.mark.parametrize(
    ("agent", "ponder", "ponders"),
    [
        ("mcts:search=reference", True, True),
        ("mcts:search=reference", False, False),
        ("mcts:search=reference,ponder=on", False, True),
        ("mcts:search=reference,simulations=5", True, False),
        ("mcts:search=reference,simulations=5,ponder=on", True, True),
        ("solving:search=reference", True, True),
        ("solving:search=reference,simulations=5", True, False),
    ],
)
def test_worker_ponders_by_default_if_its_agent_plays_by_the_clock(monkeypatch, agent, ponder, ponders):
    monkeypatch.setattr(worker, "limit_memory", lambda mebibytes: None)
    monkeypatch.setattr(worker, "make_player", lambda agent, **listeners: make_player(agent))
    rules = find_rules("tictactoe").read_text()
    deadline = time.monotonic() + 2
    request = StartRequest("m", rules, "x", agent, "reasoner", 1.0, 1.0, 1, 1000, ponder, deadline)
    match = worker._start(request, Outbox(io.BytesIO()))
    assert (match.pondering_seconds > 0) == ponders
    match.player.stop(None)


def test_worker_ponders_where_something_is_hidden_by_what_was_observed(monkeypatch):
    monkeypatch.setattr(worker, "limit_memory", lambda mebibytes: None)
    monkeypatch.setattr(worker, "make_player", lambda agent, **listeners: make_player(agent))
    rules = find_rules("dark_hex_3x3").read_text()
    agent, deadline = "mcts:head_start=off,proof=off,memory=16", time.monotonic() + 30
    request = StartRequest("m", rules, "red", agent, "lanes", 1.0, 1.0, 1, 1000, True, deadline)
    match = worker._start(request, Outbox(io.BytesIO()))
    assert match.pondering_seconds > 0
    match.player.stop(None)


def test_worker_ponders_for_minutes_at_most_whatever_the_clocks_are(monkeypatch):
    monkeypatch.setattr(worker, "limit_memory", lambda mebibytes: None)
    monkeypatch.setattr(worker, "make_player", lambda agent, **listeners: make_player(agent))
    rules, week = find_rules("tictactoe").read_text(), 604_800.0
    agent, deadline = "mcts:search=reference,head_start=off", time.monotonic() + 1
    request = StartRequest("m", rules, "x", agent, "reasoner", week, week, 1, 1000, True, deadline)
    match = worker._start(request, Outbox(io.BytesIO()))
    assert match.pondering_seconds == worker.LONGEST_PONDERING_SECONDS
    match.player.stop(None)


class Pondering(LegalPlayer):
    def __init__(self):
        self.pondered = []

    def ponder(self, is_over, deadline):
        self.pondered.append(deadline)


def test_player_ponders_only_while_no_other_match_is_to_move(monkeypatch):
    """Requests that arrive interrupt it; afterwards it goes on for what is left of its time."""
    player, outbox = Pondering(), Outbox(io.BytesIO())
    match = AgentMatch(player, None, Nim(7), outbox, pondering_seconds=60.0)
    match.begin_pondering()
    monkeypatch.setattr(worker, "_start", lambda request, outbox: match)

    class Script:
        turns = iter([[StartRequest(*["m"] * 5, 1.0, 1.0, 1, 1, True, 0.0)],
                      [PonderRequest(False)], [PonderRequest(False)], [PonderRequest(True)]])  # fmt: skip
        seen = []  # noqa: RUF012

        def wait(self):
            self.seen.append(len(player.pondered))
            return next(self.turns)

        def has_requests(self):
            return False

    with pytest.raises(StopIteration):
        worker._serve(Script(), outbox)
    assert Script.seen == [0, 1, 1, 1, 2]
    assert len(set(player.pondered)) == 1
    match._ponder_until = time.monotonic()
    match.ponder(lambda: False)
    assert len(player.pondered) == 2


def test_collections_of_garbage_during_a_match_leave_out_what_was_there_before(monkeypatch):
    match = AgentMatch(LegalPlayer(), None, Nim(7), Outbox(io.BytesIO()))
    monkeypatch.setattr(worker, "_start", lambda request, outbox: match)
    monkeypatch.setattr(match.player, "stop", lambda terms: None)
    found = len(gc.get_objects())

    class Script:
        turns = iter([[StartRequest(*["m"] * 5, 1.0, 1.0, 1, 1, False, 0.0)], [StopRequest(None)]])
        seen = []  # noqa: RUF012

        def wait(self):
            self.seen.append(len(gc.get_objects()))
            return next(self.turns)

        def has_requests(self):
            return False

    with pytest.raises(StopIteration):
        worker._serve(Script(), match.outbox)
    before, during, after = Script.seen
    assert during < 0.1 * found < 0.9 * found < min(before, after)


class Observing(LegalPlayer):
    def __init__(self):
        self.observed = []

    def observe(self, observation, deadline):
        super().observe(observation, deadline)
        self.observed.append((str(observation.own_move), sorted(map(str, observation.percepts))))


def test_player_over_http_is_told_observations_where_information_is_hidden():
    """In the Dresden form: turn, own move, percepts. Several requests at once get one answer."""
    game = load_rules(COIN, engine="reasoner")
    stream, player, deadline = io.BytesIO(), Observing(), time.monotonic() + 60
    match = AgentMatch(player, None, game, Outbox(stream))
    role = parse_term("player")
    player.start(MatchSetup("m", game, role, 60.0, 60.0, 0), deadline)
    requests = []
    for ticket, text in enumerate(
        [
            "(PLAY m 0 NIL NIL)",
            "(PLAY m 1 noop ())",
            "(PLAY m 2 (peek a) ((looked a)))",
            "(PLAY m 3 (peek b) ((looked b) found))",
        ]
    ):
        message = parse_message(text)
        terms = None if message.terms is None else tuple(map(str, message.terms))
        own_move = None if message.last_move is None else str(message.last_move)
        requests.append(PlayRequest(ticket, terms, own_move, deadline))
    match.play(requests[:1])
    match.play(requests[1:])
    assert player.observed == [
        ("noop", []),
        ("(peek a)", ["(looked a)"]),
        ("(peek b)", ["(looked b)", "found"]),
    ]
    assert [set(map(str, game.facts(state))) for state in player.belief.states] == [{"play", "(coin b)"}]
    decisions = [parse_event(line) for line in stream.getvalue().splitlines()]
    assert [event.ticket for event in decisions if isinstance(event, Decision)] == [0, 3]
