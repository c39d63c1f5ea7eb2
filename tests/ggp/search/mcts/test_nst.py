"""N-grams on lanes: a table that is too small. What they are worth: see `test_golden`."""

import pytest

from ggp.search.budget import Budget
from ggp.search.mcts import tree_memory
from ggp.search.mcts.options import MctsOptions
from ggp.search.mcts.search import LanesSearch
from tests.ggp.search.mcts.golden import compiled


def search_of(name, **options):
    game = compiled(name)
    search = LanesSearch(game, game.roles[0], options=MctsOptions(words=1, memory_mebibytes=32, **options))
    search.move_to(game.initial_state(), None)
    return search


@pytest.mark.parametrize("policy", ["nst", "nst+greedy"])
def test_search_with_ngrams_is_counted_and_reproducible(policy):
    def run():
        search = search_of("connectfour_4x4", policy=policy)
        assert search.run(Budget(simulations=1003)) == 1003
        return search.report().moves

    assert run() == run()


def test_full_table_keeps_the_ngrams_with_many_visits(monkeypatch):
    monkeypatch.setattr(tree_memory, "MOST_GRAMS", 64)
    search = search_of("connectfour_4x4", policy="nst")
    grams = search.engines[0].memory.contexts
    assert len(grams.gram_key) == 64
    search.run(Budget(simulations=2000))
    keys, visits = grams.gram_key.copy(), grams.gram[::2].copy()
    assert (keys != 0).sum() > 32
    known = visits >= 7
    assert known.sum() > 10
    search.run(Budget(simulations=2000))
    assert (grams.gram_key[known] == keys[known]).all()
    assert (grams.gram[::2][known] >= visits[known]).all()
    assert (grams.gram[1::2] <= 100 * grams.gram[::2]).all()
