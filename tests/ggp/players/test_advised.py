"""`AdvisedPlayer`: order, fallback, who leads, pondering, and the change to another circuit."""

import time

import pytest

from ggp.match import faults
from ggp.match.player import MatchSetup, PlayerFaultError
from ggp.players.advised import AdvisedPlayer, Traits
from ggp.players.advisors.advisor import Advisor
from ggp.search.protocol import Advice
from ggp.search.report import MoveReport, SearchReport
from tests.ggp.fakes import NOOP, Nim
from tests.ggp.players.test_players import take

HOUR = 3600.0


class Fixed(Advisor):
    """Advises one move; notes what it was asked."""

    def __init__(self, heap=None, *, is_final=False, expects=None, leads=False, starts=True):
        self.move = None if heap is None else take(heap)
        self.is_final, self.expects, self.leads, self.starts = is_final, expects, leads, starts
        self.events, self.budgets, self.advice = [], [], []

    def start(self, setup, budget):
        self.events.append("start")
        self.budgets.append(budget)
        return self.starts

    def follow(self, position):
        self.events.append(f"follow {position.state}")

    def advise(self, position, budget):
        self.events.append("advise")
        self.budgets.append(budget)
        self.advice.append(position.advice)
        if self.move is None:
            return None
        report = None
        if self.expects is not None:
            report = SearchReport(moves=(MoveReport(self.move, 1, self.expects, None),))
        return Advice(self.move, report, self.is_final)

    def ponder(self, budget):
        self.events.append("ponder")

    def take_over(self, earlier):
        self.events.append("take over")

    def stop(self):
        self.events.append("stop")


class Listed:
    """The row of a list of advisors."""

    def __init__(self, *teams):
        self.teams = list(teams)

    def advisors(self, game, player):
        return self.teams.pop(0)

    def prepare(self, game, player):
        """Has nothing to compile."""

    def tuned(self, game):
        return ""


def playing(*teams, heap=10, traits=None):
    game = Nim(heap)
    player = AdvisedPlayer("test", Listed(*teams), traits or Traits())
    player.start(MatchSetup("m", game, game.roles[0], 1.0, 1.0, 1), time.monotonic() + 1)
    return player


def move_of(player, state=(10, 0), seconds=HOUR, joint_move=None):
    return player.choose(state, time.monotonic() + seconds, joint_move)


def test_final_advice_ends_the_asking():
    first, second, third = team = Fixed(1), Fixed(2, is_final=True), Fixed(3)
    player = playing(team)
    assert move_of(player) == take(2)
    assert ("advise" in first.events, "advise" in third.events) == (True, False)
    assert second.advice == [Advice(take(1))]


@pytest.mark.parametrize(
    ("expected", "chosen"), [((None, None), 2), ((60.0, 40.0), 1), ((40.0, 60.0), 2), ((50.0, 50.0), 2)]
)
def test_of_other_advice_the_one_that_expects_more_counts(expected, chosen):
    team = [Fixed(1, expects=expected[0]), Fixed(2, expects=expected[1]), Fixed()]
    assert move_of(playing(team)) == take(chosen)


def test_without_legal_advice_the_first_legal_move_is_made(caplog):
    assert move_of(playing([Fixed()])) == take(1)
    player = playing([Fixed(7, is_final=True), Fixed(starts=False)])
    assert move_of(player) == take(1)
    assert player.last_report is None
    assert "which is not legal" in caplog.text


def test_a_player_whose_start_failed_is_at_fault_in_every_move():
    class Late(Fixed):
        def start(self, setup, budget):
            raise PlayerFaultError(faults.Late(), "not for this game")

    game = Nim(10)
    player = AdvisedPlayer("test", Listed([Late(1), Fixed(2)]), Traits())
    with pytest.raises(PlayerFaultError, match="not for this game"):
        player.start(MatchSetup("m", game, game.roles[0], 1.0, 1.0, 1), time.monotonic() + 1)
    with pytest.raises(PlayerFaultError, match="test is not ready for this match"):
        move_of(player)


def test_nobody_is_asked_about_forced_moves_but_all_follow():
    (advisor,) = team = [Fixed(1)]
    player = playing(team)
    assert move_of(player, (9, 1), joint_move=(take(1), NOOP)) == NOOP
    assert advisor.events == ["start", "follow (10, 0)", "follow (9, 1)"]


def test_advisors_after_a_leading_one_begin_when_it_fails():
    leading, other = team = [Fixed(1, is_final=True, leads=True), Fixed(2)]
    player = playing(team)
    assert move_of(player) == take(1)
    player.ponder(lambda: False, time.monotonic())
    assert other.events == []
    leading.move = None
    assert move_of(player) == take(2)
    assert other.events == ["start", "follow (10, 0)", "advise"]
    assert other.budgets[0].is_over()
    player.ponder(lambda: False, time.monotonic())
    assert "ponder" not in other.events
    leading.leads = False
    player.ponder(lambda: False, time.monotonic())
    assert other.events[-1] == "ponder"


def test_the_margin_is_at_most_half_of_the_clock():
    for margin, left in ((2.0, 8.0), (100.0, 5.0)):
        (advisor,) = team = [Fixed(1)]
        move_of(playing(team, traits=Traits(margin_seconds=margin, simulations=7)), seconds=10.0)
        budget = advisor.budgets[-1]
        assert budget.deadline - time.monotonic() == pytest.approx(left, abs=0.5)
        assert budget.simulations == 7


def test_pondering_follows_the_own_move():
    (advisor,) = team = [Fixed(3)]
    player = playing(team)
    move_of(player)
    player.ponder(lambda: False, time.monotonic())
    assert advisor.events[-2:] == ["follow (7, 1)", "ponder"]


def test_nothing_is_pondered_before_the_first_move_without_a_head_start():
    (advisor,) = team = [Fixed(3)]
    player = playing(team, traits=Traits(has_head_start=False))
    player.ponder(lambda: False, time.monotonic())
    assert "ponder" not in advisor.events
    move_of(player)
    player.ponder(lambda: False, time.monotonic())
    assert "ponder" in advisor.events


@pytest.mark.parametrize("is_prepared", [True, False])
def test_changing_the_game_swaps_the_advisors(is_prepared):
    (old,), (new,) = teams = [Fixed(1)], [Fixed(2)]
    old.simulation_count, new.simulation_count = 30, 4
    player, finished = playing(*teams), Nim(10)
    if is_prepared:
        player.prepare_change(finished)
        assert new.events == ["start", "follow (10, 0)"]
        assert move_of(player) == take(1)
    player.change_game(finished)
    assert player.setup.game is finished
    assert (new.events[-1], old.events[-1]) == ("take over", "stop")
    assert new.budgets[0].seconds_left() == -float("inf")
    assert move_of(player) == take(2)
    player.stop(None)
    assert (new.events[-1], player.simulation_count) == ("stop", 34)
