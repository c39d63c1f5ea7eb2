"""A match of the browser, without its process: seats, steps, and what a person may see."""

import json
import random
import re
from itertools import product
from xml.etree import ElementTree

import pytest

import ggp
from gdl.syntax.parser import parse_term
from ggp.analysis.picture import find_picture
from ggp.game import GameError
from ggp.match.player import PlayerError
from ggp.players.options import option_tables
from ggp.processes.child_end import RequestError, sentence
from ggp.search.option_table import rows_of
from ggp.web import shown_match
from ggp.web.agent_thread import Finding, Task
from ggp.web.changes import changes, merged
from ggp.web.ending import deciding, explanation
from ggp.web.explained import explained
from ggp.web.match_history import MatchHistory
from ggp.web.match_process import MISTAKES
from ggp.web.seats import check_seat
from ggp.web.server import known_games, read_rules
from ggp.web.shown_match import ShownMatch

BLOCKED = """
(role white) (role black) (init (control white)) (index 1) (index 2) (index 3)
(near 1 2) (near 2 1) (near 2 3) (near 3 2)
(<= (init (cell ?x ?y empty)) (index ?x) (index ?y))
(<= (barred ?x ?y) (near ?x ?u) (true (cell ?u ?y ?q)) (distinct ?q empty))
(<= (barred ?x ?y) (near ?y ?v) (true (cell ?x ?v ?q)) (distinct ?q empty))
(<= (free ?x ?y) (true (cell ?x ?y empty)) (not (barred ?x ?y)))
(<= open (free ?_x ?_y))
(<= (legal ?p (put ?x ?y)) (true (control ?p)) (free ?x ?y))
(<= (legal ?p noop) (role ?p) (not (true (control ?p))))
(<= (filled ?x ?y) (does ?_p (put ?x ?y)))
(<= (next (cell ?x ?y ?p)) (does ?p (put ?x ?y)))
(<= (next (cell ?x ?y ?c)) (true (cell ?x ?y ?c)) (not (filled ?x ?y)))
(<= (next (control white)) (true (control black)))
(<= (next (control black)) (true (control white)))
(<= terminal (not open))
(<= (goal ?p 100) (role ?p) (not (true (control ?p))) (not open))
(<= (goal ?p 0) (true (control ?p)) (not open))
(<= (goal ?p 50) (role ?p) open)
"""
"""Stones are put on 3x3 places, none next to another; who cannot do so loses."""


CAPTURED = """
(role white) (role black) (init (control white)) (index 1) (index 2) (index 3) (succ 1 2) (succ 2 3)
(init (cell 1 1 white)) (init (cell 2 2 black)) (filled 1 1) (filled 2 2)
(<= (init (cell ?x ?y empty)) (index ?x) (index ?y) (not (filled ?x ?y)))
(<= (legal ?p (move ?x ?y ?u ?v))
    (true (control ?p)) (true (cell ?x ?y ?p)) (ahead ?p ?x ?u) (ahead ?p ?y ?v))
(<= (ahead white ?x ?u) (succ ?x ?u)) (<= (ahead black ?x ?u) (succ ?u ?x))
(<= (legal ?p noop) (role ?p) (not (true (control ?p))))
(<= (next (cell ?u ?v ?p)) (does ?p (move ?_x ?_y ?u ?v)))
(<= (next (cell ?x ?y empty)) (does ?_p (move ?x ?y ?_u ?_v)))
(<= (next (cell ?x ?y ?c)) (true (cell ?x ?y ?c)) (not (left ?x ?y)) (not (entered ?x ?y)))
(<= (left ?x ?y) (does ?_p (move ?x ?y ?_u ?_v))) (<= (entered ?u ?v) (does ?_p (move ?_x ?_y ?u ?v)))
(<= (next (control white)) (true (control black))) (<= (next (control black)) (true (control white)))
(<= (stands ?p) (true (cell ?_x ?_y ?p)))
(<= terminal (role ?p) (not (stands ?p)))
(<= (goal ?p 100) (role ?p) (role ?q) (distinct ?p ?q) (not (stands ?q)))
(<= (goal ?p 0) (role ?p) (not (stands ?p)))
(<= (goal ?p 50) (role ?p) (stands white) (stands black))
"""
"""Two pieces move along the diagonal; the first move captures."""


class Page:
    """What a page makes of the events of a match: `state` as it stands after each, all others as they are."""

    def __init__(self):
        self.events = []
        self.state = {}

    def send(self, event):
        event = json.loads(json.dumps(event))
        if event["event"] == "state":
            event = self.state = merged(self.state, event)
        if event["event"] != "progress":  # for the server alone: it shows what is hidden
            self.events.append(event)


def new_match(**options):
    page = Page()
    match = ShownMatch(page.send, lambda finding: None, **options)
    match.page = page
    return match


class NoSearches:
    """Stands in for the thread of searches: remembers what it is asked for."""

    def __init__(self, rules, seed, found, mebibytes, is_eager=False):
        self.generation = 0
        self.tasks = []

    def put(self, task):
        self.tasks.append(task)

    def rest(self):
        pass

    def start(self):
        pass


@pytest.fixture(autouse=True)
def _no_threads(monkeypatch):
    monkeypatch.setattr(shown_match, "AgentProcess", NoSearches)
    monkeypatch.setattr(shown_match, "PACE_SECONDS", 0.0)


def go_on(match):
    """Make the last legal move for the person, then the first for agents."""
    shown = match.snapshot()
    if shown["person"] is not None:
        play(match, shown["person"], shown["moves"][-1])
    for task in match._agents.tasks:
        match.take(Finding(task, match.history.legal(task.role)[0]))
    match._agents.tasks.clear()
    run_on(match)


WIN_OF_X = [
    (role, f"(mark {cell})") for role, cell in zip("xoxox", ("1 1", "2 1", "1 2", "2 2", "1 3"), strict=True)
]


def open_match(name, seats=("person", "person"), moves=(), **options):
    match = new_match(**options)
    match.open(read_rules(name), name, list(seats), 1.0, seed=1)
    run_on(match)
    for role, move in moves:
        play(match, role, move)
    return match


def replayed(record):
    match = new_match()
    match.replay(record)
    return match


def run_on(match):
    while match.run_on() is not None:
        pass


def play(match, role, move):
    match.play(len(match.history.steps), role, move)
    run_on(match)


def test_late_move_of_another_tab_is_refused_with_the_reason():
    match = open_match("tictactoe")
    role, move = WIN_OF_X[0]
    play(match, role, move)
    with pytest.raises(RequestError, match="played in another tab"):
        match.play(0, role, move)
    with pytest.raises(RequestError, match="played in another tab"):
        match.play(1, role, move)
    with pytest.raises(RequestError, match="too late"):
        match.play(2, "o", move)


def test_two_persons_play_to_the_end():
    match = open_match("tictactoe")
    for role, move in WIN_OF_X:
        assert match.snapshot()["person"] == role
        play(match, role, move)
    end = match.snapshot()
    assert (end["is_over"], end["outcome"], end["goals"]) == (True, "x wins", [100, 0])
    assert end["moves"] == []
    assert end["board"].count('class="cell') == 9


def test_an_only_move_is_made_at_once_and_said_to_be():
    cells = ("1 1", "2 2", "3 3", "1 2", "3 2", "3 1", "1 3", "2 3")
    match = open_match(
        "tictactoe", moves=[(role, f"(mark {c})") for role, c in zip("xoxoxoxo", cells, strict=True)]
    )
    assert match.page.state["is_over"]
    assert match.page.state["terms"][-1] == ["(mark 2 1)", "noop"]
    assert [9, 0] in match.page.state["forced"]
    assert not {(step, 1 - step % 2) for step in range(1, 9)} & set(map(tuple, match.page.state["forced"]))


def test_lines_between_dots_are_drawn_by_clicks():
    match = open_match("dotsandboxes")
    shown = match.snapshot()
    assert len(shown["moves"]) == 24
    paths = dict(zip(shown["paths"], shown["moves"], strict=True))
    assert len(paths) == 24  # one click each
    assert shown["board"].count('class="wall"') == 0
    assert paths["upright 3,0"] == "(draw (upright 4 1))"
    play(match, "first", paths["upright 3,0"])
    after = match.snapshot()
    line = next(part for part in after["board"].split("<g") if 'data-cell="upright 3,0"' in part)
    assert 'class="wall"' in line
    assert "changed" in line
    assert 'class="box' not in after["board"]
    for move in ("(across 3 1)", "(across 3 2)", "(upright 3 1)"):
        play(match, match.snapshot()["person"], f"(draw {move})")
    assert match.snapshot()["board"].count('class="box owned ink-1"') == 1
    assert 'class="owner">S</text>' in match.snapshot()["board"]


def test_every_position_of_a_match_can_be_analyzed_also_after_the_end():
    match = open_match("tictactoe", moves=WIN_OF_X)
    match.think(1.0, 3, [])
    task = match._agents.tasks[-1]
    assert (str(task.role), len(task.moves), task.is_analysis) == ("o", 3, True)
    match.take(Finding(task, None, {"expectation": 0.0, "moves": []}))
    assert (match.page.events[-1]["event"], match.page.events[-1]["step"]) == ("think", 3)
    for step, why in ((5, "no role has a choice"), (6, "has not reached"), (-1, "has not reached")):
        with pytest.raises(RequestError, match=why):
            match.think(1.0, step, [])
    record = replayed(match.record())
    record.think(1.0, 0, [])
    assert (str(record._agents.tasks[-1].role), record._agents.tasks[-1].moves) == ("x", ())


def finish_search(match, move, expectation):
    task = match._agents.tasks[-1]
    match.take(Finding(task, None, {"expectation": 1.0}))  # how it stands; of no interest
    match.take(Finding(task, parse_term(move), {"expectation": expectation}))
    run_on(match)


def test_review_searches_every_choice_and_an_analysis_pauses_it():
    with pytest.raises(RequestError, match="only a finished match"):
        open_match("tictactoe").review()
    match = open_match("tictactoe", moves=WIN_OF_X)
    match.review()
    finish_search(match, "(mark 2 2)", 55.0)
    event = match.page.events[-1]
    assert (event["event"], event["of"]) == ("review", 5)
    entry = event["entry"]
    assert (entry["step"], entry["role"], entry["value"]) == (0, "x", 55.0)
    assert (entry["played"], entry["played_path"]) == ("(mark 1 1)", "0,0")
    assert (entry["best"], entry["best_path"]) == ("(mark 2 2)", "1,1")
    match.think(1.0, 3, [])
    assert len(match._agents.tasks) == 3
    match.review()
    for value in (40.0, 60.0, 0.0, 100.0):
        finish_search(match, "(mark 3 3)", value)
    review = match.snapshot()["review"]
    assert review["is_done"]
    assert [(each["role"], each["value"]) for each in review["entries"]] == [
        ("x", 55.0), ("o", 40.0), ("x", 60.0), ("o", 0.0), ("x", 100.0)
    ]  # fmt: skip
    assert match.page.events[-1]["review"] == review
    match.undo()
    assert match.snapshot()["review"] is None


def test_both_of_two_mistakes_in_a_row_are_found():
    match = open_match("tictactoe", moves=WIN_OF_X)
    match.review()
    for value in (90.0, 90.0, 90.0, 10.0, 100.0):
        finish_search(match, "(mark 3 3)", value)
    found = match.snapshot()["review"]["mistakes"]
    assert found == match.page.events[-2]["mistakes"]
    assert [(each["step"], each["role"], each["after"], each["lost"]) for each in found] == [
        (0, "x", 10.0, 80), (1, "o", 10.0, 80), (3, "o", 0.0, 10)
    ]  # fmt: skip


def test_review_shares_its_time_from_the_request_on_and_again_after_a_pause(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("ggp.web.match_review.time.monotonic", lambda: now[0])
    match = open_match("tictactoe", moves=WIN_OF_X)
    match.review()
    seconds = []
    for now[0] in (6.0, 8.0, 12.0):  # it took long to get ready
        finish_search(match, "(mark 3 3)", 50.0)
        seconds.append(match._review.task.seconds)
    assert seconds == pytest.approx([2.5 / 4, 0.5 / 3, 0.05])
    match.think(1.0, 3, [])
    match.review()
    assert match._review.task.seconds == 1.0


def test_review_pauses_after_a_search_that_failed_and_hidden_games_have_none():
    record = replayed(open_match("tictactoe", moves=WIN_OF_X[:1]).record())
    record.review()
    record.take(Finding(record._agents.tasks[-1], error="out of memory"))
    assert record.page.events[-1]["text"] == "out of memory"
    assert not record.snapshot()["review"]["is_done"]
    with pytest.raises(RequestError, match="hidden information"):
        open_match("kuhn_poker", ["person", "legal"]).review()


def test_searches_of_a_match_share_its_memory():
    seats = ["person", "mcts", "mcts:c=9"]
    match = open_match("connectfour_3p", seats, [("red", "(drop 1)")], mebibytes=2000)
    assert match._agents.tasks[-1].spec == "mcts:memory=300,proof_memory=75"
    match.think(1.0, 0, [])
    assert match._agents.tasks[-1].spec == "mcts:book=off,memory=66,proof_memory=16"


@pytest.mark.slow
def test_every_bundled_game_opens_and_offers_every_legal_move():
    for each in known_games():
        game = ggp.load(each["name"], engine="reasoner")
        players = [role for role in game.roles if role != ggp.RANDOM_ROLE]
        is_hidden = bool(game.program.rules_for("sees", 2))
        others = ["legal" if is_hidden else "person"] * (len(players) - 1)
        match = open_match(each["name"], ["person", *others])
        shown = match.snapshot()
        if shown["person"] is not None:
            role = next(role for role in game.roles if str(role) == shown["person"])
            assert shown["moves"] == list(map(str, match.history.legal(role)))
            assert len(shown["paths"]) == len(shown["moves"])
            cells = set(re.split("[;|]", ";".join(filter(None, shown["paths"])))) - {""}
            assert all(f'data-cell="{cell}"' in shown.get("board", "") for cell in cells if not is_hidden)


def test_undo_goes_back_to_the_last_own_choice():
    match = open_match("tictactoe", moves=[("x", "(mark 1 1)"), ("o", "(mark 2 2)")])
    match.undo()
    run_on(match)
    assert match.snapshot()["person"] == "o"
    assert len(match.history.steps) == 1
    match.undo()
    with pytest.raises(RequestError, match="no move of yours"):
        match.undo()


@pytest.mark.parametrize(
    ("step", "role", "move"), [(1, "x", "(mark 1 1)"), (0, "o", "noop"), (0, "x", "(mark 9 9)")]
)
def test_move_that_is_late_foreign_or_illegal_is_refused(step, role, move):
    match = open_match("tictactoe")
    with pytest.raises(RequestError):
        match.play(step, role, move)
    assert not match.history.steps


def test_first_of_two_simultaneous_moves_is_not_shown():
    match = open_match("rockpaperscissors")
    roles = [str(role) for role in match.history.game.roles]
    move = match.snapshot()["moves"][0]
    play(match, roles[0], move)
    between = match.snapshot()
    assert (between["person"], between["step"], between["history"]) == (roles[1], 0, [])


def test_person_sees_percepts_and_own_moves_only():
    match = open_match("kuhn_poker", ["person", "mcts"])
    shown = match.snapshot()
    assert shown["person"] == "first"
    assert not {"board", "lines", "facts"} & shown.keys()
    assert shown["history"] == [["waits", None, None]]
    assert shown["terms"] == [["noop", None, None]]
    (percepts,) = shown["percepts"]
    assert len(percepts) == 1
    deal = str(match.history.steps[0].joint_move[2])
    assert deal not in json.dumps(match.page.events)
    for refused in (match.undo, lambda: match.think(1.0, 0, [])):
        with pytest.raises(RequestError):
            refused()
    for refused in (lambda: match.view(0), match.record):
        with pytest.raises(RequestError, match="hide"):
            refused()


def test_moves_of_others_are_listed_as_percepts_report_them():
    match = open_match("liars_dice", ["person", "random"], [("first", "(bid 1 1)")])
    go_on(match)
    shown = match.snapshot()
    listed = [["waits", None, None], ["bid 1 of face 1", None, None], ["waits", "bid 1 of face 2", None]]
    assert shown["history"] == listed
    assert shown["terms"][2] == ["noop", "(bid 1 2)", None]
    said = {"label": "", "text": "second: bid 1 of face 2", "drawn": "", "is_public": True}
    assert shown["drawn"][1:] == [[], [said]]
    (own,) = shown["drawn"][0]
    assert (own["label"], own["is_public"]) == ("roll", False)


@pytest.mark.parametrize(
    ("name", "listed"), [("goofspiel_hidden", set()), ("dark_hex_4x4", set()), ("kuhn_poker", {"second"})]
)
def test_moves_that_no_percept_reports_stay_hidden(name, listed):
    match, found = open_match(name, ["person", "random"]), set()
    roles = list(map(str, match.history.game.roles))
    person = str(match._viewer)
    for _ in range(12):
        shown = match.snapshot()
        if not shown["is_blind"]:
            break
        for row in shown["history"]:
            found |= {role for role, text in zip(roles, row, strict=True) if text is not None} - {person}
        go_on(match)
    assert len(match.history.steps) > 2
    assert found == listed


def test_everything_is_turned_over_at_the_end_of_a_match_with_hidden_cards():
    match = open_match("kuhn_poker", ["person", "random"])
    while not match.snapshot()["is_over"]:
        shown = match.snapshot()
        assert shown["is_blind"]
        assert not {"board", "lines", "facts"} & shown.keys()
        assert shown["because"] == ""
        go_on(match)
    end = match.snapshot()
    assert not end["is_blind"]
    assert end["history"][0][2].startswith("deal ")
    assert any("holds" in line[0]["text"] for line in end["lines"])
    assert end["because"].startswith("Decided by: ")
    assert json.loads(match.record())["moves"]
    with pytest.raises(RequestError, match="no move of yours"):
        match.undo()


@pytest.mark.parametrize(
    ("name", "seed", "sentence"),
    [
        ("hex_5x5", 1, "What decides is marked on the board."),
        ("tictactoe", 0, "What decides is marked on the board."),
        ("connectfour_4x4", 0, ""),
        ("minichess", 0, "What decides is marked on the board."),
        ("tron", 0, "Decided by: crashed red"),
        ("halving", 0, "Decided by: number 0"),
    ],
)
def test_end_is_explained_by_what_decides(name, seed, sentence):
    game, rng = ggp.load(name, engine="reasoner"), random.Random(seed)
    history = MatchHistory(game)
    while not history.is_over:
        history.play([rng.choice(history.legal(role)) for role in game.roles])
    assert explanation(history, find_picture(game.program, history.facts(0))) == sentence


def test_winding_chain_on_a_small_board_is_marked():
    game = ggp.load("dark_hex_3x3", engine="reasoner")
    history, chain = MatchHistory(game), iter(["1 1", "2 1", "2 2", "2 3", "3 3"])
    idle, free = parse_term("noop"), iter(["1 2", "1 3", "3 1", "3 2"])
    while not history.is_over:
        is_red = str(history.legal(game.roles[1])[0]) == "noop"
        move = parse_term(f"(mark {next(chain if is_red else free)})")
        history.play([move, idle] if is_red else [idle, move])
    assert list(history.goals()) == [100, 0]
    picture = find_picture(game.program, history.facts(0))
    assert explanation(history, picture) == "What decides is marked on the board."
    assert len(picture.few_cells(deciding(history, picture), history.facts())) == 5


def test_forced_move_is_never_offered_as_a_choice():
    match = new_match()
    match.open(read_rules("liars_dice"), "liars_dice", ["person", "random"], 1.0, seed=1)
    assert (match.snapshot()["person"], match.snapshot()["moves"]) == (None, [])
    run_on(match)
    assert match.snapshot()["person"] == "first"
    assert "noop" not in match.snapshot()["moves"]


def test_role_that_has_no_move_left_is_named_at_the_end():
    moves = (("first", "d"), ("second", "c"), ("first", "b"))  # the last move is the only one
    match = open_match("nim", moves=[(role, f"(reduce {heap} 0)") for role, heap in moves])
    first, last = [event for event in match.page.events if event.get("is_over") or event.get("because")]
    assert (first["because"], last["because"]) == ("", "First has no move left.")  # the board comes first


def test_role_whose_last_piece_is_blocked_after_a_capture_has_no_move_left():
    match, rng = open_match("checkers"), random.Random(1)
    while not (shown := match.snapshot(is_explained=False))["is_over"]:
        play(match, shown["person"], rng.choice(shown["moves"]))
    assert match.history.facts().count(parse_term("(cell 2 8 black_man)")) == 1
    assert match.snapshot()["because"] == "Black has no move left."


def test_no_piece_is_marked_as_the_winner_where_a_role_has_no_move_left():
    match = new_match()
    match.open(BLOCKED, "blocked", ["person", "person"], 1.0, seed=1)
    run_on(match)
    for role, place in zip(("white", "black") * 2, ("1 1", "2 2", "1 3", "3 1"), strict=True):
        play(match, role, f"(put {place})")
    assert match.snapshot()["because"] == "Black has no move left."
    assert "cell light full" in match.snapshot()["board"]
    assert " won" not in match.snapshot()["board"]


def test_cell_of_the_last_capture_is_marked():
    match = new_match()
    match.open(CAPTURED, "captured", ["person", "person"], 1.0, seed=1)
    run_on(match)  # the only move captures the only piece of black
    shown = match.snapshot()
    assert shown["goals"] == [100, 0]
    assert re.findall('class="cell[^"]* won[^"]*" data-cell="([^"]+)"', shown["board"]) == ["1,1"]


@pytest.mark.parametrize(("seed", "outcome"), [(0, "draw"), (2, "blue wins")])
def test_heads_and_walls_of_tron_stay_on_the_board_at_the_end(seed, outcome):
    match, rng = open_match("tron"), random.Random(seed)
    while not (shown := match.snapshot())["is_over"]:
        play(match, shown["person"], rng.choice(shown["moves"]))
    assert shown["outcome"] == outcome
    assert shown["board"].count('class="piece top"') == 2
    assert shown["board"].count('class="piece trail"') > 2


def test_colored_edges_of_a_board_lie_within_its_picture():
    board = ElementTree.fromstring(open_match("hex_3x3").snapshot()["board"])
    _, _, width, height = map(float, board.attrib["viewBox"].split())
    edges = [each for each in board.iter() if "edge" in each.get("class", "").split()]
    assert len(edges) == 4
    for edge in edges:
        half, numbers = (
            float(edge.attrib["stroke-width"]) / 2,
            map(float, re.findall(r"[\d.]+", edge.attrib["d"])),
        )
        for x, y in zip(numbers, numbers, strict=True):
            assert half <= x <= width - half
            assert half <= y <= height - half


def test_moves_by_direction_have_arrows_and_prepared_rules_are_opened():
    match = new_match()
    match.prepare(read_rules("tron"), "tron")
    prepared = match._history
    match.open(read_rules("tron"), "tron", ["person", "person"], 1.0, seed=1)
    assert match.history is prepared
    shown = match.snapshot()
    assert dict(zip(shown["texts"], shown["arrows"], strict=True))["ride north"] == "1,3;1,4"
    play(match, "red", "(ride north)")
    play(match, "blue", "(ride west)")
    assert match.snapshot()["trails"] == [["1,3;1,4", "6,4;5,4"]]


def test_positions_are_explained_only_where_nothing_is_hidden():
    match = open_match("tictactoe", moves=WIN_OF_X[:1])
    position = match.position(1, [["noop", "(mark 2 2)"]])
    assert {"(cell 1 1 x)", "(cell 2 2 o)"} < set(position["facts"])
    page = explained(by="mast", **position)["page"]
    assert "<title>tictactoe: mcts with mast playouts</title>" in page
    for by in ("alphabeta:evaluation=here.py:value", "td", ""):
        with pytest.raises(RequestError, match="choose one of alphabeta"):
            explained(by=by, **position)
    for seats in (["person", "random"], ["random", "random"]):  # a page that knows less, and one that watches
        with pytest.raises(RequestError, match="what the rules hide"):
            open_match("kuhn_poker", seats).position(0, [])


def test_searches_of_an_opponent_with_hidden_cards_are_not_shown():
    match = open_match("kuhn_poker", ["person", "mcts"], [("first", "bet")])
    (task,) = match._agents.tasks
    assert task.role == match.history.game.roles[1]
    report = {"expectation": 1.0, "goal": None, "moves": [], "line": []}
    match.take(Finding(task, report=report))
    assert not [event for event in match.page.events if event["event"] == "think"]


def test_search_is_not_shown_while_a_person_chooses_at_the_same_time():
    for seats, is_shown in ((["person", "mcts"], False), (["mcts", "mcts"], True)):
        match = open_match("tron", seats)
        task = match._agents.tasks[-1]
        report = {"expectation": 40.0, "goal": None, "moves": [], "line": []}
        match.take(Finding(task, report=report))
        match.take(Finding(task, match.history.legal(task.role)[0], report))
        thoughts = [event for event in match.page.events if event["event"] == "think"]
        assert bool(thoughts) == is_shown
        if not is_shown:
            play(match, str(match.history.game.roles[0]), match.snapshot()["moves"][0])
            assert match.snapshot()["values"] == [[None, 40.0]]


def test_two_persons_cannot_share_a_page_in_a_game_with_hidden_information():
    with pytest.raises(RequestError, match="only one person"):
        open_match("kuhn_poker", ["person", "person"])


def test_agent_moves_when_its_search_ends_and_stale_searches_are_dropped():
    match = open_match("tictactoe", ["person", "mcts"], WIN_OF_X[:1])
    (task,) = match._agents.tasks
    move = ggp.parse_term("(mark 2 2)")
    stale = Task(task.generation - 1, task.role, task.spec, 1.0, (), ())
    match.take(Finding(stale, ggp.parse_term("(mark 3 3)")))
    assert match.snapshot()["waiting"] == ["o"]
    match.take(Finding(task, move, {"expectation": 40.0}))
    run_on(match)
    shown = match.snapshot()
    assert shown["history"][1] == ["waits", "b2"]
    assert shown["values"][1] == [None, 40.0]


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ("human", "'human' cannot take a seat here: expected person, "),
        ("agents.py:Greedy", "cannot take a seat here"),
        ("tablebase:file=x", "cannot take a seat here"),
        ("alphabeta:evaluation=/etc/passwd", "players that read files"),
        ("http://192.0.2.1:9147", "only players on this machine"),
        ("http://example.org", "only players on this machine"),
        ("http://127.0.0.1.example.org:80", "only players on this machine"),
    ],
)
def test_seat_takes_no_player_that_runs_code_or_reads_files_or_of_another_machine(spec, why):
    check_seat("http://127.0.0.1:9147")
    with pytest.raises(RequestError, match=why):
        open_match("tictactoe", ["person", spec])


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (kind, row.name)
        for kind in ("mcts", "alphabeta", "solving")
        for table in option_tables(kind)
        for row in rows_of(table)
        if row.names_file
    ],
)
def test_every_option_that_names_a_file_is_refused_unread(kind, name):
    for path in ("/etc/passwd", "/nowhere", "a\0b", "\ud800", "off/", " x"):
        with pytest.raises((RequestError, PlayerError), match=r"read files|written option=value"):
            check_seat(f"{kind}:{name}={path}")


def test_error_that_is_not_foreseen_is_a_sentence(caplog):
    assert sentence(RequestError("not your turn"), ()) == "not your turn"
    assert "a bug in the program" in sentence(ZeroDivisionError("1 // 0"), ())
    assert "ZeroDivisionError" in caplog.text


def test_page_gets_what_has_changed():
    events = []
    match = open_match("checkers")
    match._send = lambda event: events.append(event) if event["event"] == "state" else None
    match.show()
    whole = events[-1]
    play(match, whole["person"], whole["moves"][0])
    assert len(json.dumps(events[-1])) < 0.3 * len(json.dumps(whole))
    assert merged(whole, events[-1]) == {"event": "state", **match.snapshot()}
    match.undo()
    run_on(match)
    assert merged(merged(whole, events[-2]), events[-1]) == {"event": "state", **match.snapshot()}


@pytest.mark.parametrize("seed", range(20))
def test_merged_changes_give_the_state(seed):
    rng = random.Random(seed)

    def state():
        first, second, lines = (rng.choices("ab", k=rng.randrange(9)) for _ in range(3))
        return {"k": first, "l": second, "text": "\n".join(lines), "n": rng.randrange(2)}

    before, after = state(), state()
    assert merged(before, json.loads(json.dumps(changes(before, after)))) == after
    assert merged({}, changes({}, after)) == after


def test_record_is_replayed_with_the_values_of_its_searches():
    game = ggp.load("tictactoe", engine="reasoner")
    players = [ggp.make_player("mcts:simulations=20"), ggp.make_player("random")]
    record = ggp.play_match(game, players, ggp.MatchTerms(seed=3))
    match = new_match()
    assert match.replay(record.to_json())["is_replay"]
    shown = match.snapshot()
    assert len(shown["history"]) == len(record.moves)
    assert shown["values"][0][0] is not None
    assert shown["person"] is None
    assert match.view(1)["board"].count("changed") == 1


def test_values_in_a_record_may_be_anything():
    game = ggp.load("tictactoe", engine="reasoner")
    record = ggp.play_match(game, [ggp.make_player("legal")] * 2).to_dict()
    record["x-reports"] = [[{"expectation": "high"}, {"expectation": 1e300}] for _ in record["moves"]]
    values = replayed(json.dumps(record)).snapshot()["values"]
    assert {value for row in values for value in row} == {None}


@pytest.mark.parametrize("text", ["{}", "no json", '{"matchId": "m", "states": [], "moves": []}'])
def test_text_that_is_no_record_is_refused(text):
    with pytest.raises((RequestError, ggp.RecordError)):
        replayed(text)


def test_rules_that_leave_a_role_without_moves_end_the_match_with_a_sentence():
    match = new_match()
    rules = "(role x) (init (n 1)) (<= (legal x a) (true (n 1))) (<= (legal x b) (true (n 1))) (next (n 2))"
    match.open(rules, "stuck", ["person"], 1.0, seed=1)
    match.play(0, "x", "a")
    with pytest.raises(ggp.GameError):
        run_on(match)
    match.fail("x has no legal move")
    shown = match.snapshot()
    assert (shown["fault"], shown["person"]) == ("x has no legal move", None)


def test_nobody_is_asked_for_a_move_without_an_alternative():
    match = open_match("tictactoe", moves=[("x", "(mark 1 1)"), ("o", "(mark 2 2)")])
    shown = [event for event in match.page.events if event["event"] == "state"]
    assert [(event["step"], event["person"]) for event in shown] == [(1, "o"), (2, "x")]
    assert all(len(event["moves"]) > 1 for event in shown)


def test_legal_moves_are_those_of_the_state_also_after_undo():
    match = open_match("tictactoe")
    history, game = match.history, match.history.game
    for cells in (["1 1", "2 2"], ["3 3", "1 1", "2 2"]):
        while history.steps:
            match.undo()
            run_on(match)
        for cell in cells:
            play(match, match.snapshot()["person"], f"(mark {cell})")
            for back, role in product(range(len(history.steps) + 1), game.roles):
                state = history.state(len(history.steps) - back)
                assert history.legal(role, back) == game.legal_moves(state, role)


def test_persons_resign_and_take_it_back():
    match = open_match("tictactoe", moves=WIN_OF_X[:2])
    match.resign("x")
    run_on(match)
    end = match.snapshot()
    assert (end["is_over"], end["outcome"], end["goals"]) == (True, "x resigns: o wins", [0, 100])
    with pytest.raises(RequestError, match="the match is over"):
        match.resign("o")
    match.undo()
    run_on(match)
    assert not match.snapshot()["is_over"]


def test_line_is_explored_beside_the_match():
    match = open_match("tictactoe", moves=WIN_OF_X[:1])
    view = match.explore(0, [["(mark 2 2)", "noop"], ["noop", "(mark 1 1)"]])
    assert (view["step"], view["is_over"], view["choices"][0]["role"]) == (2, False, "x")
    assert len(view["choices"][0]["moves"]) == 7
    assert len(match.history.steps) == 1
    for line in ([["(mark 2 2)"]], [["(mark 2 2)", 1]], [["noop", "noop"]] * 501):
        with pytest.raises(RequestError):
            match.explore(0, line)
    with pytest.raises(GameError):
        match.explore(0, [["(mark 9 9)", "noop"]])


def resumed(match, name, seats=("person", "person"), progress=None, **options):
    again = new_match()
    progress = json.loads(json.dumps(match.progress())) if progress is None else progress
    again.open(read_rules(name), name, list(seats), 1.0, seed=2, progress=progress, **options)
    for _ in range(4):
        again.run_on()
    return again


def test_match_is_resumed_with_its_moves_and_verdict():
    match = open_match("tictactoe", moves=WIN_OF_X[:4])
    again = resumed(match, "tictactoe")
    shown = again.snapshot()
    assert (shown["step"], shown["person"]) == (4, "x")
    assert shown["history"] == match.snapshot()["history"]
    again.play(4, *WIN_OF_X[4])
    for _ in range(4):
        again.run_on()
    assert again.snapshot()["outcome"] == "x wins"
    match.resign("o")
    end = resumed(match, "tictactoe").snapshot()
    assert (end["is_over"], end["outcome"], end["goals"]) == (True, "o resigns: x wins", [100, 0])


def test_resumed_match_keeps_what_was_chosen_and_asks_the_agents():
    match = open_match("rockpaperscissors")
    match.play(0, "left", "(show rock)")
    assert resumed(match, "rockpaperscissors").snapshot()["person"] == "right"
    match = open_match("tictactoe", moves=[*WIN_OF_X[:2], ("x", "(mark 3 3)")])
    assert (2, 0) in resumed(match, "tictactoe").snapshot()["forced"]  # that x waits is no choice
    seats = ["person", "mcts"]
    again = resumed(open_match("tictactoe", seats, WIN_OF_X[:1]), "tictactoe", seats)
    assert (again.snapshot()["waiting"], len(again._agents.tasks[0].moves)) == (["o"], 1)


@pytest.mark.parametrize(
    "damage",
    [
        {"moves": [["(mark 9 9)", "noop"]], "reports": [[]]},
        {"moves": [["(", "noop"]], "reports": [[]]},
        {"moves": [[1, 2]], "reports": [[]]},
        {"moves": 3},
        {"moves": [["noop", "noop"]] * (shown_match.STEP_LIMIT + 1)},
        {"committed": []},
        {"forced": [[1, 7]]},
        {"settlement": {}},
        {"settlement": {"verdict": 5, "goals": []}},
        {"settlement": {"verdict": "", "goals": [101]}},
    ],
)
def test_damaged_progress_is_refused(damage):
    match = open_match("tictactoe")
    with pytest.raises((RequestError, *MISTAKES)):
        resumed(match, "tictactoe", progress={**match.progress(), **damage})
