"""`ggp assess`: scores of perfect and of weak players, fault counts, and conformance."""

import asyncio
import json
import random

import pytest
from click.testing import CliRunner

from gdl.syntax.parser import parse_term
from ggp.assessment.asking import MIXTURE_ASKS, Answer, Asker, AssessmentTerms
from ggp.assessment.conformance import ConformanceTest, NoAnswerError
from ggp.assessment.positions import Choice, Mixture, Place, PlayOut, load_positions, rules_at
from ggp.assessment.score_card import assess, chance_loss, exploitability, longest_seconds, score
from ggp.cli.main import app
from ggp.match.faults import Late, Unreachable
from ggp.match.player import Player, PlayerFaultError
from ggp.players.factory import make_player
from ggp.protocol.messages import Play, Start
from tests.ggp.wire import running_player, scripted_player

TERMS = AssessmentTerms(start_clock_seconds=60, play_clock_seconds=60, engine="reasoner")
ROCK = Mixture(
    Place("rps", "simultaneous", "rockpaperscissors", "( fresh )", "left"),
    ("paper", "rock", "scissors"),
    ((50, 100, 0), (0, 50, 100), (100, 0, 50)),
    50.0,
)
POSITIONS = load_positions()


def first(kind):
    return next(position for position in POSITIONS if isinstance(position, kind))


class Scripted(Player):
    """A player that gives its answers in turn; exceptions among them are raised."""

    name = "scripted"

    def __init__(self, *answers, start=None):
        self.answers, self.at, self.start_fault, self.heard = answers, 0, start, []

    def start(self, setup, deadline):
        self.heard.append("start")
        super().start(setup, deadline)
        if self.start_fault:
            raise self.start_fault

    def choose(self, state, deadline, joint_move):
        self.heard.append(joint_move)
        answer = self.answers[min(self.at, len(self.answers) - 1)]
        self.at += 1
        if isinstance(answer, Exception):
            raise answer
        if callable(answer):
            answer = answer()
        return parse_term(answer)

    def stop(self, told):
        self.heard.append("stop")


def ask(position, player, clock=None):
    asker = Asker(lambda: player, TERMS, **({"clock": clock} if clock else {}))
    return asker.ask(position), asker


def test_a_right_and_a_wrong_choice():
    position = first(Choice)
    answer, asker = ask(position, Scripted(position.good_moves[0]))
    assert (score(answer).value, asker.faults.count) == (1, 0)
    assert score(Answer(position, ("(no such move)",), None, 0.0)).value == 0


def test_players_prepare_before_their_clock_starts():
    now = 0.0

    class Compiling(Scripted):
        def prepare(self, game):
            nonlocal now
            now += 60.0
            self.heard.append(("prepare", len(game.roles)))

    position = first(PlayOut)
    player = Compiling(*position.solution)
    answer, asker = ask(position, player, clock=lambda: now)
    assert player.heard[:3] == [("prepare", 1), "start", None]
    assert (asker.faults.count, answer.seconds) == (0, 0.0)


def test_illegal_late_and_missing_moves_are_faults():
    position, now = first(Choice), [0.0]

    def slow():
        now[0] += 2 * TERMS.play_clock_seconds
        return position.good_moves[0]

    for move, kind in (
        ("(dance)", "illegal"),
        (PlayerFaultError(Unreachable(), "gone"), "lost"),
        (slow, "late"),
    ):
        answer, asker = ask(position, Scripted(move), clock=lambda: now[0])
        assert (getattr(asker.faults, kind), asker.faults.count) == (1, 1)
        assert (answer.moves, score(answer).value) == ((None,), 0)


def test_a_failed_start_is_a_fault_but_the_move_counts():
    position = first(Choice)
    answer, asker = ask(position, Scripted(position.good_moves[0], start=PlayerFaultError(Late())))
    assert (asker.faults.start, asker.faults.count) == (1, 1)
    assert score(answer).value == 1


def test_puzzles_are_played_to_the_end():
    position = first(PlayOut)
    player = Scripted(*position.solution)
    answer, _ = ask(position, player)
    assert (answer.moves, answer.goal) == (position.solution, position.best_goal)
    assert score(answer).value == 1
    assert player.heard[:2] == ["start", None]
    assert [tuple(map(str, heard)) for heard in player.heard[2:-1]] == [(m,) for m in position.solution[:-1]]


def test_puzzles_end_at_the_move_limit():
    position = next(p for p in POSITIONS if isinstance(p, PlayOut) and p.place.game == "hanoi")
    answer, asker = ask(position, Scripted(PlayerFaultError(Late())))
    assert len(answer.moves) <= position.move_limit
    assert asker.faults.late == asker.move_count == len(answer.moves)
    assert score(answer).value < 1


@pytest.mark.parametrize(
    ("moves", "least", "most"),
    [
        (("rock",) * MIXTURE_ASKS, 0, 0.1),
        (("rock", "paper", "scissors") * 5 + ("rock",), 1, 1),
        (("rock",) * 15 + (None,), 0, 0),
    ],
)
def test_a_pure_strategy_is_exploitable(moves, least, most):
    assert least <= score(Answer(ROCK, moves, None, 0.0)).value <= most


def test_mixture_numbers():
    assert exploitability(ROCK, [1, 0, 0]) == 50
    assert exploitability(ROCK, [1, 1, 1]) == pytest.approx(0)
    assert 5 < chance_loss(ROCK, MIXTURE_ASKS) < 25


@pytest.mark.slow
def test_perfect_players_pass_mixtures_about_19_times_in_20():
    rng = random.Random(3)
    answers = (tuple(rng.choices(ROCK.moves, k=MIXTURE_ASKS)) for _ in range(60))
    assert sum(score(Answer(ROCK, moves, None, 0.0)).is_right for moves in answers) >= 53


def test_a_player_that_knows_everything_gets_full_marks():
    for position in POSITIONS:
        if not isinstance(position, Mixture) and position.place.game in ("tictactoe", "hanoi", "hex_4x4"):
            moves = position.good_moves if isinstance(position, Choice) else position.solution
            assert score(ask(position, Scripted(*moves))[0]).value == 1, position.place.id


def test_the_assessment_is_bounded():
    assert 60 < longest_seconds(POSITIONS, AssessmentTerms()) < 10 * 60
    assert longest_seconds([first(Choice), ROCK], AssessmentTerms(2.0, 3.0)) == (1 + MIXTURE_ASKS) * 5.0
    assert longest_seconds([first(PlayOut)], AssessmentTerms(2.0, 3.0)) == 2 + 3 * first(PlayOut).move_limit


def test_score_card_of_a_random_player():
    chosen = [p for p in POSITIONS if p.place.skill in ("tactics 1", "tactics 2")]
    heard = []
    card = assess("random", chosen, TERMS, listen=lambda *news: heard.append(news))
    assert card.skills == ["tactics 1", "tactics 2"]
    assert 0 < card.total < 100
    assert (card.faults.count, card.move_count, len(heard)) == (0, len(chosen), len(chosen))
    assert assess("random", chosen, TERMS).to_dict()["total"] == card.to_dict()["total"]
    search = assess("mcts:simulations=300,search=reference", chosen, TERMS)
    assert search.total > card.total + 25
    assert search.faults.count == 0


def test_command_prints_a_score_card_and_json():
    runner = CliRunner()
    options = ["--only", "tactics 1"]
    shown = runner.invoke(app, ["assess", "legal", *options])
    assert shown.exit_code == 0, shown.output
    assert "tactics 1" in shown.output
    card = json.loads(runner.invoke(app, ["assess", "legal", *options, "--json"]).output)
    assert card["skills"]["tactics 1"]["positions"] == len(card["positions"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nobody"], "unknown player 'nobody'"),
        (["random", "--only", "magic"], "unknown skill 'magic'"),
        (["http://127.0.0.1:1", "--only", "tactics 1"], "no connection"),
        (
            ["human", "--only", "tactics 1"],
            "unknown player 'human': expected mcts, alphabeta, solving, tablebase, uct, random, legal, text",
        ),
        (["random", "--play-clock", "nan"], "is not a number"),
        (["random", "--start-clock", "inf"], "at most a week"),
    ],
)
def test_command_reports_mistakes(arguments, words):
    result = CliRunner().invoke(app, ["assess", *arguments])
    assert result.exit_code == 2
    assert words in result.output


def test_a_player_that_cannot_search_the_game_makes_faults():
    position = first(Choice)
    asker = Asker(lambda: make_player("mcts:search=lanes"), TERMS)
    assert score(asker.ask(position)).value == 0
    assert (asker.faults.start, asker.faults.late) == (1, 1)
    assert "there is no search on lanes" in asker.faults.examples[0]


def test_sheets_in_the_current_folder_are_ignored(tmp_path, monkeypatch):
    before = rules_at(POSITIONS[0].place)
    (tmp_path / "games").mkdir()
    for name in ("tictactoe", POSITIONS[0].place.game):
        for place in (tmp_path / name, tmp_path / "games" / f"{name}.kif"):
            place.write_text("(role me)")
    monkeypatch.chdir(tmp_path)
    assert rules_at(POSITIONS[0].place) == before
    assert len(ConformanceTest("127.0.0.1:1").legal) == 9


# Conformance


def checks_of(player):
    """The checks of a player, a context manager with its address."""

    async def scenario():
        async with player as found:
            address = found[0] if isinstance(found, tuple) else f"127.0.0.1:{found.port}"
            return await ConformanceTest(address, 1, 1).run()

    return asyncio.run(scenario())


@pytest.mark.slow
def test_our_own_player_passes_every_conformance_check():
    checks = checks_of(running_player())
    assert len(checks) == 14
    assert [check for check in checks if not check.is_passed] == []


def test_failed_conformance_checks_are_reported():
    """A player that is never ready, plays nonsense, and knows neither STOP nor ABORT."""

    async def script(message):
        return "maybe" if isinstance(message, Start) else "(dance)" if isinstance(message, Play) else "what?"

    passed = {check.name: check.is_passed for check in checks_of(scripted_player(script))}
    assert passed["INFO"]
    assert not any(passed[name] for name in ("START", "first PLAY", "STOP", "ABORT", "another match"))


def test_silence_is_reported_and_bounded(monkeypatch):
    """A player that accepts messages and never replies."""

    async def script(message):
        await asyncio.sleep(60)
        return ""

    monkeypatch.setattr("ggp.assessment.conformance.SLACK_SECONDS", -0.9)
    monkeypatch.setattr("ggp.assessment.conformance.REPLY_SECONDS", 0.2)
    seen = {check.name: check.seen for check in checks_of(scripted_player(script))}
    assert "no reply" in seen["START"]
    assert "no reply" in seen["first PLAY"]


def test_unreachable_player_is_an_error():
    with pytest.raises(NoAnswerError, match="no connection"):
        asyncio.run(ConformanceTest("127.0.0.1:1").run())


@pytest.mark.slow
def test_an_http_player_is_assessed_like_a_local_one():
    chosen = [p for p in POSITIONS if p.place.skill == "tactics 1"][:2]

    async def scenario():
        async with running_player() as server:
            address = f"http://127.0.0.1:{server.port}"
            return await asyncio.to_thread(assess, address, chosen, AssessmentTerms(30, 10, "reasoner"))

    card = asyncio.run(scenario())
    local = assess("legal", chosen, TERMS)
    assert [each.answer.moves for each in card.scores] == [each.answer.moves for each in local.scores]
    assert card.faults.count == 0
    assert len(card.conformance) == 14
