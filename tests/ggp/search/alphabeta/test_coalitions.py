"""How coalitions are written, and who plays for one."""

import pytest

from ggp.engines.loading import load
from ggp.game import RANDOM_ROLE
from ggp.match.player import MatchSetup, PlayerFaultError, PlayerSpecError
from ggp.players.factory import make_player, require_members
from ggp.solver.members import parse_coalition

LUCKY = "(role a) (role b) (role c) (role random) terminal (<= (legal ?r wait) (role ?r)) (goal a 0)"


@pytest.mark.parametrize("text", ["", "0", "4", "1+4", "1,2", "a", "-1", "9999999999999", "1+", "\u0661"])
def test_a_coalition_of_other_roles_or_of_chance_is_refused(text):
    game = load(LUCKY, "reasoner")
    assert game.roles[3] == RANDOM_ROLE
    with pytest.raises(ValueError, match=r"expected numbers joined by \+, of 1 a, 2 b, 3 c$"):
        parse_coalition(text, game.roles)
    assert parse_coalition("3+1", game.roles) == {0, 2}


def test_alphabeta_plays_for_the_coalition_it_is_told():
    """In the first of two roles' games both agree on the sum, which is no minimax."""
    rules = """
    (role a) (role b) (init start)
    (<= (legal a (take ?n)) (true start) (amount ?n)) (amount 1) (amount 2) (amount 3)
    (<= (legal b noop) (true start))
    (<= (next (taken ?n)) (does a (take ?n)))
    (<= terminal (not (true start)))
    (<= (goal a 60) (true (taken 1))) (<= (goal b 0) (true (taken 1)))
    (<= (goal a 40) (true (taken 2))) (<= (goal b 90) (true (taken 2)))
    (<= (goal a 0) (true (taken 3))) (<= (goal b 50) (true (taken 3)))
    """
    game = load(rules, "reasoner")
    for coalition, move in {"own": 1, "none": 1, "1+2": 2, "2": 1}.items():
        player = make_player(f"alphabeta:coalition={coalition}")
        player.start(MatchSetup("m", game, game.roles[0], 9, 9, 0), float("inf"))
        assert str(player.choose(game.initial_state(), float("inf"), None)) == f"(take {move})"
    player = make_player("alphabeta:coalition=3")
    with pytest.raises(PlayerFaultError, match="of 1 a, 2 b"):
        player.start(MatchSetup("m", game, game.roles[0], 9, 9, 0), float("inf"))
    with pytest.raises(PlayerSpecError, match="own, none or numbers"):
        make_player("alphabeta:coalition=both")
    with pytest.raises(PlayerSpecError, match="of 1 a, 2 b"):
        require_members("alphabeta:coalition=3", "take", game.roles)
