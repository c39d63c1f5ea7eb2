"""The search process of a match, run in this process: requests in, events out. See also `test_server`."""

import gc
import random
import threading
import time

import pytest

from gdl.program import pack
from gdl.syntax.parser import parse, parse_term
from ggp.beliefs.belief import make_tracker
from ggp.engines import compilation
from ggp.engines.loading import find_rules, load
from ggp.match.player import MatchSetup
from ggp.player_server import worker
from ggp.player_server.worker import AgentMatch, PlayRequest, StartRequest
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


class Events(list):
    """What a search process sends to its server."""

    def send(self, event, **values):
        self.append({"event": event, **values})


def in_nim(player):
    """A match that `player` has begun, the events of its process, and the deadline."""
    game, events, deadline = Nim(7), Events(), time.monotonic() + 60
    match = AgentMatch(player, make_tracker(game, game.roles[0], random.Random(0)), game, events.send)
    player.start(MatchSetup("m", game, game.roles[0], 1.0, 1.0, 0), deadline)
    return match, events, deadline


def test_worker_has_a_move_before_it_searches():
    match, events, deadline = in_nim(LegalPlayer())
    match.play([PlayRequest(5, None, None, deadline)])
    move = events[-1]["move"]
    assert events == [
        {"event": "best", "ticket": 5, "move": move, "is_searched": False},
        {"event": "move", "ticket": 5, "move": move, "report": None, "fault": ""},
    ]


def test_worker_replaces_and_logs_an_illegal_move(caplog):
    match, events, deadline = in_nim(Cheat())
    match.play([PlayRequest(5, None, None, deadline)])
    moves = [event["move"] for event in events]
    assert moves[-1] == moves[0] != ILLEGAL
    assert "cheat chose (take 99), which is not legal" in caplog.text


class Failing(LegalPlayer):
    name = "failing"

    def choose(self, state, deadline, joint_move):
        raise KeyError("x")


def test_worker_logs_the_same_failure_of_an_author_once_and_from_the_authors_code_on(caplog):
    match, events, deadline = in_nim(Failing())
    match.is_own = True
    for ticket in (5, 6):
        match.play([PlayRequest(ticket, None, None, deadline)])
    faults = [event["fault"] for event in events if event["event"] == "move"]
    assert [fault.startswith("CR KeyError: 'x'") for fault in faults] == [True, True]
    assert caplog.text.count("failing failed") == 1
    assert "_chosen_move" not in caplog.text


def test_worker_survives_a_message_with_texts_that_are_not_terms():
    """The server reads them as symbols, whose text is sent to the worker."""
    match, events, deadline = in_nim(LegalPlayer())
    terms = tuple(map(str, parse_message("(PLAY m (((take)) ?x))").terms))
    match.play([PlayRequest(5, terms, "((take))", deadline)])
    assert events[-1]["event"] == "move"
    assert "not legal" in match.tracker.position.note


def started(name, role, agent, *, engine="reasoner", clock=1.0, ponder=True, seconds=2):
    """A match as `_start` begins it."""
    program, deadline = pack(parse(find_rules(name).read_text())), time.monotonic() + seconds
    request = StartRequest(program, "m", role, agent, engine, clock, clock, 1, 1000, ponder, deadline)
    return worker._start(request, Events().send)


@pytest.fixture(autouse=True)
def _no_limit_nor_listeners(monkeypatch):
    monkeypatch.setattr(worker, "limit_memory", lambda mebibytes: None)
    monkeypatch.setattr(worker, "make_player", lambda agent, **listeners: make_player(agent))


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
    monkeypatch.setattr(worker, "SIMPLIFICATION_SHARE", 0.0)
    match = started("tictactoe", "x", "watching", engine="lanes", ponder=False, seconds=60)
    deadline = time.monotonic() + 60
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
def test_worker_ponders_by_default_if_its_agent_plays_by_the_clock(agent, ponder, ponders):
    match = started("tictactoe", "x", agent, ponder=ponder)
    assert (match.pondering_seconds > 0) == ponders
    match.player.stop(None)


def test_worker_ponders_where_something_is_hidden_by_what_was_observed():
    agent = "mcts:head_start=off,proof=off,memory=16"
    match = started("dark_hex_3x3", "red", agent, engine="lanes", seconds=30)
    assert match.pondering_seconds > 0
    match.player.stop(None)


def test_worker_ponders_for_minutes_at_most_whatever_the_clocks_are():
    agent, week = "mcts:search=reference,head_start=off", 604_800.0
    match = started("tictactoe", "x", agent, clock=week, seconds=1)
    assert match.pondering_seconds == worker.LONGEST_PONDERING_SECONDS
    match.player.stop(None)


START = vars(StartRequest(*["m"] * 5, 1.0, 1.0, 1, 1, True, 0.0))


class Script:
    """Requests of a parent, one a turn; `seen` is what `look` finds before each."""

    def __init__(self, look, *requests):
        self.look, self.turns, self.seen = look, iter(requests), []

    def next_all(self):
        self.seen.append(self.look())
        return [next(self.turns)]

    def has_requests(self):
        return False

    def send_event(self, event):
        """Send an event."""


def serve(match, monkeypatch, look, *requests):
    """What `look` finds before each request, a START first, and at the end."""
    monkeypatch.setattr(worker, "_start", lambda request, send: match)
    script = Script(look, {"do": "start", **START}, *requests)
    with pytest.raises(StopIteration):
        worker._serve(script)
    return script.seen


class Pondering(LegalPlayer):
    def __init__(self):
        self.pondered = []

    def ponder(self, is_over, deadline):
        self.pondered.append(deadline)


def test_player_ponders_only_while_no_other_match_is_to_move(monkeypatch):
    """Requests that arrive interrupt it; afterwards it goes on for what is left of its time."""
    player = Pondering()
    match = AgentMatch(player, None, Nim(7), Events().send, pondering_seconds=60.0)
    match.begin_pondering()
    requests = [{"do": "ponder", "may_ponder": may} for may in (False, False, True)]
    assert serve(match, monkeypatch, lambda: len(player.pondered), *requests) == [0, 1, 1, 1, 2]
    assert len(set(player.pondered)) == 1
    match._ponder_until = time.monotonic()
    match.ponder(lambda: False)
    assert len(player.pondered) == 2


def test_collections_of_garbage_during_a_match_leave_out_what_was_there_before(monkeypatch):
    match = AgentMatch(LegalPlayer(), None, Nim(7), Events().send)
    monkeypatch.setattr(match.player, "stop", lambda terms: None)
    found, stop = len(gc.get_objects()), {"do": "stop", "terms": None}
    before, during, after = serve(match, monkeypatch, lambda: len(gc.get_objects()), stop)
    assert during < 0.1 * found < 0.9 * found < min(before, after)


class Observing(LegalPlayer):
    def __init__(self):
        self.observed = []

    def observe(self, observation, deadline):
        super().observe(observation, deadline)
        self.observed.append((str(observation.own_move), sorted(map(str, observation.percepts))))


def test_player_over_http_is_told_observations_where_information_is_hidden():
    """In the Dresden form: turn, own move, percepts. Several requests at once get one answer."""
    game = load(COIN, engine="reasoner")
    events, player, deadline = Events(), Observing(), time.monotonic() + 60
    match = AgentMatch(player, None, game, events.send)
    role = parse_term("player")
    player.start(MatchSetup("m", game, role, 60.0, 60.0, 0), deadline)
    requests = []
    told = ["0 NIL NIL", "1 noop ()", "2 (peek a) ((looked a))", "3 (peek b) ((looked b) found)"]
    for ticket, text in enumerate(told):
        message = parse_message(f"(PLAY m {text})")
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
    assert [event["ticket"] for event in events if event["event"] == "move"] == [0, 3]
