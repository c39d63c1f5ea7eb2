"""The code of agents: matches of a new version do not mix with those of the old one."""

from dataclasses import replace

import pytest

from ggp.tournament.agent_code import code_digest
from ggp.tournament.plan import Plan
from ggp.tournament.runner import Runner
from ggp.tournament.store import SettingsChangedError
from tests.ggp.tournament.plans import result_of, small_plan, tasks_of
from tests.ggp.tournament.test_runner import Inline

AGENT = """
import ggp
import {neighbor}

class Student(ggp.Player):
    def __init__(self, weights=None):
        super().__init__()

    def choose(self, state, deadline, joint_move):
        return self.legal_moves(state)[0]
"""


@pytest.fixture
def agent(tmp_path):
    """A spec of an agent in a folder of its own, whose module imports another that imports a third."""
    folder = tmp_path / "handed_in"
    folder.mkdir()
    (folder / "student.py").write_text(AGENT.format(neighbor="tactics_of_student"))
    (folder / "tactics_of_student.py").write_text("def order():\n    from values_of_student import VALUES\n")
    (folder / "values_of_student.py").write_text("VALUES = [1]\n")
    (folder / "notes.py").write_text("# not imported\n")
    return f"{folder}/student.py:Student"


def test_digest_covers_what_the_agent_imports_and_nothing_else(agent, tmp_path):
    folder = tmp_path / "handed_in"
    first = code_digest(agent)
    (folder / "notes.py").write_text("# changed\n")
    assert code_digest(agent) == first
    for name in ("values_of_student.py", "tactics_of_student.py", "student.py"):
        before = code_digest(agent)
        (folder / name).write_text((folder / name).read_text() + "\n# changed\n")
        assert code_digest(agent) != before


def test_digest_covers_whole_packages(tmp_path, monkeypatch):
    package = tmp_path / "lab_of_digests"
    (package / "inner").mkdir(parents=True)
    for place in ("__init__.py", "agents.py", "inner/__init__.py"):
        (package / place).write_text("")
    monkeypatch.chdir(tmp_path)
    before = code_digest("lab_of_digests.agents:Greedy:depth=3")
    assert before
    (package / "inner" / "__init__.py").write_text("DEPTH = 2\n")
    assert code_digest("lab_of_digests.agents:Greedy:depth=3") != before


@pytest.mark.parametrize(
    "spec", ["alphabeta:evaluation={}", "text:run {} --fast", "AGENT:weights={}", "alphabeta:book={},depth=3"]
)
def test_digest_covers_files_that_options_and_commands_name(agent, tmp_path, spec):
    weights = tmp_path / "weights.json"
    weights.write_text("[1]")
    spec = spec.format(weights).replace("AGENT", agent)
    before = code_digest(spec)
    weights.write_text("[2, 3]")
    assert before
    assert code_digest(spec) != before


@pytest.mark.parametrize("spec", ["mcts:c=40", "random", "http://localhost:1", "text:cat 'unclosed"])
def test_players_without_files_have_no_digest(spec):
    assert code_digest(spec) == ""


@pytest.fixture
def played(store, agent, tmp_path):
    """A store with one match of the agent, and its plan."""
    plan = small_plan(tmp_path, agents={"a": agent, "b": "legal"})
    store.add(store.begin(plan), result_of(tasks_of(plan)[0], [100, 0]))
    return store, plan


def change(tmp_path):
    (tmp_path / "handed_in" / "values_of_student.py").write_text("VALUES = [2, 3]\n")


def test_a_changed_agent_is_refused_under_its_old_name(played, agent, tmp_path):
    store, _ = played
    store.begin(small_plan(tmp_path, agents={"a": agent, "b": "legal"}, repetitions=9))
    change(tmp_path)
    changed = small_plan(tmp_path, agents={"a": agent, "b": "legal"})
    with pytest.raises(SettingsChangedError, match=r"(?s)files of agent a have changed .* another name"):
        store.begin(changed)
    assert store.begin(replace(changed, name="small-2")).name == "small-2"


def test_a_changed_agent_that_has_not_played_is_accepted(played, agent, tmp_path):
    store, _ = played
    other = tmp_path / "other.py"
    other.write_text(AGENT.format(neighbor="math"))
    agents = {"a": agent, "b": "legal", "c": f"{other}:Student"}
    store.begin(small_plan(tmp_path, agents=agents))
    other.write_text(other.read_text() + "# changed\n")
    assert store.begin(small_plan(tmp_path, agents=agents)).plan.agent("c").code


@pytest.mark.parametrize("tasks", [0, 1])
def test_a_run_ends_when_an_agent_is_changed_before_or_meanwhile(played, tmp_path, tasks):
    store, _ = played

    def script(task):
        change(tmp_path)
        return result_of(task, [100, 0])

    workers = Inline(script)
    if not tasks:
        change(tmp_path)
    with pytest.raises(SettingsChangedError, match="files of agent a have changed"):
        Runner(store, store.run(), workers).play()
    assert len(workers.tasks) == tasks


def test_runs_of_earlier_versions_without_digests_are_resumed(played, agent, tmp_path):
    store, plan = played
    text = plan.to_json().replace(f', "code": "{plan.agent("a").code}"', "").replace(', "code": ""', "")
    assert "code" not in text
    store._link.execute("update run set plan = ?", (text,))
    assert Plan.from_json(text).agent("a").code == ""
    store.begin(small_plan(tmp_path, agents={"a": agent, "b": "legal"}))
