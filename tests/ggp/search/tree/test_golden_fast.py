"""FAST: the search on lanes and the plain-Python search build the same tree, in both forms of the policy."""

import pytest

from ggp.search.tree.policies.fast import NO_CAPTURE, learn_fast
from tests.ggp.search.tree.golden import assert_same_tree, compiled, one_lane, search_both

PLACEMENT = ["tictactoe", "connectfour_4x4", "othello_4x4", "breakthrough_small"]


def fast(**options):
    return one_lane(policy=options.pop("policy", "fast"), episodes=128, **options)


@pytest.mark.parametrize("policy", ["fast", "rave+fast"])
@pytest.mark.parametrize("name", PLACEMENT)
def test_lanes_agree_with_the_reference_in_the_placement_form(name, policy):
    lanes, twin = search_both(compiled(name), fast(policy=policy), 5, 150)
    assert assert_same_tree(lanes, twin) > 50
    assert lanes.options.parsed_policy.playouts.name == "fast"


@pytest.mark.parametrize(
    ("name", "simulations"),
    [("breakthrough_small", 150), pytest.param("minichess", 40, marks=pytest.mark.slow), ("checkers", 25)],
)
def test_lanes_agree_with_the_reference_in_the_capture_form(name, simulations):
    options = fast(feature_kind="pieces")
    game = compiled(name)
    lanes, twin = search_both(game, options, 7, simulations)
    assert assert_same_tree(lanes, twin) > simulations // 2
    model = learn_fast(game, options, 7)
    assert model.weights.kind == "pieces"
    assert all(min(values) == NO_CAPTURE < max(values) for values in model.values)


def test_lanes_agree_with_the_reference_in_the_temperature_of_fast():
    lanes, twin = search_both(compiled("connectfour_4x4"), fast(temperature=5.0), 3, 200)
    assert assert_same_tree(lanes, twin) > 100


def test_lanes_agree_with_the_reference_where_fast_falls_back_to_mast():
    lanes, twin = search_both(compiled("nim"), fast(), 3, 200)
    assert assert_same_tree(lanes, twin) > 100
    assert lanes.options.parsed_policy.playouts.name == "mast"
