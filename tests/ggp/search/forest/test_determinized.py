"""Determinized search: what is unknown is averaged over, by the probabilities of the states."""

import time

import ggp
from ggp.search.forest.determinized import DeterminizedSearch
from ggp.search.mcts.options import MctsOptions

BOXES = """
(role finder)
(role random)
(box left)
(box middle)
(box right)
(init (time hide))
(<= (base (time ?t)) (step ?t))
(step hide)
(step open)
(step done)
(<= (base (prize ?b)) (box ?b))
(<= (input random (put ?b)) (box ?b))
(<= (input finder (open ?b)) (box ?b))
(input ?r noop)
(<= (legal random (put ?b)) (true (time hide)) (box ?b))
(<= (legal finder noop) (true (time hide)))
(<= (legal finder (open ?b)) (true (time open)) (box ?b))
(<= (legal random noop) (true (time open)))
(<= (next (time open)) (true (time hide)))
(<= (next (time done)) (true (time open)))
(<= (next (prize ?b)) (does random (put ?b)))
(<= (next (won)) (does finder (open ?b)) (true (prize ?b)))
(base (won))
(<= (sees finder hidden) (true (time hide)))
(<= terminal (true (time done)))
(<= (goal finder 100) (true (won)))
(<= (goal finder 0) (not (true (won))))
(goal random 0)
"""


def states_of_boxes():
    """The game, and its states in which the prize is left, middle and right."""
    game = ggp.load(BOXES.replace("(input ?r noop)", "(<= (input ?r noop) (role ?r))"), name="boxes")
    noop = ggp.parse_term("noop")
    puts = [ggp.parse_term(f"(put {box})") for box in ("left", "middle", "right")]
    return game, [game.next_state(game.initial_state(), (noop, put)) for put in puts]


def test_moves_are_worth_their_probabilities():
    game, states = states_of_boxes()
    search = DeterminizedSearch(game, game.roles[0], seed=1, options=MctsOptions(is_solving=False))
    search.run(dict(zip(states, [0.25, 0.5, 0.25], strict=True)), simulations=2048)  # in 64 trees
    report = search.report()
    assert report.playouts == sum(move.visits for move in report.moves) == 2048
    assert [str(move.move) for move in report.moves] == ["(open middle)", "(open left)", "(open right)"]
    # Drawn evenly, 16, 32 and 16 trees know where the prize is.
    assert [move.mean for move in report.moves] == [50.0, 25.0, 25.0]
    assert str(search.best_move()) == "(open middle)"


def test_the_same_seed_finds_the_same():
    game, states = states_of_boxes()
    chances = dict(zip(states, [0.2, 0.3, 0.5], strict=True))
    reports = []
    for _ in range(2):
        search = DeterminizedSearch(game, game.roles[0], seed=5)
        search.run(chances, simulations=500)
        reports.append([(move.move, move.visits, move.mean) for move in search.report().moves])
    assert reports[0] == reports[1]


def test_search_by_the_clock_uses_all_threads_and_stops_when_told():
    game, states = states_of_boxes()
    options = MctsOptions(threads=2, is_solving=False)
    search = DeterminizedSearch(game, game.roles[0], options=options)
    search.run(dict.fromkeys(states, 1 / 3), deadline=time.monotonic() + 0.1)
    by_clock = search.simulation_count
    assert by_clock > 0
    assert search.report().playouts == by_clock
    search.run(dict.fromkeys(states, 1 / 3), is_stopped=lambda: True)
    assert search.simulation_count >= by_clock
