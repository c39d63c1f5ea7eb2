"""What the front page knows of the bundled games, who wins small ones, and records that are kept."""

import pytest

from ggp.engines.loading import load
from ggp.match.record import MatchRecord
from ggp.web.catalog import featured_scenes, known_games
from ggp.web.conclusion import conclude
from ggp.web.kept_matches import MAX_MATCHES, KeptMatches
from ggp.web.server import STATIC, read_rules
from ggp.web.sheet_process import scene


def test_titles_are_short_and_sizes_tell_the_sheets_of_a_family_apart():
    games = known_games()
    assert max(len(game["short"]) for game in games) <= 30
    labels = [(game["family"], game["size"]) for game in games]
    assert len(set(labels)) == len(labels)
    assert sum(game["featured"] is not None for game in games) == 8


@pytest.mark.parametrize("name", featured_scenes())
def test_scene_shows_the_middle_of_a_match(name):
    view = scene(read_rules(name), featured_scenes()[name])
    assert view["board"]
    assert view["board"] != scene(read_rules(name), [])["board"]


def test_boxes_in_a_scene_belong_to_those_who_closed_them():
    board = scene(read_rules("dotsandboxes"), featured_scenes()["dotsandboxes"])["board"]
    assert board.count('class="box owned') == board.count('class="box') > 0


def test_scene_without_moves_is_of_a_random_match():
    assert scene(read_rules("tictactoe"))["board"].count(" full") > 1


@pytest.mark.parametrize(("columns", "expected"), [(4, "White wins for certain"), (3, "A draw for certain")])
def test_small_game_of_the_workbench_is_concluded_with_a_match(columns, expected):
    text = (STATIC / "small.kif").read_text(encoding="utf-8")
    text = text if columns == 4 else text.replace("(column 3) (column 4)", "(column 3)")
    found = conclude(text)
    assert found["sentence"] == expected
    record = MatchRecord.from_json(found["record"])
    assert record.is_completed
    assert record.goals == ([100, 0] if columns == 4 else [50, 50])


@pytest.mark.parametrize("name", ["kuhn_poker", "connectfour"])
def test_games_too_large_or_hidden_are_not_concluded(name, monkeypatch):
    monkeypatch.setattr("ggp.web.conclusion._STATES", 1000)
    found = conclude(read_rules(name))
    assert (found["sentence"], found["record"]) == ("Not proven", None)
    assert found["detail"].endswith(".")


def test_endless_game_is_not_concluded_in_words_of_the_page():
    endless = "(role a) (init (n z)) (legal a go) (<= (next (n (s ?x))) (true (n ?x))) (goal a 0)"
    found = conclude(f"{endless} (<= terminal (true (n end)))")
    assert found["detail"] == "The game is too large or endless to be proven."


def test_only_names_of_matches_reach_files(tmp_path):
    kept = KeptMatches(tmp_path / "matches")
    (tmp_path / "secret.json").write_text("secret")
    kept.keep("abcdefgh1234", "{}")
    assert kept.text("abcdefgh1234") == "{}"
    for name in ("../secret", "..%2Fsecret", "", "a" * 50, "abc/defgh", "unknown-name"):
        kept.keep(name, "{}") if name != "unknown-name" else None
        assert kept.text(name) is None
    assert [path.name for path in (tmp_path / "matches").iterdir()] == ["abcdefgh1234.json"]
    for number in range(MAX_MATCHES + 3):
        kept.keep(f"match{number:07}", "{}")
    assert len(list((tmp_path / "matches").iterdir())) == MAX_MATCHES
    kept.forget(f"match{MAX_MATCHES:07}")
    assert len(list((tmp_path / "matches").iterdir())) == MAX_MATCHES - 1
    kept.keep("damaged-match", '{"summary": {}}')
    kept.keep("match-on-hold", '{"summary": {"step": 3, "seats": {}}}')
    assert kept.going_on(2) == {"match-on-hold": {"step": 3, "seats": {}}}
    assert (KeptMatches(None).text("abcdefgh1234"), KeptMatches(None).going_on(2)) == (None, {})


@pytest.mark.parametrize("game", known_games(), ids=lambda game: game["name"])
def test_roles_in_the_comment_are_those_of_the_rules(game):
    roles = [str(role) for role in load(read_rules(game["name"]), engine="reasoner", name="sheet").roles]
    assert game["roles"] in ("", ", ".join(roles))
