"""Positions to search."""

import random


def random_states(game, count, seed=0):
    """The initial state and `count` - 1 others, up to eleven random joint moves later."""
    rng = random.Random(seed)
    states = [game.initial_state()]
    while len(states) < count:
        state = game.initial_state()
        for _ in range(rng.randrange(12)):
            following = game.next_state(
                state, tuple(rng.choice(game.legal_moves(state, role)) for role in game.roles)
            )
            if game.is_terminal(following):
                break
            state = following
        states.append(state)
    return states
