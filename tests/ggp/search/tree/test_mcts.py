"""The search on lanes: its limits, its trees, and what it says. Its moves: see `test_golden`."""

import itertools
import json
from dataclasses import replace

import numpy as np
import pytest

from gdl.syntax.parser import parse_term
from ggp.cli.bench import command
from ggp.engines.loading import load
from ggp.search.budget import NO_LIMIT, Budget
from ggp.search.tree.options import MctsOptions, OptionError, default_options, parse_options
from ggp.search.tree.reference.search import Search
from ggp.search.tree.search import LanesSearch
from tests.conftest import mostly_slow
from tests.ggp.search.tree.golden import compiled, in_flight, one_lane

SMALL = MctsOptions(memory_mebibytes=32, words=1)


def search_of(name, role=0, seed=0, options=SMALL, **changes):
    game = compiled(name)
    search = LanesSearch(game, game.roles[role], seed=seed, options=replace(options, **changes))
    search.move_to(game.initial_state(), None)
    return search


def statistics(search):
    edges = [engine.root_edges(0) for engine in search.engines]
    return [list(zip(*(column.tolist() for column in each[:3]), strict=True)) for each in edges]


def state_after(game, *moves):
    """The state after these moves, each of the only role with a choice."""
    state = game.initial_state()
    for text in moves:
        joint_move = (
            parse_term(text) if len(legal) > 1 else legal[0]
            for legal in (game.legal_moves(state, role) for role in game.roles)
        )
        state = game.next_state(state, tuple(joint_move))
    return state


@pytest.mark.parametrize("policy", ["uniform", "mast", "to-mast", "past", "rave+mast"])
@pytest.mark.parametrize("group", mostly_slow([4, 1], 2))
@pytest.mark.parametrize("words", mostly_slow([1, 8], 2))
def test_search_plays_exactly_as_many_simulations_as_asked(policy, group, words):
    search = search_of("connectfour_4x4", policy=policy, lanes_per_leaf=group, leaf_growth=0, words=words)
    assert search.run(Budget(simulations=1003)) == 1003
    assert sum(visits for _, visits, _ in statistics(search)[0]) == 1003
    assert search.report().playouts == 1003


@pytest.mark.parametrize("options", [{}, {"ramp": 0}, {"lanes_per_leaf": 1}], ids=str)
def test_search_keeps_consistent_statistics(options):
    search = search_of("tictactoe", **options)
    search.run(Budget(simulations=3000))
    engine = search.engines[0]
    tree = engine.tree
    assert not in_flight(engine).any()
    for node in range(engine.node_count):
        sums = [sum(int(tree.visits[e]) for e in engine.edges_of(node, role)) for role in (0, 1)]
        assert sums[0] == sums[1]
    visits = tree.visits[: engine.edge_count]
    totals = tree.total[: engine.edge_count]
    assert ((totals >= 0) & (totals <= 100 * visits)).all()


@pytest.mark.parametrize("policy", ["uniform", "rave+mast"])
def test_search_is_reproducible(policy):
    def run(seed):
        search = search_of("connectfour_4x4", seed=seed, policy=policy)
        search.run(Budget(simulations=2000))
        return statistics(search)

    assert run(7) == run(7)
    assert run(7) != run(8)


def test_search_does_not_depend_on_how_it_is_sliced():
    whole, parts = search_of("connectfour_4x4"), search_of("connectfour_4x4")
    whole.run(Budget(simulations=1500))
    parts.engines[0].begin(1500)
    for ticks in itertools.cycle((1, 2, 7)):
        if parts.engines[0].run(ticks):
            break
    assert statistics(whole) == statistics(parts)


def test_untried_moves_of_the_root_are_tried_at_the_same_time():
    search = search_of("breakthrough_small", ramp=1000, lanes_per_leaf=1)
    engine = search.engines[0]
    engine.begin(500)
    engine.run(3)
    edges = engine.edges_of(0, 0)
    assert len(edges) > 2
    assert [int(engine.tree.started[e]) for e in edges] == [1] * len(edges)


def test_search_never_has_more_in_flight_than_the_ramp_allows():
    (engine,) = search_of("connectfour_4x4", ramp=4, lanes_per_leaf=2, leaf_growth=50).engines
    engine.begin(500)
    while not engine.run(1):
        flight = in_flight(engine)[engine.edges_of(0, 0)].sum()
        untried = len(engine.edges_of(0, 0)) - engine.simulation_count
        assert flight <= max(1, engine.simulation_count // 4, untried)


@pytest.mark.parametrize(("fill", "last"), [(0.0, 0.0), (0.2, 1.0)])
def test_share_of_lanes_in_flight_grows_with_the_time_that_passes(fill, last):
    """The clock moves by a second whenever it is read."""
    search = search_of("connectfour", fill=fill)
    search._clock = map(float, itertools.count()).__next__
    engine, shares = search.engines[0], []
    engine.allow_in_flight = shares.append
    search.run(Budget(100.0))
    assert shares[0] < 0.2
    assert shares == sorted(shares)
    assert shares[-1] == last


def test_lanes_allowed_in_flight_need_no_visits():
    search = search_of("connectfour", words=1)
    engine = search.engines[0]
    engine.begin(500)
    engine.allow_in_flight(0.5)
    engine.run(4)
    assert engine.simulation_count == 0
    assert in_flight(engine)[engine.edges_of(0, 0)].sum() == 32


@pytest.mark.parametrize(
    ("cells", "goal"),
    [
        # x has two corners across and may take the center.
        (["1 1", "1 2", "3 3", "2 1"], 100),
        # Three cells are left and no line is open to either side.
        (["2 2", "1 1", "1 3", "3 1", "2 1", "2 3"], 50),
    ],
    ids=["win", "draw"],
)
def test_solver_proves_what_it_can_and_stops(cells, goal):
    search = search_of("tictactoe", is_solving=True)
    search.move_to(state_after(search.game, *(f"(mark {cell})" for cell in cells)), None)
    assert search.run(Budget(simulations=50_000)) < 50_000
    report = search.report()
    assert report.goal == goal
    assert next(move.goal for move in report.moves if move.move == search.best_move()) == goal


STOP_OR_GO = """
(role a) (role b) (init (at 0)) (succ 0 1) (succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5) (succ 5 6)
(legal b noop) (<= (legal a stop) (true (at 0))) (<= (legal a left) (not (true stopped)))
(<= (legal a right) (not (true (at 0))) (not (true stopped))) (<= (legal a noop) (true stopped))
(<= (next stopped) (does a stop)) (<= (next (at ?m)) (true (at ?n)) (succ ?n ?m) (not (does a stop)))
(<= (next strayed) (does a left) (not (true (at 0)))) (<= (next strayed) (true strayed))
(<= terminal (true stopped)) (<= terminal (true (at 6)))
(<= won (true (at 6)) (not (true strayed)))
(<= (goal ?r 50) (role ?r) (true stopped)) (<= (goal a 100) won) (<= (goal b 0) won)
(<= (goal a 0) (not won) (not (true stopped))) (<= (goal b 100) (not won) (not (true stopped)))
"""


@pytest.mark.parametrize("kind", [LanesSearch, Search])
def test_a_proven_draw_takes_no_visits_from_a_move_that_may_win(kind):
    """One of 32 lines behind the other move wins."""
    game = load(STOP_OR_GO, "lanes")
    search = kind(game, game.roles[0], seed=1, options=one_lane(is_solving=True))
    search.move_to(game.initial_state(), None)
    search.run(Budget(simulations=300))
    moves = {str(move.move): move for move in search.report().moves}
    assert moves["stop"].goal == 50
    assert moves["stop"].visits < 5
    assert str(search.best_move()) == "left"


def test_solver_proves_nothing_where_both_move_at_once():
    search = search_of("rockpaperscissors", is_solving=True)
    search.run(Budget(simulations=3000))
    assert search.report().goal is None


@pytest.mark.parametrize(
    "options",
    [{}, {"policy": "rave"}, {"leaf_growth": 0}],
    ids=str,
)
def test_search_abandons_what_is_in_flight_when_the_match_goes_on(options):
    game = compiled("connectfour_4x4")
    search = search_of("connectfour_4x4", **options)
    engine = search.engines[0]
    search.run(Budget(simulations=2000))
    engine.begin(5000)
    engine.run(3)
    assert in_flight(engine).any()
    joint_move = (search.best_move(), game.legal_moves(game.initial_state(), game.roles[1])[0])
    search.move_to(game.next_state(game.initial_state(), joint_move), joint_move)
    assert engine.node_count > 1
    assert not in_flight(engine).any()
    before = sum(visits for _, visits, _ in statistics(search)[0])
    assert search.run(Budget(simulations=200)) == 200
    assert not in_flight(engine).any()
    assert sum(visits for _, visits, _ in statistics(search)[0]) == before + 200


def test_counted_searches_do_not_depend_on_the_clock():
    """Lanes fill with the time only where there is no number of simulations."""
    found = []
    for clock in (itertools.count(0.0, 1e5), itertools.repeat(0.0)):
        search = search_of("connectfour_4x4", fill=0.2)
        search._clock = clock.__next__
        assert search.run(Budget(1e9, simulations=3000)) == 3000
        found.append(statistics(search))
    assert found[0] == found[1]


@pytest.mark.parametrize("lanes", [1, 4])
def test_a_descent_takes_no_more_lanes_than_there_are(lanes):
    search = search_of("connectfour_4x4", words=1, lanes=lanes, lanes_per_leaf=8, leaf_growth=0, ramp=0)
    assert search.run(Budget(simulations=500)) == 500


def test_past_without_room_gives_way_to_mast(caplog):
    search = search_of("breakthrough_small", policy="past+rave", memory_mebibytes=1)
    assert search.report().fallback == "mast+rave"
    assert "PAST does not fit into memory" in caplog.text
    assert search.run(Budget(simulations=50)) == 50
    assert search_of("breakthrough_small", policy="past+rave").report().fallback == ""


def test_past_counts_on_beyond_what_small_floats_can():
    search = search_of("connectfour_4x4", policy="past", words=1)
    search.run(Budget(simulations=100))
    pair = search.engines[0].memory.contexts.pair
    visits, total = pair[:, ::2], pair[:, 1::2]
    many = 2.0**24
    visits[:], total[:] = many, 50 * many
    search.run(Budget(simulations=100))
    assert (visits - many).max() > 20
    assert (np.abs(total / visits - 50) < 0.01).all()


SUM_OF_200 = """
(role x) (role o) (init (at s))
(<= (legal o b1) (true (at s))) (<= (legal o b2) (true (at s))) (<= (legal x noop) (true (at s)))
(<= (legal x a1) (true (at p))) (<= (legal x a2) (true (at p))) (<= (legal o noop) (true (at p)))
(<= (legal ?r noop) (role ?r) (true (at q)))
(<= (next (at p)) (does o b1))
(<= (next (at q)) (does o b2))
(<= (next (at e1)) (does x a1))
(<= (next (at e2)) (does x a2))
(<= (next (at e3)) (true (at q)))
(end e1 100 0) (end e2 100 100) (end e3 90 10)
(<= terminal (true (at ?e)) (end ?e ?x ?o))
(<= (goal x ?x) (true (at ?e)) (end ?e ?x ?o))
(<= (goal o ?o) (true (at ?e)) (end ?e ?x ?o))
"""
"""Both win where x, who does not care, is kind: o's b1 is better than the sure 10 of b2."""


@pytest.mark.parametrize("seed", range(8))
def test_an_end_with_another_sum_ends_proving_wherever_it_is_seen(seed):
    game = load(SUM_OF_200, "lanes", name="sum_of_200")
    options = one_lane(is_solving=True)
    lanes = LanesSearch(game, game.roles[1], seed=seed, options=options)
    twin = Search(game, game.roles[1], seed=seed, options=options)
    has_seen = False
    for search in (lanes, twin):
        search.move_to(game.initial_state(), None)
    for _ in range(40):
        for search in (lanes, twin):
            search.run(Budget(simulations=1))
        root = twin.root
        has_seen = has_seen or sum(map(sum, root.totals)) != 100 * root.visit_count
        assert lanes.report().goal == twin.report().goal
        assert lanes.best_move() == twin.best_move()
        assert not has_seen or lanes.report().goal is None
        assert not has_seen or all(move.goal is None for move in lanes.report().moves)


@pytest.mark.parametrize("seed", range(8))
def test_a_tree_goes_on_once_another_one_has_refuted_its_proof(seed):
    game = load(SUM_OF_200, "lanes", name="sum_of_200")
    options = replace(one_lane(is_solving=True), threads=2)
    search = LanesSearch(game, game.roles[1], seed=seed, options=options)
    search.move_to(game.initial_state(), None)
    search.run(Budget(simulations=2000))
    goals = {engine.root_goal for engine in search.engines}
    counts = {engine.simulation_count for engine in search.engines}
    assert (goals, counts) == ({None}, {1000}) or (None not in goals and max(counts) < 1000)
    search.close()


def test_an_end_with_another_sum_that_one_tree_has_seen_counts_for_all():
    search = search_of("connectfour_4x4", is_solving=True, threads=2)
    search.move_to(state_after(search.game, *["(drop 1)", "(drop 2)"] * 3), None)
    search.run(Budget(simulations=2000))
    assert search.report().goal == 100
    search.engines[1].stop_proving()
    assert search.report().goal is None
    assert all(move.goal is None for move in search.report().moves)
    search.run(Budget(simulations=100))
    assert all(engine.root_goal is None for engine in search.engines)


def test_full_tree_stops_growing_and_search_goes_on():
    search = search_of("connectfour", memory_mebibytes=1, lanes_per_leaf=2)
    search.run(Budget(simulations=60_000))
    report = search.report()
    engine = search.engines[0]
    assert report.is_full
    assert engine.node_count <= engine.tree.decider.shape[0]
    assert engine.edge_count <= engine.tree.move.shape[0]
    assert report.playouts == 60_000
    game = compiled("connectfour")
    joint_move = (search.best_move(), game.legal_moves(game.initial_state(), game.roles[1])[0])
    search.move_to(game.next_state(game.initial_state(), joint_move), joint_move)
    nodes = engine.node_count
    assert not engine.is_full
    search.run(Budget(simulations=2000))
    assert engine.node_count > nodes


@pytest.mark.parametrize("kind", [LanesSearch, Search])
def test_search_needs_a_limit_and_a_state_that_is_not_terminal(kind):
    game = compiled("nim")
    search, state = kind(game, game.roles[0], options=SMALL), game.initial_state()
    search.move_to(state, None)
    with pytest.raises(ValueError, match="deadline"):
        search.run(NO_LIMIT)
    while not game.is_terminal(state):
        state = game.next_state(state, tuple(game.legal_moves(state, role)[-1] for role in game.roles))
    search.move_to(state, None)
    assert search.run(Budget(simulations=10)) == 0


def test_threads_share_the_work_and_are_merged():
    search = search_of("connectfour_4x4", threads=2)
    assert search.run(Budget(simulations=1001)) == 1001
    first, second = statistics(search)
    assert sum(n for _, n, _ in first) == 501
    assert sum(n for _, n, _ in second) == 500
    assert first != second
    assert sum(move.visits for move in search.report().moves) == 1001
    search.close()


@pytest.mark.parametrize("kind", [LanesSearch, Search])
def test_search_tells_of_its_progress(kind):
    heard, game = [], compiled("tictactoe")
    search = kind(game, game.roles[0], options=SMALL, on_progress=heard.append)
    search.move_to(game.initial_state(), None)
    search.run(Budget(simulations=1000))
    assert heard[-1] == search.best_move()
    assert all(first != second for first, second in itertools.pairwise(heard))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"policy": "best"}, "unknown policy 'best'"),
        ({"policy": "uniform+mast"}, "cannot be combined"),
        ({"policy": "fast+mast"}, "cannot be combined"),
        ({"features": "nonsense"}, "features must be auto, pieces or cells"),
        ({"words": "3"}, "words must be 1, 2, 4, 8, 16 or 32, not '3'"),
        ({"tau": "hot"}, "tau must be a number"),
    ],
)
def test_options_explain_mistakes(given, message):
    with pytest.raises(OptionError, match=message):
        parse_options(given, MctsOptions())


def test_options_of_a_counted_search_use_one_thread():
    assert default_options(simulations=100).threads == 1
    assert [default_options(simulations=n).words for n in (100, 32_768, 32_769 + 511, 10**7)] == [1, 1, 2, 8]
    chosen = parse_options({"policy": "rave+mast", "tau": "5", "k": "7"}, MctsOptions())
    assert (chosen.gibbs_temperature, chosen.rave_k) == (5.0, 7)
    assert [MctsOptions(policy=policy).gibbs_temperature for policy in ("mast", "fast")] == [10.0, 1.0]


def test_bench_command_measures_searches(capsys):
    with pytest.raises(SystemExit) as ended:
        command.main(["tictactoe", "--policy", "mast", "--seconds", "0.05", "--json"])
    assert ended.value.code == 0
    result = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (result["policy"], result["game"]) == ("mast", "tictactoe")
    assert result["descents_per_cpu_second"] > 0
