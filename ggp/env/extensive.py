"""Extensive form: the game tree as OpenSpiel and Gambit expect it.

A node is a state and the choices already made in it. Agents that choose in the same state choose one after
the other without seeing each other (or at one node, if nothing else is hidden); then `random` draws; then the
state changes. States in which no role has a choice are passed over. An agent knows its own moves and its
percepts, and all moves in games without `sees` rules.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ggp.engines.compiled import CompiledGame, PackedState
from ggp.env.actions import find_turns
from ggp.game import RANDOM_ROLE, Move, goals_or_none, has_percepts, illegal
from ggp.integers import to_integer

CHANCE, SIMULTANEOUS, TERMINAL = -1, -2, -4
"""Players that are not agents; the numbers are those of OpenSpiel."""


@dataclass(frozen=True)
class Node:
    """One node of the tree; a value.

    steps    joint moves made
    chosen   by role the move chosen in this state, None if open
    known    by agent one entry per step: its own move and its percepts, or the joint move
    """

    state: PackedState
    steps: int
    chosen: tuple[Move | None, ...]
    known: tuple[tuple[tuple[str, ...], ...], ...]

    def __deepcopy__(self, memo: object) -> Node:
        return self


class ExtensiveGame:
    """The tree of a compiled game.

    max_steps   the game ends for good after this many joint moves
    agents      the roles but `random`, in rule-sheet order
    is_hidden   the rules have percepts
    is_joint    agents choose at once and nothing is hidden: nodes with the player SIMULTANEOUS
    """

    def __init__(self, game: CompiledGame, max_steps: int = 1000) -> None:
        self.game, self.max_steps = game, to_integer(max_steps, "max_steps", 1)
        self.agents = tuple(role for role in game.roles if role != RANDOM_ROLE)
        self.roles = [game.roles.index(agent) for agent in self.agents]
        self.chance = game.roles.index(RANDOM_ROLE) if RANDOM_ROLE in game.roles else None
        self.is_hidden = has_percepts(game)
        self.is_joint = find_turns(game).is_joint and not self.is_hidden

    def __deepcopy__(self, memo: object) -> ExtensiveGame:
        return self

    def root(self) -> Node:
        """The first node at which a role has a choice."""
        nothing = (None,) * len(self.game.roles)
        return self._settled(Node(self.game.initial_state(), 0, nothing, ((),) * len(self.agents)))

    def is_terminal(self, node: Node) -> bool:
        """Whether the game is over, or has reached `max_steps`."""
        return node.steps >= self.max_steps or self.game.is_terminal(node.state)

    def player(self, node: Node) -> int:
        """The agent to act, or CHANCE, SIMULTANEOUS or TERMINAL."""
        if self.is_terminal(node):
            return TERMINAL
        open_agents = self._open_agents(node)
        if len(open_agents) > 1 and self.is_joint:
            return SIMULTANEOUS
        return open_agents[0] if open_agents else CHANCE

    def _open_agents(self, node: Node) -> list[int]:
        return [
            a for a, r in enumerate(self.roles) if node.chosen[r] is None and len(self._legal(node, r)) > 1
        ]

    def _legal(self, node: Node, role: int) -> tuple[Move, ...]:
        return self.game.legal_moves(node.state, self.game.roles[role])

    def role_of(self, player: int) -> int:
        """The role behind an agent or CHANCE."""
        if player >= 0:
            return self.roles[player]
        assert self.chance is not None
        return self.chance

    def actions(self, node: Node, player: int) -> list[int]:
        """Legal actions of an agent or of CHANCE, sorted: numbers of `CompiledGame.moves`."""
        role = self.role_of(player)
        number = {move: i for i, move in enumerate(self.game.moves[role])}
        return sorted(number[move] for move in self._legal(node, role))

    def move(self, player: int, action: int) -> Move:
        """The move behind an action. Raises TypeError and ValueError for other numbers."""
        moves = self.game.moves[self.role_of(player)]
        return moves[to_integer(action, "action", 0, len(moves) - 1)]

    def apply(self, node: Node, action: int) -> Node:
        """The node after an action of the player to act, which is an agent or CHANCE. Raises IllegalMoveError
        for actions that are not legal, ValueError at other nodes, and what `move` raises."""
        player = self.player(node)
        if player in (SIMULTANEOUS, TERMINAL):
            raise ValueError("the game is over" if player == TERMINAL else "all agents act here: apply_joint")
        return self._settled(self._choose(node, player, action))

    def apply_joint(self, node: Node, actions: list[int]) -> Node:
        """The node after the actions of all agents at a SIMULTANEOUS node. Raises what `apply` raises."""
        if self.player(node) != SIMULTANEOUS or len(actions) != len(self.agents):
            raise ValueError(f"{len(self.agents)} actions where all agents act, not {len(actions)}")
        for agent, action in enumerate(actions):
            node = self._choose(node, agent, action)
        return self._settled(node)

    def _choose(self, node: Node, player: int, action: int) -> Node:
        chosen, role, move = list(node.chosen), self.role_of(player), self.move(player, action)
        if move not in self._legal(node, role):
            raise illegal(move, self.game.roles[role])
        chosen[role] = move
        return replace(node, chosen=tuple(chosen))

    def _settled(self, node: Node) -> Node:
        """Make joint moves until a role has a choice or the game ends."""
        while not self.is_terminal(node) and not self._open_agents(node):
            chance = self.chance
            if chance is not None and node.chosen[chance] is None and len(self._legal(node, chance)) > 1:
                return node
            joint = [
                move if move is not None else self._legal(node, r)[0] for r, move in enumerate(node.chosen)
            ]
            known = tuple((*before, self._entry(node, joint, a)) for a, before in enumerate(node.known))
            following = self.game.next_state(node.state, joint)
            node = Node(following, node.steps + 1, (None,) * len(joint), known)
        return node

    def _entry(self, node: Node, joint: list[Move], agent: int) -> tuple[str, ...]:
        if not self.is_hidden:
            return tuple(map(str, joint))
        percepts = self.game.percepts(node.state, joint, self.agents[agent])
        return str(joint[self.roles[agent]]), *map(str, percepts)

    def _text(self, entry: tuple[str, ...]) -> str:
        return " ".join((entry[0], "|", *entry[1:]) if self.is_hidden else entry)

    def information(self, node: Node, agent: int) -> str:
        """All that an agent knows: equal texts are one information set."""
        own = node.chosen[self.roles[agent]]
        chosen = [] if own is None else [f"chose {own}"]
        return "; ".join([*map(self._text, node.known[agent]), *chosen])

    def observation(self, node: Node, agent: int) -> str:
        """The facts of the state, or the last percepts if something is hidden."""
        if self.is_hidden:
            return self._text(node.known[agent][-1]) if node.known[agent] else ""
        return " ".join(map(str, self.game.facts(node.state)))

    def returns(self, node: Node) -> list[float]:
        """The goals of all agents, scaled to -1..1; 0 before the end and for undefined goals."""
        is_over = self.game.is_terminal(node.state)
        goals = goals_or_none(self.game, node.state) if is_over else [None] * len(self.game.roles)
        return [0.0 if (goal := goals[r]) is None else goal / 50 - 1 for r in self.roles]
