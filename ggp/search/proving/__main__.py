"""`python -m ggp.search.proving [evaluations]`: compile the kernels of proofs into the cache, beside another
process; with `evaluations` those too that find an evaluation for alpha-beta."""

import sys

from ggp.engines.compiled import CompiledGame
from ggp.engines.loading import find_own_rules, load
from ggp.search.alphabeta.evaluation import prepare_evaluations
from ggp.search.proving.prover import prepare_proving

if __name__ == "__main__":
    game = load(find_own_rules("tictactoe"), "lanes")
    assert isinstance(game, CompiledGame)
    prepare_proving(game)
    if sys.argv[1:] == ["evaluations"]:
        prepare_evaluations()
