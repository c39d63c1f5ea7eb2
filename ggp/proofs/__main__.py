"""`python -m ggp.proofs [evaluations] [POLICY...]`: compile the kernels of proofs into the cache,
while another process compiles those of the search.

evaluations   compile also those that find an evaluation for alpha-beta
POLICY        compile also those of a policy

The small kernels that a match needs besides the search come first, because that process may wait for them;
those of counted searches come last, for the next command.
"""

import sys
from dataclasses import replace

from ggp.engines.compiled import CompiledGame
from ggp.engines.loading import find_own_rules, load
from ggp.proofs.prover import prepare_proving
from ggp.search.alphabeta.evaluation import prepare_evaluations
from ggp.search.tree.mixed_root import prepare_mixing
from ggp.search.tree.options import default_options
from ggp.search.tree.search import prepare_following, prepare_parts
from ggp.solver.solution import prepare_valuation

if __name__ == "__main__":
    game = load(find_own_rules("tictactoe"), "lanes")
    assert isinstance(game, CompiledGame)
    prepare_following(game, default_options())
    prepare_mixing()
    prepare_proving(game)
    for wanted in sys.argv[1:]:
        if wanted == "evaluations":
            prepare_evaluations()
        else:
            prepare_parts(game, replace(default_options(), policy=wanted))
    prepare_valuation()
    prepare_parts(game, default_options())
    prepare_parts(game, default_options(simulations=1))
