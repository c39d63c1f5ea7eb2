"""Fitting a network to samples, in torch. Imports torch only when it is asked to."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from ggp.networks.network import Network
from ggp.teaching.samples import Samples

BATCH = 1024
LEARNING_RATE = 2e-3
WEIGHT_DECAY = 1e-4
POLICY_SHARE = 1.0
"""Weight of the loss of the moves next to that of the values."""


class TeacherMissingError(Exception):
    """torch is not installed."""


def import_torch() -> Any:
    """The module. Raises TeacherMissingError."""
    try:
        import torch
    except ImportError:
        raise TeacherMissingError("teaching needs torch: pip install -e '.[learn]'") from None
    return torch


class Teacher:
    """Adam on the weights of a network: cross entropy of values, and of moves against their visits."""

    def __init__(self, network: Network, *, seed: int) -> None:
        """Raises TeacherMissingError."""
        self._torch = torch = import_torch()
        torch.set_num_threads(1)
        self._names = [each.name for each in fields(Network)]
        self._weights = {
            name: torch.tensor(getattr(network, name), requires_grad=True) for name in self._names
        }
        self._fluents = len(network.fluents)
        self._seed = seed
        self._adam = torch.optim.Adam(self._weights.values(), lr=LEARNING_RATE, weight_decay=WEIGHT_DECAY)

    def network(self) -> Network:
        """The weights as they are now."""
        return Network(*(self._weights[name].detach().numpy().copy() for name in self._names))

    def teach(self, samples: Samples, batches: int, *, number: int = 0) -> tuple[float, float]:
        """Take `batches` steps; return the mean losses of values and of moves.

        number   with the seed it decides which samples are drawn
        """
        losses = []
        rng = np.random.default_rng((self._seed, number))
        for _ in range(batches):
            places = rng.integers(0, len(samples), min(BATCH, len(samples)))
            value_loss, move_loss = self._losses(samples.chosen(places))
            self._adam.zero_grad()
            (value_loss + POLICY_SHARE * move_loss).backward()
            self._adam.step()
            losses.append((value_loss.item(), move_loss.item()))
        mean = np.mean(losses, axis=0)
        return float(mean[0]), float(mean[1])

    def _losses(self, samples: Samples) -> tuple[Any, Any]:
        torch, weights = self._torch, self._weights
        bits = np.unpackbits(samples.states, axis=1, count=self._fluents)
        states = torch.from_numpy(bits.astype(np.float32))
        first = (states @ weights["fluents"] + weights["fluent_bias"]).clamp(0, 1)
        second = (first @ weights["hidden"] + weights["hidden_bias"]).clamp(0, 1)
        outputs = second @ weights["value"].T + weights["value_bias"]
        values = torch.from_numpy(samples.values)
        value_loss = torch.nn.functional.binary_cross_entropy_with_logits(outputs, values)
        if not len(samples.move):
            return value_loss, torch.zeros(())
        owner = np.repeat(np.arange(len(samples)), np.diff(samples.first))
        # A group is the moves of one role in one state, which stand next to each other.
        key = owner * len(weights["value"]) + samples.role
        group = np.concatenate([[0], np.cumsum(key[1:] != key[:-1])])
        moves, groups = torch.from_numpy(samples.move.astype(np.int64)), torch.from_numpy(group)
        logits = (second[torch.from_numpy(owner)] * weights["policy"][moves]).sum(1)
        logits = logits + weights["policy_bias"][moves]
        count = int(group.max()) + 1
        highest = torch.full((count,), -torch.inf).scatter_reduce(0, groups, logits.detach(), "amax")
        total = torch.zeros(count).index_add(0, groups, (logits - highest[groups]).exp())
        log_share = logits - highest[groups] - total.log()[groups]
        move_loss = -(torch.from_numpy(samples.share) * log_share).sum() / count
        return value_loss, move_loss
