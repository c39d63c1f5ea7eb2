"""Naive twin of everything built from a ground program: rules evaluated one by one.

Pure Python and slow. States are sets of fluent indices.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from gdl.dependencies import strong_components
from gdl.grounding import FALSE_ATOM, TRUE_ATOM, GroundProgram
from gdl.terms import Term


class NaiveGround:
    """Evaluation of a ground program for one state and joint move at a time."""

    def __init__(self, ground: GroundProgram) -> None:
        self.ground = ground
        self.rules: dict[int, list[list[int]]] = {}
        first, body = ground.first_body.tolist(), ground.body.tolist()
        for index, head in enumerate(ground.rule_head.tolist()):
            self.rules.setdefault(head, []).append(body[first[index] : first[index + 1]])
        self.components = strong_components(
            self.rules, lambda head: {abs(atom) for body in self.rules.get(head, ()) for atom in body}
        )

    def initial_state(self) -> frozenset[int]:
        return frozenset(index for index, holds in enumerate(self.ground.initial.tolist()) if holds)

    def model(self, state: Collection[int], joint_move: Sequence[Term] | None = None) -> set[int]:
        """All atoms that hold: one fixpoint per component of mutually dependent atoms, callees first."""
        ground = self.ground
        holding = {TRUE_ATOM} | {int(ground.fluent_atom[index]) for index in state}
        for role, move in enumerate(joint_move or ()):
            holding.add(int(ground.move_atom[role][ground.moves[role].index(move)]))
        assert FALSE_ATOM not in holding
        for component in self.components:
            self._settle(component, holding)
        return holding

    def _settle(self, component: Sequence[int], holding: set[int]) -> None:
        inside = set(component)
        for head in component:
            for body in self.rules.get(head, ()):
                assert not any(-atom in inside for atom in body), "negation inside a positive cycle"
        grows = True
        while grows:
            grows = False
            for head in component:
                if head not in holding and any(
                    all((abs(atom) in holding) == (atom > 0) for atom in body)
                    for body in self.rules.get(head, ())
                ):
                    holding.add(head)
                    grows = len(component) > 1

    def facts(self, state: Collection[int]) -> list[str]:
        return [str(self.ground.fluents[index]) for index in sorted(state)]

    def is_terminal(self, model: set[int]) -> bool:
        return self.ground.terminal_atom in model

    def legal_moves(self, model: set[int], role: int) -> list[Term]:
        legal = self.ground.legal_atom[role].tolist()
        return [move for move, atom in zip(self.ground.moves[role], legal, strict=True) if atom in model]

    def goals(self, model: set[int], role: int) -> list[int]:
        return [value for value, atom in self.ground.goals[role] if atom in model]

    def percepts(self, model: set[int], role: int) -> list[Term]:
        return [term for term, atom in self.ground.percepts[role] if atom in model]

    def next_state(self, model: set[int]) -> frozenset[int]:
        """The state after the joint move with which `model` was computed."""
        return frozenset(index for index, atom in enumerate(self.ground.next_atom.tolist()) if atom in model)
