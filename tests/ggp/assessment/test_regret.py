"""Regret: what moves give away in positions with known goals, from files that may be anything."""

import asyncio
import json
from statistics import fmean

import pytest
from click.testing import CliRunner

from ggp.assessment import regret
from ggp.assessment.asking import AssessmentTerms
from ggp.assessment.regret import (
    PositionsError,
    RegretPosition,
    RegretReport,
    measure_regret,
    read_positions,
    state_of,
)
from ggp.cli.main import app
from ggp.engines.loading import find_own_rules, load
from ggp.game import RANDOM_ROLE
from ggp.match.player import PlayerSpecError
from ggp.solver import save_solution, solve
from tests.ggp.wire import running_player

TERMS = AssessmentTerms(0.0, 60.0)
PILES = "nim"


@pytest.fixture(scope="module")
def positions():
    return read_positions()


def test_bundled_positions_are_many_and_of_many_kinds(positions):
    assert sum(map(len, positions.values())) >= 2000
    assert len(positions) >= 20
    assert {"goofspiel", "dicerace", "eightpuzzle", "othello", "pentago"} <= positions.keys()


@pytest.mark.parametrize(
    "name", ["tictactoe", "nim", pytest.param("goofspiel", marks=pytest.mark.slow), "dicerace", "eightpuzzle"]
)
def test_goals_of_bundled_positions_are_those_of_the_solver(name, positions):
    game = load(str(find_own_rules(name)), "lanes")
    solution = solve(game)
    for position in positions[name][:10]:
        state = state_of(game, position.facts)
        role = next(role for role in game.roles if str(role) == position.role)
        r = game.roles.index(role)
        value = solution.worth(state).values[r]
        assert max(position.goals.values()) == pytest.approx(value, abs=1e-4)
        others = [each for each in game.roles if each != role and len(game.legal_moves(state, each)) > 1]
        assert RANDOM_ROLE not in others
        if not others:
            best = {str(rated.move) for rated in solution.stage(state).best_moves[role]}
            kept = {move for move in position.goals if position.regret(move) < 1e-4}
            assert best == kept


def test_perfect_and_first_moves(positions, tmp_path):
    nim = {PILES: positions[PILES][:12]}
    save_solution(solve(load(str(find_own_rules(PILES)), "lanes")), tmp_path / "s")
    perfect = measure_regret(f"tablebase:file={tmp_path / 's'}", nim, TERMS)
    assert (perfect.total.mean, perfect.total.mistakes) == (0, 0)
    legal = measure_regret("legal", nim, TERMS)
    assert legal.total.mean == pytest.approx(fmean(each.regret(min(each.goals)) for each in nim[PILES]))
    assert legal.total.mistakes > 0
    assert legal.total.chance == pytest.approx(fmean(each.regret(None) for each in nim[PILES]))


def test_a_missing_move_counts_as_a_random_one(positions, tmp_path):
    (tmp_path / "wrong_agent.py").write_text(
        "import ggp\n\n\nclass Wrong(ggp.Player):\n"
        "    def choose(self, state, deadline, joint_move):\n        return ggp.parse_term('(dance)')\n"
    )
    report = measure_regret(f"{tmp_path / 'wrong_agent.py'}:Wrong", {PILES: positions[PILES][:3]}, TERMS)
    assert report.faults.illegal == 3
    assert report.total.mean == pytest.approx(report.total.chance)


@pytest.mark.slow
def test_http_players_are_asked_by_rules_that_begin_in_the_position(positions):
    nim = {PILES: positions[PILES][:2]}

    async def scenario():
        async with running_player() as server:
            url = f"http://127.0.0.1:{server.port}"
            return await asyncio.to_thread(measure_regret, url, nim, AssessmentTerms(30, 10))

    remote = asyncio.run(scenario())
    assert remote.faults.count == 0
    assert remote.games == measure_regret("legal", nim, TERMS).games


def test_an_interrupted_measurement_keeps_what_is_done(positions):
    report = RegretReport("legal", TERMS)

    def stop(number, total):
        assert total == 5
        if number == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        measure_regret("legal", {PILES: positions[PILES][:5]}, TERMS, report=report, listen=stop)
    assert len(report.total.regrets) == 3


def test_single_games_are_chosen_by_name(positions):
    assert read_positions(games=("nim", PILES), per_game=2) == {
        game: positions[game][:2] for game in positions if game in ("nim", PILES)
    }
    with pytest.raises(PositionsError, match=r"no positions of 'chess'; there are .*nim"):
        read_positions(games=("chess",))


def test_a_position_must_be_one_of_its_game(positions):
    for broken in (
        RegretPosition(PILES, "( (heap z 9) )", "first", {"a": 0, "b": 100}),
        RegretPosition(PILES, "( ) )", "first", {"a": 0, "b": 100}),
        RegretPosition(PILES, positions[PILES][0].facts, "first", {"a": 0, "b": 100}),
        RegretPosition(PILES, positions[PILES][0].facts, "nobody", positions[PILES][0].goals),
    ):
        with pytest.raises(PositionsError):
            measure_regret("legal", {PILES: [broken]}, TERMS)


def test_command_prints_a_table_or_json(monkeypatch, positions):
    some = {game: positions[game][:2] for game in (PILES, "tictactoe")}
    chosen = lambda count, games: {game: of_game[:count] for game, of_game in some.items()}  # noqa: E731
    monkeypatch.setattr(regret, "read_positions", chosen)
    common = ["assess", "legal", "--regret", "--start-clock", "0"]
    shown = CliRunner().invoke(app, common)
    assert shown.exit_code == 0, shown.output
    assert "tictactoe" in shown.output
    assert "all" in shown.output
    printed = CliRunner().invoke(app, [*common, "--json", "--count", "1"])
    assert [each["positions"] for each in json.loads(printed.stdout)["games"]] == [1, 1, 2]
    assert CliRunner().invoke(app, ["assess", "legal", "--count", "3"]).exit_code == 2
    assert CliRunner().invoke(app, ["assess", "legal", "--only", "nim"]).exit_code == 2


def test_an_unknown_player_is_refused():
    with pytest.raises(PlayerSpecError):
        measure_regret("nobody", {PILES: []}, TERMS)
