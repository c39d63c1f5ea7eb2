"""Network: fluents in, a value for each role and a logit for each move out.

    fluents → H1 → H2 → R values, M logits

Between the layers stands the clipped ReLU, min(max(x, 0), 1), as in efficiently updatable networks (Nasu
2018); a value is the sigmoid of its output, the logits are those of a softmax over the legal moves of a role.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from ggp.engines.compiled import CompiledGame
from ggp.integers import to_integer

Float32Array = NDArray[np.float32]
BoolArray = NDArray[np.bool_]

WIDTHS = (64, 32)
"""Default H1 and H2."""


@dataclass(frozen=True)
class Network:
    """Weights, all float32; fluents and moves as the circuit of the game numbers them.

    fluents      [F, H1], fluent_bias [H1]
    hidden       [H1, H2], hidden_bias [H2]
    value        [R, H2], value_bias [R]
    policy       [M, H2], policy_bias [M]: moves of all roles, one role after another

    >>> import ggp, numpy as np
    >>> game = ggp.load("tictactoe")
    >>> network = Network.random(game, seed=1)
    >>> values, logits = network.evaluate(game.unpack(game.initial_state())[None])
    >>> values.shape, logits.shape, bool(((0 < values) & (values < 1)).all())
    ((1, 2), (1, 20), True)
    """

    fluents: Float32Array
    fluent_bias: Float32Array
    hidden: Float32Array
    hidden_bias: Float32Array
    value: Float32Array
    value_bias: Float32Array
    policy: Float32Array
    policy_bias: Float32Array

    def __post_init__(self) -> None:
        """Raise ValueError unless the shapes fit together and all weights are finite."""
        for each in fields(self):
            array = getattr(self, each.name)
            if array.dtype != np.float32 or not np.isfinite(array).all():
                raise ValueError(f"{each.name}: not finite float32 numbers")
        h1, h2 = self.hidden.shape
        fluents, roles, moves = len(self.fluents), len(self.value), len(self.policy)
        shapes = (fluents, h1), (h1,), (h1, h2), (h2,), (roles, h2), (roles,), (moves, h2), (moves,)
        for each, shape in zip(fields(self), shapes, strict=True):
            found = getattr(self, each.name).shape
            if found != shape:
                raise ValueError(f"{each.name}: shape {found}, expected {shape}")

    @classmethod
    def random(cls, game: CompiledGame, *, seed: int, widths: tuple[int, int] = WIDTHS) -> Network:
        """Weights to begin learning with: uniform by fan-in (He et al. 2015), outputs near even. Raises
        TypeError and ValueError for numbers that are not integers or too small."""
        rng = np.random.default_rng(to_integer(seed, "seed", 0))
        h1, h2 = (to_integer(width, "width", 1) for width in widths)
        fluents, moves, roles = len(game.terms.fluents), sum(map(len, game.moves)), len(game.roles)

        held = max(1, int(game.unpack(game.initial_state()).sum()))
        arrays = []
        for rows, columns, bound, bias in (
            (fluents, h1, (3 / held) ** 0.5 / 2, np.full(h1, 0.5)),
            (h1, h2, (3 / h1) ** 0.5, np.full(h2, 0.5)),
            (roles, h2, 0.1, np.zeros(roles)),
            (moves, h2, 0.1, np.zeros(moves)),
        ):
            arrays += [rng.uniform(-bound, bound, (rows, columns)), bias]
        return cls(*(array.astype(np.float32) for array in arrays))

    def evaluate(self, states: BoolArray) -> tuple[Float32Array, Float32Array]:
        """Values float32[N, R], 0..1, and logits float32[N, M] of the states bool[N, F]."""
        first = np.clip(states.astype(np.float32) @ self.fluents + self.fluent_bias, 0, 1)
        second = np.clip(first @ self.hidden + self.hidden_bias, 0, 1)
        logits = second @ self.policy.T + self.policy_bias
        values = 1 / (1 + np.exp(-(second @ self.value.T + self.value_bias)))
        return values.astype(np.float32), logits.astype(np.float32)

    def fits(self, game: CompiledGame) -> bool:
        """Whether the game has as many fluents, roles and moves."""
        sizes = len(game.terms.fluents), len(game.roles), sum(map(len, game.moves))
        return (len(self.fluents), len(self.value), len(self.policy)) == sizes
