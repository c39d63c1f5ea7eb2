"""OpenSpiel's own checks, its algorithms on our games, and playthroughs."""

import numpy as np
import pytest

pyspiel = pytest.importorskip(
    "pyspiel", reason="open_spiel is not installed: pip install 'ggp-lanes[openspiel]'"
)

import ggp.env.openspiel  # noqa: E402, F401
from tests.conftest import ROOT, mostly_slow  # noqa: E402

SHEETS = ["tictactoe", "connectfour_3p", "othello_4x4", "rockpaperscissors", "goofspiel", "tron", "morra"]
SHEETS += ["dicerace", "kuhn_poker", "eightpuzzle"]


def load(name, max_steps=200):
    return pyspiel.load_game(f"ggp(rules={name},max_steps={max_steps})")


@pytest.mark.parametrize("name", mostly_slow(SHEETS, 6))
def test_games_pass_the_random_simulation_test(name):
    pyspiel.random_sim_test(load(name, 60), 3, True, False)


@pytest.mark.parametrize("name", mostly_slow(["tictactoe", "kuhn_poker", "goofspiel"], 3, first=1))
def test_playthroughs_can_be_repeated(name):
    generate = pytest.importorskip("open_spiel.python.algorithms.generate_playthrough")
    text = f"ggp(rules={name},max_steps=200)"
    one, two = (generate.playthrough(text, None, seed=3) for _ in range(2))
    assert one == two
    assert "Terminal? True" in one or "IsTerminal() = True" in one


def test_a_game_says_what_kind_it_is():
    kinds = pyspiel.GameType
    poker, bids, dice = (load(name).get_type() for name in ("kuhn_poker", "goofspiel", "dicerace"))
    assert poker.information == kinds.Information.IMPERFECT_INFORMATION
    assert poker.chance_mode == kinds.ChanceMode.EXPLICIT_STOCHASTIC
    assert poker.utility == kinds.Utility.ZERO_SUM
    assert bids.dynamics == kinds.Dynamics.SIMULTANEOUS
    assert dice.information == kinds.Information.PERFECT_INFORMATION
    assert load("eightpuzzle").num_players() == 1
    assert load("connectfour_3p").num_players() == 3


def test_rules_can_be_a_file(tmp_path):
    path = tmp_path / "heaps.kif"
    path.write_text((ROOT / "games" / "nim.kif").read_text(encoding="utf-8"), encoding="utf-8")
    assert pyspiel.load_game(f"ggp(rules={path})").num_players() == 2


def test_kuhn_poker_is_theirs():
    """As many information sets as OpenSpiel's own Kuhn poker; values are half of theirs."""
    policy = pytest.importorskip("open_spiel.python.policy")
    ours, theirs = load("kuhn_poker"), pyspiel.load_game("kuhn_poker")
    sets = [len(policy.TabularPolicy(game).states_per_player[0]) for game in (ours, theirs)]
    assert sets == [6, 6]
    assert (ours.max_utility(), theirs.max_utility()) == (1, 2)


def test_cfr_solves_kuhn_poker():
    cfr = pytest.importorskip("open_spiel.python.algorithms.cfr")
    from open_spiel.python.algorithms import expected_game_score, exploitability

    game = load("kuhn_poker")
    solver = cfr.CFRPlusSolver(game)
    for _ in range(60):
        solver.evaluate_and_update_policy()
    average = solver.average_policy()
    value = expected_game_score.policy_value(game.new_initial_state(), [average] * 2)
    assert value[0] == pytest.approx(-1 / 36, abs=0.002)  # -1/18 of the stakes, goals being 50 + 25 v
    assert exploitability.exploitability(game, average) < 0.01


def test_mcts_of_openspiel_plays_breakthrough():
    mcts = pytest.importorskip("open_spiel.python.algorithms.mcts")
    game = load("breakthrough_4x4")
    rng = np.random.RandomState(0)
    wins = 0
    for seat in (0, 1):
        state = game.new_initial_state()
        bot = mcts.MCTSBot(game, 1.4, 30, mcts.RandomRolloutEvaluator(1, rng), solve=True, random_state=rng)
        while not state.is_terminal():
            legal = state.legal_actions()
            state.apply_action(bot.step(state) if state.current_player() == seat else rng.choice(legal))
        wins += state.returns()[seat] > 0
    assert wins >= 1


def test_tensors_show_what_an_agent_knows():
    game = load("kuhn_poker")
    state = game.new_initial_state()
    assert state.is_chance_node()
    assert [round(p * 6) for _, p in state.chance_outcomes()] == [1] * 6
    views = [set(), set()]
    for action, _ in state.chance_outcomes():
        child = state.child(action)
        for player in (0, 1):
            views[player].add(tuple(child.observation_tensor(player)))
    assert [len(each) for each in views] == [3, 3]


def test_what_is_not_there_is_an_error():
    state = load("kuhn_poker").new_initial_state()
    state.apply_action(state.legal_actions()[0])
    with pytest.raises((ValueError, RuntimeError), match="use information_state_string"):
        state.information_state_tensor(0)
    assert state.information_state_string(0)
    assert sum(state.observation_tensor(0)) > 0


@pytest.mark.parametrize("action", [-1, -2, -3, 99, 2**40])
def test_numbers_outside_the_actions_are_refused(action):
    state = load("tictactoe").new_initial_state()
    with pytest.raises((ValueError, RuntimeError), match=r"action is at (least 0|most 9)|kInvalidAction"):
        state.apply_action(action)
    assert len(state.legal_actions()) == 9
    state.apply_action(state.legal_actions()[0])
    with pytest.raises(Exception, match="is not legal for"):
        state.apply_action(0)


def test_actions_that_no_one_waits_for_are_refused():
    dilemma = load("prisoners_dilemma").new_initial_state()
    for actions in ([0], [0, 1, 0]):
        with pytest.raises((ValueError, RuntimeError), match="2 actions where all agents act"):
            dilemma.apply_actions(actions)
    with pytest.raises((ValueError, RuntimeError), match="all agents act here"):
        dilemma.apply_action(0)
    with pytest.raises((ValueError, RuntimeError), match="not a chance node"):
        dilemma.chance_outcomes()
    dilemma.apply_actions([0, 1])
    with pytest.raises((ValueError, RuntimeError), match="the game is over"):
        dilemma.apply_action(0)
