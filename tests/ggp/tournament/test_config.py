"""Tournament configuration: the resulting plans, and errors with their lines."""

from pathlib import Path

import pytest

from ggp.tournament.config import ConfigError, plan_from_data, read_config
from ggp.tournament.plan import Plan, changed_settings, player_spec
from tests.conftest import mostly_slow
from tests.ggp.tournament.plans import TRIO, small_plan

EXPERIMENTS = Path(__file__).parents[3] / "experiments"

GOOD = """\
name = "two-ways"
seed = 7
games = ["tictactoe", "nim"]
against = ["plain"]
repetitions = 4

[agents]
plain = "mcts"
wide = { player = "mcts", options = { c = 60 } }
few = "mcts:simulations=9"
lazy = "random"

[conditions.count]
simulations = 50

[conditions.time]
play_clock = 0.5
repetitions = 2

[until]
rule = "sprt"
elo1 = 50
"""


@pytest.fixture
def good(tmp_path):
    path = tmp_path / "good.toml"
    path.write_text(GOOD)
    return read_config(path)


def test_config_reads_everything(good):
    assert (good.name, good.seed) == ("two-ways", 7)
    assert [game.name for game in good.games] == ["tictactoe", "nim"]
    assert good.agent("wide").player == "mcts:c=60"
    count, time = good.conditions
    assert (count.repetitions, count.simulations, count.play_clock_seconds) == (4, 50, 3600)
    assert (time.repetitions, time.simulations) == (2, None)
    assert (time.play_clock_seconds, time.start_clock_seconds) == (0.5, 0.5)
    assert good.until.elo1 == 50


@pytest.mark.parametrize(
    "path", mostly_slow(sorted(EXPERIMENTS.glob("*.toml")), 3), ids=lambda path: path.stem
)
def test_published_comparisons_can_be_played(path, corpus_dir, monkeypatch):
    monkeypatch.setenv("GGP_CORPUS", str(corpus_dir))
    plan = read_config(path)
    assert plan.name == path.stem
    assert all(player_spec(agent, plan.games[0], plan.conditions[0]) for agent in plan.agents)


def test_simulations_and_threads_go_to_players_that_have_the_option_unset(good):
    count, time = (
        [player_spec(agent, good.games[0], condition) for agent in good.agents]
        for condition in good.conditions
    )
    assert count == ["mcts:simulations=50", "mcts:c=60,simulations=50", "mcts:simulations=9", "random"]
    assert time == ["mcts:threads=1", "mcts:c=60,threads=1", "mcts:simulations=9,threads=1", "random"]


def test_shared_options_go_to_players_that_have_them(tmp_path):
    own = {"player": "mcts", "options": {"ponder": True}}  # booleans are switches
    agents = {"a": "random", "b": own, "c": "mcts:c=10", "d": "http://localhost:1"}
    plan = small_plan(tmp_path, agents=agents, options={"c": 50, "ponder": False})
    specs = ["random", "mcts:ponder=on,c=50", "mcts:c=10,ponder=off", "http://localhost:1"]
    assert [agent.player for agent in plan.agents] == specs


def test_options_of_a_condition_go_to_players_that_do_not_set_them(tmp_path):
    agents = {"a": "random", "b": "mcts", "c": "mcts:c=10"}
    conditions = {
        "free": {"play_clock": 1},
        "bold": {"simulations": 9, "options": {"c": 50, "solver": "off"}},
    }
    plan = small_plan(tmp_path, agents=agents, conditions=conditions)
    free, bold = (
        [player_spec(agent, plan.games[0], condition) for agent in plan.agents]
        for condition in plan.conditions
    )
    assert free == ["random", "mcts:threads=1", "mcts:c=10,threads=1"]
    assert bold == ["random", "mcts:c=50,solver=off,simulations=9", "mcts:c=10,solver=off,simulations=9"]
    assert plan.settings()["condition bold"].endswith("simulations 9, c 50, solver off")
    assert Plan.from_json(plan.to_json()) == plan


def test_agents_of_ones_own_take_options(tmp_path):
    place = tmp_path / "agents.py"
    place.write_text(
        "from ggp.match.player import Player\n"
        "class Greedy(Player):\n    def __init__(self, depth=1):\n        super().__init__()\n"
    )
    agents = {"a": {"player": f"{place}:Greedy", "options": {"depth": 3}}, "b": f"{place}:Greedy"}
    plan = small_plan(tmp_path, agents=agents, options={"depth": 2})
    assert [agent.player for agent in plan.agents] == [f"{place}:Greedy:depth=3", f"{place}:Greedy:depth=2"]
    assert player_spec(plan.agents[0], plan.games[0], plan.conditions[0]) == f"{place}:Greedy:depth=3"


def test_simulations_of_a_game_override_those_of_the_condition(tmp_path):
    plan = plan_from_data(
        {"name": "x", "agents": {"m": "mcts"}, "games": {"hanoi": {"simulations": 5}}, "simulations": 50}
    )
    assert player_spec(plan.agents[0], plan.games[0], plan.conditions[0]) == "mcts:simulations=5"


def test_pairs_are_measured_against_the_baselines(good, tmp_path):
    assert Plan.from_json(good.to_json()) == good
    assert good.pairs() == [("wide", "plain"), ("few", "plain"), ("lazy", "plain")]
    plan = small_plan(tmp_path, agents={"a": "random", "b": "legal", "c": "mcts"}, against=["a", "b"])
    assert plan.pairs() == [("b", "a"), ("c", "a"), ("c", "b")]  # two baselines meet once


MISTAKES = [
    ('games = ["tictactoe", "nim"]', 'games = ["tictactoe", "chesss"]', 3, "chesss"),
    ("seed = 7", 'seed = "7"', 2, "seed must be an integer"),
    ("seed = 7", "sead = 7", 2, "unknown key 'sead'"),
    ('lazy = "random"', 'lazy = "rndom"', 11, "rndom"),
    ('lazy = "random"', 'lazy = "human"', 11, "'human' cannot"),
    ("{ c = 60 }", "{ d = 60 }", 9, "'d'"),
    ('wide = { player = "mcts",', 'wide = { plyer = "mcts",', 9, "plyer"),
    ("simulations = 50", "simulations = 0", 14, "at least 1"),
    ("play_clock = 0.5", "play_clock = 0", 17, "more than 0"),
    ("play_clock = 0.5", "play_clock = nan", 17, "more than 0"),
    ("play_clock = 0.5", "play_clock = inf", 17, "at most a week"),
    ("play_clock = 0.5", "start_clock = nan", 17, "at least 0"),
    ("elo1 = 50", "elo1 = nan", 22, "finite"),
    ('rule = "sprt"', 'rule = "spritz"', 21, "one of sprt, width"),
    ("elo1 = 50", "elo1 = -50", 22, "elo0 must be less than elo1"),
    ('against = ["plain"]', 'against = ["plane"]', 4, "unknown agent 'plane'"),
    ("seed = 7", "seed = 07", 2, ""),
    ("[until]", "[options]\nsolvre = 1\n[until]", 21, "for every agent: solvre"),
    ("play_clock = 0.5", "options = { solvre = 1 }", 17, "or set by all agents: solvre"),
    ("play_clock = 0.5", "options = 1", 17, "options must be a table"),
    ("seed = 7", "lineups = 0", 2, 'must be "pairs", "all" or a number of matches, not 0'),
    ("seed = 7", 'lineups = "some"', 2, "not 'some'"),
    ("seed = 7", "lineups = true", 2, "not True"),
]


@pytest.mark.parametrize(("old", "new", "line", "words"), MISTAKES)
def test_errors_include_their_line(tmp_path, old, new, line, words):
    assert GOOD.count(old) == 1
    path = tmp_path / "bad.toml"
    path.write_text(GOOD.replace(old, new))
    with pytest.raises(ConfigError) as caught:
        read_config(path)
    assert str(caught.value).startswith(f"{path}:{line}:")
    assert words in str(caught.value)


def test_sheets_of_the_same_name_are_an_error(tmp_path):
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
        small_plan(tmp_path / folder)
    both = ["x/small.kif", "y/small.kif"]
    config = {"name": "x", "agents": {"a": "random", "b": "legal"}}
    with pytest.raises(ConfigError, match="'small' appears twice in games; rename them") as caught:
        plan_from_data({**config, "games": both}, folder=tmp_path)
    assert caught.value.key == ("games",)
    named = {"one": {"rules": both[0]}, "two": {"rules": both[1]}}
    assert len(plan_from_data({**config, "games": named}, folder=tmp_path).games) == 2


@pytest.mark.parametrize("spec", ["alphabeta", "alphabeta:evaluation=mobility"])
def test_agents_that_do_not_count_simulations_need_a_clock(tmp_path, spec):
    agents = {"a": "random", "deep": spec}
    with pytest.raises(ConfigError, match="deep does not count simulations: condition default"):
        small_plan(tmp_path, agents=agents, simulations=10)
    small_plan(tmp_path, agents=agents, simulations=10, play_clock=2)
    small_plan(tmp_path, agents=agents, play_clock=3600)
    small_plan(tmp_path, agents=agents, conditions={"c": {"simulations": 10, "options": {"depth": 3}}})


@pytest.mark.parametrize("spec", ["alphabeta:depth=3", "alphabeta:nodes=500", "solving", "mcts", "legal"])
def test_agents_that_count_something_need_no_clock(tmp_path, spec):
    plan = small_plan(tmp_path, agents={"a": "random", "b": spec}, simulations=10)
    assert plan.conditions[0].play_clock_seconds == 3600


FAR = {"a": "random", "far": "http://localhost:9147", "b": "legal"}
MCTS = {"a": "mcts", "b": "mcts"}
BOLD = {"bold": {"simulations": 9, "options": {"c": 50}}}
CLASHES = [
    ({"agents": {"a": "random"}}, "needs 2 agents", ("games", "small")),
    ({"against": ["a", "a"]}, "'a' appears twice in against", ("against",)),
    ({"agents": FAR, "simulations": 10}, "default needs a play_clock", ("simulations",)),
    ({"agents": FAR, "rules": TRIO}, "several seats", ("games", "small")),
    (
        {"games": {"tictactoe": {"lineups": "all"}}},
        "tictactoe has only 2 roles for agents",
        ("games", "tictactoe", "lineups"),
    ),
    (
        {"agents": MCTS, "options": {"c": 10}, "conditions": BOLD},
        "or set by all agents: c",
        ("conditions", "bold", "options", "c"),
    ),
    ({"agents": 1}, "agents must be a table", ("agents",)),
]


@pytest.mark.parametrize(("changes", "words", "key"), CLASHES)
def test_parts_that_do_not_go_together_are_an_error(tmp_path, changes, words, key):
    with pytest.raises(ConfigError, match=words) as caught:
        small_plan(tmp_path, **changes)
    assert caught.value.key == key


def test_an_http_player_plays_by_the_clock_in_a_seat_of_its_own(tmp_path):
    plan = small_plan(tmp_path, agents=FAR, simulations=10, play_clock=2, rules=TRIO, lineups="all")
    assert (plan.conditions[0].play_clock_seconds, plan.lineups) == (2, "all")
    with pytest.raises(ConfigError, match="'agents' is missing"):
        plan_from_data({"name": "x", "games": ["tictactoe"]})


def test_rules_may_be_found_by_an_environment_variable(tmp_path, monkeypatch):
    small_plan(tmp_path)
    monkeypatch.setenv("RULES_HERE", str(tmp_path))
    config = {"name": "x", "agents": {"a": "random", "b": "legal"}}
    plan = plan_from_data({**config, "games": {"other": {"rules": "$RULES_HERE/small.kif"}}})
    assert plan.games[0].name == "other"
    assert "Both name a number" in plan.games[0].rules
    with pytest.raises(ConfigError, match="NOT_SET"):
        plan_from_data({**config, "games": {"other": {"rules": "$NOT_SET/small.kif"}}})


def test_changed_settings_are_listed(tmp_path):
    old = small_plan(tmp_path).settings()
    assert changed_settings(old, small_plan(tmp_path, repetitions=99).settings()) == []
    more = small_plan(tmp_path, agents={"a": "random", "b": "legal", "c": "mcts"}).settings()
    assert changed_settings(old, more) == []
    assert changed_settings(more, old) == ["agent c is gone"]
    other = small_plan(tmp_path, agents={"a": "random", "b": "mcts"}).settings()
    assert changed_settings(old, other) == ["agent b was 'legal', now is 'mcts'"]
    assert len(changed_settings(old, small_plan(tmp_path, seed=3, play_clock=2).settings())) == 2
    rules = small_plan(tmp_path, rules=TRIO).settings()
    assert [change.split()[:2] for change in changed_settings(old, rules)] == [["game", "small"]]
