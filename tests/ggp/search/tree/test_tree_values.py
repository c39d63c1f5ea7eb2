"""UCT in one node, with visits in flight, which the golden tests of one lane do not have."""

import math

import numpy as np
import pytest

import ggp
from ggp.jit.compiling import kernel
from ggp.jit.unboxed import Unboxed
from ggp.search.tree.kernels.arrays import UNPROVEN
from ggp.search.tree.kernels.tree import select_edge
from ggp.search.tree.options import MctsOptions
from ggp.search.tree.policies.parts import link_parts
from ggp.search.tree.tree_engine import TreeEngine

EXPLORATION = 40.0
RAVE_K = 50.0


@kernel
def _select_in(search, parts, memory, node, end):
    search.tree.first_edge[node, 0] = 0
    search.tree.first_edge[node, 1] = end
    return select_edge(search, parts, memory, node, 0, 0)


def _value(edge, has_rave, everything, is_root):
    """UCB1 of one edge (visits, flight, total, goal, RAVE visits and total) among those of `everything`."""
    visits, flight, total, goal, rave_visits, rave_total = edge
    if goal != UNPROVEN:
        return -1.0 if is_root else goal  # what is proven needs no visits at the root
    all_visits = sum(e[0] + e[1] for e in everything)
    if visits > 0:
        mean = total / visits
    else:
        ended = sum(e[0] for e in everything)
        mean = sum(e[2] for e in everything) / ended if ended else 50.0
    if has_rave and rave_visits > 0:
        beta = math.sqrt(RAVE_K / (3 * all_visits + RAVE_K))
        mean = beta * rave_total / rave_visits + (1 - beta) * mean
    return mean + EXPLORATION * math.sqrt(math.log(all_visits) / (visits + flight))


def _random_edges(rng, count):
    """Edges that were all tried: with a visit, or one in flight."""
    flight = rng.integers(0, 4, count)
    visits = rng.integers(0, 6, count)
    visits[(visits == 0) & (flight == 0)] = 1
    goal = np.where(rng.random(count) < 0.1, rng.integers(0, 101, count), UNPROVEN)
    rave_visits = rng.integers(0, 9, count)
    columns = (
        visits, flight, rng.integers(0, 101, count) * visits, goal,
        rave_visits, rng.integers(0, 101, count) * rave_visits,
    )  # fmt: skip
    return list(zip(*(column.tolist() for column in columns), strict=True))


def _engine(policy):
    game = ggp.load("connectfour")
    options = MctsOptions(policy=policy, exploration=EXPLORATION, rave_k=RAVE_K, is_solving=True, words=1)
    return TreeEngine(game, options, seed=1)


def _put(engine, edges):
    tree = engine.tree
    for e, (visits, flight, total, goal, rave_visits, rave_total) in enumerate(edges):
        tree.visits[e], tree.started[e] = visits, visits + flight
        tree.total[e], tree.goal[e] = total, goal
        if len(tree.rave_visits) > 1:
            tree.rave_visits[e], tree.rave_total[e] = rave_visits, rave_total
        tree.move[e] = e


def _select(engine, count, node=0):
    memory = Unboxed.made_once(engine.memory)
    return _select_in(engine.memory, link_parts(memory), memory.address, node, count)


@pytest.mark.parametrize("is_root", [True, False])
@pytest.mark.parametrize("policy", ["uniform", "rave"])
def test_tried_edge_with_the_highest_value_is_selected(policy, is_root):
    rng = np.random.default_rng(7)
    engine = _engine(policy)
    for count in [*range(2, 16)] * 15:
        edges = _random_edges(rng, count)
        _put(engine, edges)
        values = [_value(edge, policy == "rave", edges, is_root) for edge in edges]
        assert values[_select(engine, count, 0 if is_root else 1)] == pytest.approx(max(values), abs=1e-9)


@pytest.mark.parametrize("visits", [1_600, 1_700, 20_000, 300_000, 5_000_000])
def test_the_bonus_of_many_visits_is_right_to_a_thousandth(visits):
    engine = _engine("uniform")
    for share, best in ((0.999, 0), (1.001, 1)):
        # Four times the visits halve the bonus, which a higher mean makes up for by this share.
        mean = share * EXPLORATION * math.sqrt(math.log(5 * visits) / visits) / 2
        _put(engine, [(visits, 0, 0, UNPROVEN, 0, 0), (4 * visits, 0, 4 * visits * mean, UNPROVEN, 0, 0)])
        assert _select(engine, 2, 1) == best


def test_untried_edges_come_first_then_the_first_of_the_best():
    engine = _engine("uniform")
    edges = [(3, 0, 90, UNPROVEN, 0, 0), *[(3, 0, 150, UNPROVEN, 0, 0)] * 5]
    _put(engine, edges)
    assert _select(engine, 6) == 1
    edges[2] = (0, 1, 0, UNPROVEN, 0, 0)
    edges[4] = (0, 0, 0, UNPROVEN, 0, 0)
    _put(engine, edges)
    assert {_select(engine, 6) for _ in range(40)} == {4}
