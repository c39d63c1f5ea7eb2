"""Values of games of two roles in turn, by plain minimax over all states: what proofs must agree with."""


def naive_value(game, state, known=None):
    """The goal of the first role under best play of both, for a game that is sure to end.

    known   values by state, filled in
    """
    known = {} if known is None else known
    if state not in known:
        if game.is_terminal(state):
            known[state] = game.goal(state, game.roles[0])
        else:
            legal = [game.legal_moves(state, role) for role in game.roles]
            is_second = len(legal[1]) > 1
            joint_moves = [(first, second) for first in legal[0] for second in legal[1]]
            values = [naive_value(game, game.next_state(state, joint), known) for joint in joint_moves]
            known[state] = min(values) if is_second else max(values)
    return known[state]
