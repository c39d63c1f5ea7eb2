"""Players of one's own: found by module or file, refused in one sentence, used by every command."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import ggp
from ggp.cli.main import app
from ggp.match.player import Player, PlayerSpecError
from ggp.player_server.match import SearchOptions
from ggp.player_server.server import PlayerOptions, check_options
from ggp.players.factory import make_player
from ggp.players.own import is_own_player
from ggp.tournament.config import plan_from_data
from tests.ggp.tournament.plans import ONE_SHOT
from tests.ggp.wire import post, running_player

AGENTS = '''
from dataclasses import dataclass

import ggp
import opening


class Last(ggp.Player):
    """Makes the last legal move."""

    name = "last"

    def choose(self, state, deadline, joint_move):
        return self.legal_moves(state)[opening.PLACE]


@dataclass
class Tuned(ggp.Player):
    depth: int = 1
    scale: float = 1.0
    is_eager: bool = False
    kind: str = "plain"

    def choose(self, state, deadline, joint_move):
        return self.legal_moves(state)[0]


class Broken(ggp.Player):
    def choose(self, state, deadline, joint_move):
        raise RuntimeError("a mistake of the author")


class Stranger:
    pass


not_a_class = 3
'''


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A current folder with agents.py, a module that it imports, and a rule sheet."""
    (tmp_path / "agents.py").write_text(AGENTS)
    (tmp_path / "opening.py").write_text("PLACE = -1\n")
    (tmp_path / "own_agents.py").write_text(AGENTS)
    (tmp_path / "small.kif").write_text(ONE_SHOT)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield tmp_path
    for name in ("agents", "own_agents", "opening"):
        sys.modules.pop(name, None)


def test_class_is_found_in_a_file_and_in_a_module(folder):
    for spec in ("agents.py:Last", f"{folder}/agents.py:Last", "own_agents:Last"):
        player = make_player(spec)
        assert isinstance(player, Player)
        assert player.name == "last"
    assert type(make_player("agents.py:Last")) is type(make_player(f"{folder}/agents.py:Last"))


def test_options_become_keyword_arguments(folder):
    player = make_player("agents.py:Tuned:depth=3,scale=0.5,is_eager=on,kind=odd")
    assert (player.depth, player.scale, player.is_eager, player.kind) == (3, 0.5, True, "odd")
    assert player.name == "Tuned"


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ("nowhere:Greedy", "there is no module nowhere"),
        ("own_agents.inner:Greedy", "there is no module own_agents.inner"),
        ("nowhere.py:Greedy", "there is no file"),
        ("agents.py:Greedy", "agents.py has no class Greedy"),
        ("agents.py:not_a_class", "agents.py has no class not_a_class"),
        ("agents.py:Stranger", "agents.py:Stranger is not a player: derive it from ggp.Player"),
        ("agents.py:Tuned:width=3", r"Tuned\(width=3\) failed: TypeError"),
        ("agents.py:Tuned:depth", "options are written option=value, not 'depth'"),
        ("agents.py:Tuned:depth=1,depth=2", "option 'depth' is given twice"),
        ("wrong.py:Last", "importing wrong.py failed: ZeroDivisionError: division by zero"),
        ("syntax.py:Last", "importing syntax.py failed: SyntaxError"),
        ("missing.py:Last", "importing missing.py failed: ModuleNotFoundError: No module named 'not_there'"),
    ],
)
def test_mistakes_are_told_in_one_sentence(folder, spec, told):
    (folder / "wrong.py").write_text("1 / 0\n")
    (folder / "syntax.py").write_text("class Last(\n")
    (folder / "missing.py").write_text("import not_there\n")
    with pytest.raises(PlayerSpecError, match=told) as caught:
        make_player(spec)
    assert str(caught.value).startswith(f"player {spec!r}: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "spec",
    ["mcts:c=3", "random", "http://127.0.0.1:9147", "agents.py:Last,c=3", "a:1b", "mcts:advisor=openings"],
)
def test_other_players_are_not_taken_for_classes(spec):
    assert not is_own_player(spec)


def test_file_never_replaces_a_module_of_the_same_name(folder):
    (folder / "random.py").write_text("import ggp\nclass Mine(ggp.Player):\n    pass\n")
    assert make_player("random.py:Mine").name == "Mine"
    import random

    assert hasattr(random, "Random")


def test_match_is_played_by_a_class_from_the_command_line(folder):
    arguments = "match small.kif agents.py:Last random --engine reasoner --record match.json --seed 1"
    result = CliRunner().invoke(app, arguments.split())
    assert result.exit_code == 0, result.output
    record = json.loads(Path("match.json").read_text())
    assert record["playerNamesFromHost"] == ["last", "random"]
    assert record["moves"][0][0] == "3"
    result = CliRunner().invoke(app, ["match", "small.kif", "agents.py:Lost", "random"])
    assert result.exit_code == 2
    assert "agents.py has no class Lost" in result.stderr


def test_tournament_is_played_by_a_class(folder):
    (folder / "t.toml").write_text(
        'engine = "reasoner"\nrepetitions = 1\n[games.small]\nrules = "small.kif"\n'
        '[agents]\nmine = "agents.py:Last"\nother = "legal"\n'
    )
    result = CliRunner().invoke(app, ["tournament", "t.toml", "--workers", "1"])
    assert result.exit_code == 0, result.output
    assert "2 of 2 matches; 0 faults" in result.output


def test_counted_conditions_take_classes_whatever_their_file_is_called(folder):
    (folder / "mcts_agents.py").write_text(AGENTS)
    agents, games = {"mine": "mcts_agents.py:Last", "other": "legal"}, {"small": {"rules": "small.kif"}}
    plan = plan_from_data({"name": "small", "agents": agents, "games": games, "simulations": 10})
    assert [agent.player for agent in plan.agents] == ["mcts_agents.py:Last", "legal"]


@pytest.mark.slow
def test_http_player_plays_by_a_class(folder):
    check_options(PlayerOptions(search=SearchOptions(agent="agents.py:Last")))
    with pytest.raises(PlayerSpecError, match="no class Lost"):
        check_options(PlayerOptions(search=SearchOptions(agent="agents.py:Lost")))

    async def scenario(agent):
        async with running_player(search=SearchOptions(agent=agent, engine="reasoner")) as server:
            assert await post(server.port, f"( START m left ({ONE_SHOT}) 20 10 )") == "ready"
            return await post(server.port, "( PLAY m NIL )")

    assert asyncio.run(scenario("agents.py:Last")) == "3"
    assert asyncio.run(scenario("agents.py:Broken")) in ("1", "2", "3")


def test_class_is_given_to_play_match_as_an_object():
    class First(ggp.Player):
        def choose(self, state, deadline, joint_move):
            return self.legal_moves(state)[0]

    game = ggp.load(ONE_SHOT, engine="reasoner")
    record = ggp.play_match(game, [First(), ggp.make_player("legal")])
    assert record.player_names == ("First", "legal")
    assert record.goals == [50, 50]
