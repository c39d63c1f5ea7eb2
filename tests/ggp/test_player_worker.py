"""The search process of a match, in this process: orders in, reports out. The whole: `test_http_player`."""

import io
import json
import random
import time

from gdl.parser import parse_term
from ggp.player_worker import Outbox, Search, load_rules
from ggp.players import LegalPlayer, MatchSetup
from ggp.protocol import parse_message
from ggp.tracking import make_tracker
from tests.ggp.fakes import Nim

ILLEGAL = "(take 99)"


class Cheat(LegalPlayer):
    name = "cheat"

    def choose(self, state, deadline, joint_move):
        return parse_term(ILLEGAL)


def reports_of(player):
    game = Nim(7)
    stream = io.BytesIO()
    search = Search(player, make_tracker(game, game.roles[0], random.Random(0)), game, Outbox(stream))
    deadline = time.monotonic() + 60
    player.start(MatchSetup("m", game, game.roles[0], 1.0, 1.0, 0), deadline)
    search.play([{"ticket": 5, "terms": None, "own_move": None, "deadline": deadline}])
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_worker_has_a_move_before_it_searches():
    first, last = reports_of(LegalPlayer())
    assert (first["type"], first["ticket"], last["type"], last["ticket"]) == ("best", 5, "move", 5)
    assert first["move"] == last["move"]


def test_worker_replaces_an_illegal_move_and_says_so(caplog):
    moves = [report["move"] for report in reports_of(Cheat())]
    assert moves[-1] == moves[0] != ILLEGAL
    assert "cheat chose (take 99), which is not legal" in caplog.text


def test_worker_goes_on_after_a_message_with_what_is_no_term():
    """The server has made symbols of it, and their text comes here."""
    game = Nim(7)
    stream = io.BytesIO()
    search = Search(LegalPlayer(), make_tracker(game, game.roles[0], random.Random(0)), game, Outbox(stream))
    deadline = time.monotonic() + 60
    search.player.start(MatchSetup("m", game, game.roles[0], 1.0, 1.0, 0), deadline)
    message = parse_message("(PLAY m (((take)) ?x))")
    terms = list(map(str, message.terms))
    search.play([{"ticket": 5, "terms": terms, "own_move": "((take))", "deadline": deadline}])
    assert json.loads(stream.getvalue().splitlines()[-1])["type"] == "move"
    assert "not legal" in search.tracker.position.note


def test_rules_of_a_message_are_never_the_name_of_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for rules in ("(role a)", "(role a) ; b.kif"):
        (tmp_path / rules).write_text("(role from_the_file)")
        assert [str(role) for role in load_rules(rules, engine="reasoner").roles] == ["a"]
