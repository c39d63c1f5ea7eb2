"""Positions to search, and the moves from them."""

import random


def mover_of(game, state):
    """The index of the role that has a choice; 0 if none has."""
    return next((r for r, role in enumerate(game.roles) if len(game.legal_moves(state, role)) > 1), 0)


def after(game, state, *moves):
    """The state after these moves in turn, each of the role that chooses; the others make their first one."""
    for move in moves:
        legal = [game.legal_moves(state, role) for role in game.roles]
        mover = mover_of(game, state)
        joint = [next(m for m in each if r != mover or move in (m, str(m))) for r, each in enumerate(legal)]
        state = game.next_state(state, joint)
    return state


def random_states(game, count, seed=0, *, ends=False):
    """The initial state and `count` - 1 others up to eleven random moves later; `ends`: terminal ones too."""
    rng = random.Random(seed)
    states = [game.initial_state()]
    while len(states) < count:
        state = game.initial_state()
        for _ in range(rng.randrange(12)):
            following = game.next_state(
                state, tuple(rng.choice(game.legal_moves(state, role)) for role in game.roles)
            )
            if game.is_terminal(following):
                state = following if ends else state
                break
            state = following
        states.append(state)
    return states
