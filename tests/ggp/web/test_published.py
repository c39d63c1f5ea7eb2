"""A tournament as pages without a server: results, agents, and matches that can be replayed."""

import json
import re
from html.parser import HTMLParser
from urllib.parse import unquote

import pytest

from ggp.match.faults import Illegal, Late
from ggp.match.record import MatchRecord, Step
from ggp.tournament.play import play_task
from ggp.tournament.schedule import Schedule
from ggp.tournament.store import Store
from ggp.web.published import write_pages
from tests.ggp.tournament.plans import result_of, small_plan

ODD = "<b>x\"'&<script>"
GRID = """
(role left) (role right) (init (cell 1 1 b)) (init (cell 1 2 b)) (init (cell 2 1 b)) (init (cell 2 2 b))
(init (control left)) (turn left right) (turn right left) (index 1) (index 2)
(<= (legal ?r (mark ?x ?y)) (true (cell ?x ?y b)) (true (control ?r)))
(<= (legal ?r noop) (turn ?r ?s) (true (control ?s)))
(<= (next (cell ?x ?y ?r)) (does ?r (mark ?x ?y)))
(<= (next (cell ?x ?y ?c)) (true (cell ?x ?y ?c)) (distinct ?c b))
(<= (next (cell ?x ?y b)) (true (cell ?x ?y b)) (does ?r (mark ?z ?w)) (distinct ?x ?z))
(<= (next (cell ?x ?y b)) (true (cell ?x ?y b)) (does ?r (mark ?z ?w)) (distinct ?y ?w))
(<= (next (control ?s)) (true (control ?r)) (turn ?r ?s))
(<= open (true (cell ?x ?y b)))
(<= terminal (not open))
(<= (goal left 100) (true (cell 1 1 left))) (<= (goal left 0) (not (true (cell 1 1 left))))
(<= (goal right 0) (true (cell 1 1 left))) (<= (goal right 100) (not (true (cell 1 1 left))))
"""


class Page(HTMLParser):
    """The elements of a page: tags, and what links and scripts refer to."""

    def __init__(self, path):
        super().__init__()
        self.tags, self.targets, self.text = [], [], ""
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.targets += [value for name, value in attributes if name in ("href", "src")]

    def handle_data(self, data):
        self.text += data


@pytest.fixture
def published(tmp_path):
    """The folder of the pages of a run of three agents, all matches played."""
    plan = small_plan(tmp_path, rules=GRID, agents={ODD: "legal", "b": "random", "c": "legal"}, name=ODD)
    with Store(tmp_path / "results.sqlite") as store:
        run = store.begin(plan)
        for _, task in Schedule(plan).tasks():
            store.add(run, play_task(task))
        assert write_pages(store, run, tmp_path / "out") == tmp_path / "out" / "index.html"
    return tmp_path / "out"


def data_of(path):
    text = re.search(r'id="match">(.*?)</script>', path.read_text(encoding="utf-8"), re.DOTALL)[1]
    return json.loads(text)


def test_every_link_leads_to_a_file_here(published):
    pages = sorted(published.glob("*.html"))
    assert len(pages) == 2 + 18
    for path in pages:
        for target in Page(path).targets:
            file = target.partition("#")[0]
            assert target == "data:," or (published / file).is_file(), (path.name, target)


def test_names_are_escaped_everywhere(published):
    for path in published.glob("*.html"):
        page = Page(path)
        assert "b" not in page.tags
        assert page.tags.count("script") <= 2
    assert ODD in Page(published / "index.html").text
    assert ODD in Page(published / "matches.html").text


def test_index_has_crosstable_and_ratings(published):
    page = Page(published / "index.html")
    assert all(title in page.text for title in ("Crosstable", "Ratings", "95 %"))
    pair = [unquote(target) for target in page.targets if target.startswith("matches.html#")]
    assert "matches.html#b c" in pair
    assert len(pair) == 6 + 3


def test_a_match_page_holds_every_board(published):
    data = data_of(published / "match-1.html")
    assert data["roles"] == ["left", "right"]
    assert len(data["steps"]) == 5
    board = data["steps"][0]["board"].split("\n")
    assert sum("data-cell" in line for line in board) == 4
    for step in data["steps"][1:]:
        changed = step["patches"]["board"]["at"]
        assert changed
        assert all("data-cell" in line for line in changed.values())
        for index, line in changed.items():
            board[int(index)] = line
    assert sum("left" in line or "right" in line for line in board) == 4
    assert "wins" in data["outcome"]


def test_scripts_are_plain_ones(published):
    for path in published.glob("*.js"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"^(export|import) ", text, re.MULTILINE)
    assert "function showState" in (published / "replay.js").read_text(encoding="utf-8")


def faulty(task):
    """A result whose record has faults of the second role."""
    result = result_of(task, [100, 0], late=1, illegal=2)
    record = MatchRecord.from_json(result.record)
    answers = [None, Illegal("</script><b>"), Late(), Illegal("</script><b>"), Illegal("\ud800")]
    record.steps = [
        Step(("1", "1") if number else (), "( start )", faults=(None, fault))
        for number, fault in enumerate(answers)
    ]
    object.__setattr__(result, "record", json.dumps(record.to_dict()))
    return result


def test_matches_have_the_reasons_of_faults(tmp_path):
    plan = small_plan(tmp_path, repetitions=1)
    with Store(tmp_path / "results.sqlite") as store:
        run = store.begin(plan)
        for _, task in Schedule(plan).tasks():
            store.add(run, faulty(task))
        write_pages(store, run, tmp_path / "out")
    text = Page(tmp_path / "out" / "matches.html").text
    assert "illegal move </script><b> at steps 1, 3" in text
    assert "time-out at step 2" in text
    assert "b" not in Page(tmp_path / "out" / "match-1.html").tags
    assert data_of(tmp_path / "out" / "match-1.html")["steps"][1]["faults"] == [
        "",
        "illegal move </script><b>",
    ]


def test_a_run_without_matches_and_a_broken_record_have_pages(tmp_path):
    plan = small_plan(tmp_path, repetitions=1)
    with Store(tmp_path / "results.sqlite") as store:
        run = store.begin(plan)
        write_pages(store, run, tmp_path / "none")
        assert "0 of 2 matches" in Page(tmp_path / "none" / "index.html").text
        for _, task in Schedule(plan).tasks():
            result = result_of(task, [50, 50])
            object.__setattr__(result, "record", result.record.replace("( start )", "( (p"))
            store.add(run, result)
        write_pages(store, run, tmp_path / "broken")
    assert data_of(tmp_path / "broken" / "match-1.html")["outcome"].startswith("state 0:")
