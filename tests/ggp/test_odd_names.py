"""Names that hold `"`, `\\`, `<`, `|`, `&` or a line break, in every format that this program writes."""

import csv
import io
import json
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

import ggp
from ggp.analysis.picture import find_picture
from ggp.env.gambit import write_efg
from ggp.notebook import html_table
from ggp.tournament.schedule import Schedule
from ggp.tournament.store import Store, write_csv
from ggp.validation.output import SheetReport, to_github, to_json
from ggp.web.board_markup import board_markup
from tests.ggp.tournament.plans import result_of, small_plan

ODD = 'a"b\\c<d|e&f'
ODDEST = f"{ODD}\ng"
NO_XML = f"{ODD}\uffff\ufffe"

GAME = """(role first) (role {0})
(init (turn first)) (init (cell 1 1 {0})) (init (cell 1 2 {0}2)) (init (cell 2 1 b)) (init (cell 2 2 b))
(<= (legal ?r (say {0})) (true (turn ?r))) (<= (legal ?r pass) (role ?r))
(<= (next (turn {0})) (true (turn first)))
(<= (next (cell ?x ?y ?c)) (true (cell ?x ?y ?c)))
(<= terminal (not (true (turn first))))
(goal first 100) (goal {0} 0)"""


def test_efg_has_no_escapes_and_distinct_labels(tmp_path):
    pyspiel = pytest.importorskip("pyspiel", reason="needs the extra openspiel")
    path = tmp_path / "game.efg"
    sheet = tmp_path / f"{ODD}.kif"
    sheet.write_text(GAME.format(ODD), encoding="utf-8")
    assert write_efg(sheet, path) == 3
    text = path.read_text(encoding="utf-8")
    assert "\\" not in text
    assert all(line.count('"') % 2 == 0 for line in text.splitlines())
    state = pyspiel.load_game(f"efg_game(filename={path})").new_initial_state()
    assert sorted(map(state.action_to_string, state.legal_actions())) == ["(say a＂b＼c<d|e&f)", "pass"]


@pytest.mark.parametrize("name", [ODD, NO_XML])
def test_svg_is_xml_with_the_name_in_it(name):
    game = ggp.load(GAME.format(name), engine="reasoner", name=name)
    facts = game.facts(game.initial_state())
    board = find_picture(game.program, facts).board
    assert board is not None
    shown = name.replace("\uffff", "\ufffd").replace("\ufffe", "\ufffd")
    for text in (board_markup(board, facts, facts),):
        ElementTree.fromstring(text)
    root = ElementTree.fromstring(board_markup(board, facts, facts))
    titles = [each.text for each in root.iter("{http://www.w3.org/2000/svg}title")]
    assert any(title.endswith(f": {shown}") for title in titles)
    labels = [each.get("aria-label") for each in root.iter()]
    assert any(label and label.endswith(f": {shown}") for label in labels)


class Texts(HTMLParser):
    """The tags and texts of a page."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.texts = set(), []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)

    def handle_data(self, data):
        self.texts.append(data)


def test_html_shows_the_name():
    game = ggp.load(GAME.format(ODD), engine="reasoner", name=ODD)
    read = Texts(html_table(ODDEST, [ODDEST], [[ODDEST]]))
    assert "d" not in read.tags
    assert ODDEST in read.texts
    notebook = ggp.show(game)._repr_html_() or ""
    assert "<d|" not in notebook


def test_findings_name_the_sheet_and_its_names():
    report = ggp.validate(GAME.format(ODD).replace("(goal first 100)", f"(goal {ODD}3 100)"))
    assert report.diagnostics
    report = SheetReport(ODDEST, report.source, 1, report.diagnostics)
    messages = [each.message for each in report.diagnostics]
    assert any(ODD in message for message in messages)
    assert [each["message"] for each in json.loads(to_json([report]))["sheets"][0]["diagnostics"]] == messages
    assert len(to_github([report]).splitlines()) == len(messages)


AGENT = 'a"b\\c<d>&f`g*'


@pytest.fixture
def run(tmp_path):
    """A run whose agents, game, name and faults are odd: its store and run."""
    plan = small_plan(
        tmp_path,
        name=ODD.replace("|", "!"),
        agents={AGENT: f"text:echo '{ODD}`'", "b": "legal"},
        games={ODD.replace("|", "!"): {"rules": str(tmp_path / "small.kif")}},
        repetitions=1,
    )
    with Store(tmp_path / "results.sqlite") as store:
        run = store.begin(plan)
        for number, (_, task) in enumerate(Schedule(plan).tasks()):
            result = result_of(task, [100, 0], is_completed=number > 0)
            store.add(run, result.__class__(**{**vars(result), "fault": f"{ODDEST}\r](x)"}))
        yield store, run


def test_csv_is_read_as_it_was_written(run):
    stream = io.StringIO(newline="")
    write_csv(*run, stream)
    rows = list(csv.DictReader(io.StringIO(stream.getvalue(), newline="")))
    assert len(rows) == 2
    assert {row["agent1"] for row in rows} | {row["agent2"] for row in rows} == {AGENT, "b"}
    assert {row["fault"] for row in rows} == {f"{ODDEST} ](x)"}
