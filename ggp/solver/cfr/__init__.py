"""Exact play of games with hidden information: counterfactual regret minimization in sequence form.

For two roles and constant sum, or one role and chance.

state_graph     the reachable states, and what each role can do and sees in them
sequence_form   unrolls the graph into information sets, sequences and the payoffs of pairs of sequences
minimization    predictive CFR+; best responses, and how exploitable strategies are
strategy        strategies as text: information sets, moves and probabilities
"""

from ggp.solver.cfr.minimization import (
    ApproximateEquilibrium,
    CfrOptions,
    CfrProgress,
    find_equilibrium,
    respond,
    solve_hidden,
)
from ggp.solver.cfr.sequence_form import SequenceForm, UnrollingProgress, sequence_form
from ggp.solver.cfr.state_graph import make_state_graph
from ggp.solver.cfr.strategy import InformationSet, information_set, information_sets

__all__ = [
    "ApproximateEquilibrium",
    "CfrOptions",
    "CfrProgress",
    "InformationSet",
    "SequenceForm",
    "UnrollingProgress",
    "find_equilibrium",
    "information_set",
    "information_sets",
    "make_state_graph",
    "respond",
    "sequence_form",
    "solve_hidden",
]
