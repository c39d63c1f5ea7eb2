"""Values of games of one role or two in turn, by plain minimax over all states: proofs must match them."""

from itertools import product


def naive_value(game, state, known=None):
    """The goal of the first role under best play of all, for a game that is sure to end.

    known   values by state, filled in
    """
    known = {} if known is None else known
    if state not in known:
        if game.is_terminal(state):
            known[state] = game.goal(state, game.roles[0])
        else:
            legal = [game.legal_moves(state, role) for role in game.roles]
            values = [naive_value(game, game.next_state(state, joint), known) for joint in product(*legal)]
            known[state] = max(values) if len(legal[0]) > 1 else min(values)
    return known[state]
