"""OpenSpiel: any rule sheet as the Python game `ggp(rules=...)`.

    import pyspiel, ggp.env.openspiel
    game = pyspiel.load_game("ggp(rules=kuhn_poker)")

`rules` is the name of a bundled game or a file. Importing this module registers the game. Utilities are goals
scaled to -1..1: half of those of OpenSpiel's own Kuhn poker, whose stakes span -2..2. `max_steps` bounds the
length of games. Information states have strings, not tensors: a history has no fixed size.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyspiel
from numpy.typing import NDArray

from ggp.engines.compiled import CompiledGame
from ggp.engines.loading import load
from ggp.env.extensive import CHANCE, SIMULTANEOUS, TERMINAL, ExtensiveGame, Node

_DEFAULTS = {"rules": "tictactoe", "max_steps": 1000}


def _game_type(name: str, tree: ExtensiveGame | None) -> Any:
    """OpenSpiel's description of a kind of game; of the registered game without a tree."""
    kinds, known = pyspiel.GameType, pyspiel.GameType.Information
    is_joint = tree is not None and tree.is_joint
    has_chance = tree is None or tree.chance is not None
    is_hidden = tree is None or tree.is_hidden
    is_fair = tree is not None and is_zero_sum(tree)
    return kinds(
        short_name="ggp",
        long_name=name,
        dynamics=kinds.Dynamics.SIMULTANEOUS if is_joint else kinds.Dynamics.SEQUENTIAL,
        chance_mode=kinds.ChanceMode.EXPLICIT_STOCHASTIC if has_chance else kinds.ChanceMode.DETERMINISTIC,
        information=known.IMPERFECT_INFORMATION if is_hidden else known.PERFECT_INFORMATION,
        utility=kinds.Utility.ZERO_SUM if is_fair else kinds.Utility.GENERAL_SUM,
        reward_model=kinds.RewardModel.TERMINAL,
        max_num_players=len(tree.agents) if tree else 20,
        min_num_players=len(tree.agents) if tree else 1,
        provides_information_state_string=True,
        provides_information_state_tensor=False,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification=_DEFAULTS,
    )


def is_zero_sum(tree: ExtensiveGame, playouts: int = 32) -> bool:
    """Whether the utilities of two agents add up to 0 at the end of some random playouts."""
    rng = np.random.default_rng(0)
    return len(tree.agents) == 2 and all(
        abs(sum(tree.returns(_random_end(tree, rng)))) < 1e-9 for _ in range(playouts)
    )


def _random_end(tree: ExtensiveGame, rng: np.random.Generator) -> Node:
    node = tree.root()
    while (player := tree.player(node)) != TERMINAL:
        if player == SIMULTANEOUS:
            drawn = [int(rng.choice(tree.actions(node, a))) for a in range(len(tree.agents))]
            node = tree.apply_joint(node, drawn)
        else:
            node = tree.apply(node, int(rng.choice(tree.actions(node, player))))
    return node


@cache
def _tree(rules: str, max_steps: int) -> ExtensiveGame:
    game = load(Path(rules) if Path(rules).suffix else rules, engine="lanes")
    assert isinstance(game, CompiledGame)
    return ExtensiveGame(game, max_steps)


class GgpGame(pyspiel.Game):  # type: ignore[misc]
    """A rule sheet as a game of OpenSpiel; made by `pyspiel.load_game`."""

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        chosen = {**_DEFAULTS, **(params or {})}
        tree = self.tree = _tree(str(chosen["rules"]), int(chosen["max_steps"]))
        moves = tree.game.moves
        kind = _game_type(tree.game.name, tree)
        choices = 1 if tree.is_joint else len(tree.agents)
        info = pyspiel.GameInfo(
            num_distinct_actions=max(len(moves[r]) for r in tree.roles),
            max_chance_outcomes=len(moves[tree.chance]) if tree.chance is not None else 0,
            num_players=len(tree.agents),
            min_utility=-1.0,
            max_utility=1.0,
            utility_sum=0.0 if kind.utility == pyspiel.GameType.Utility.ZERO_SUM else None,
            max_game_length=tree.max_steps * choices,
        )
        super().__init__(kind, info, params or {})

    def new_initial_state(self, _text: str | None = None) -> GgpState:
        return GgpState(self)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> GgpObserver:
        return GgpObserver(
            self.tree, iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False), params
        )


class GgpState(pyspiel.State):  # type: ignore[misc]
    """A node of the tree of a game."""

    def __init__(self, game: GgpGame) -> None:
        super().__init__(game)
        self.tree = game.tree
        self.node = game.tree.root()

    def current_player(self) -> int:
        player = self.tree.player(self.node)
        special = {
            CHANCE: pyspiel.PlayerId.CHANCE,
            SIMULTANEOUS: pyspiel.PlayerId.SIMULTANEOUS,
            TERMINAL: pyspiel.PlayerId.TERMINAL,
        }
        return int(special.get(player, player))

    def _legal_actions(self, player: int) -> list[int]:
        current = self.tree.player(self.node)
        return self.tree.actions(self.node, player) if current in (player, SIMULTANEOUS) else []

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Uniform, as GDL defines chance. Raises ValueError where an agent is to act."""
        if self.tree.player(self.node) != CHANCE:
            raise ValueError("not a chance node")
        actions = self.tree.actions(self.node, CHANCE)
        return [(action, 1 / len(actions)) for action in actions]

    def _apply_action(self, action: int) -> None:
        self.node = self.tree.apply(self.node, action)

    def _apply_actions(self, actions: list[int]) -> None:
        self.node = self.tree.apply_joint(self.node, actions)

    def _action_to_string(self, player: int, action: int) -> str:
        return str(self.tree.move(CHANCE if player < 0 else player, action))

    def is_terminal(self) -> bool:
        return self.tree.is_terminal(self.node)

    def returns(self) -> list[float]:
        return self.tree.returns(self.node)

    def __str__(self) -> str:
        facts = " ".join(map(str, self.tree.game.facts(self.node.state)))
        chosen = " ".join(str(move) for move in self.node.chosen if move is not None)
        return f"{facts} / {chosen}" if chosen else facts


class GgpObserver:
    """Tensors (facts, or percepts and own moves so far if something is hidden) and strings."""

    def __init__(self, tree: ExtensiveGame, iig_obs_type: Any, params: Any) -> None:
        if params:
            raise ValueError(f"ggp has no observation parameters: {params}")
        self._tree, self._recalls = tree, iig_obs_type.perfect_recall
        self.tensor: NDArray[np.float32] | None = None
        self.dict: dict[str, NDArray[np.float32]] = {}
        self._place: list[dict[str, int]] = []
        if not self._recalls:
            size = len(tree.game.terms.fluents)
            if tree.is_hidden:
                self._place = [_percepts(tree, agent) for agent in range(len(tree.agents))]
                size = max(map(len, self._place))
            self.tensor = np.zeros(size, np.float32)
            self.dict = {"observation": self.tensor}

    def set_from(self, state: GgpState, player: int) -> None:
        """Fill the tensor with an agent's observation. Raises ValueError with perfect recall."""
        if self.tensor is None:
            raise ValueError("ggp has no information_state_tensor: use information_state_string")
        self.tensor.fill(0)
        if not self._place:
            self.tensor[:] = self._tree.game.unpack(state.node.state)
            return
        for entry in state.node.known[player]:
            own, *percepts = entry
            for name in (f"does {own}", *percepts):
                self.tensor[self._place[player][name]] = 1

    def string_from(self, state: GgpState, player: int) -> str:
        """An agent's information, or its current observation."""
        tell = self._tree.information if self._recalls else self._tree.observation
        return tell(state.node, player)


def _percepts(tree: ExtensiveGame, agent: int) -> dict[str, int]:
    """The place of each percept and own move in the tensor of an agent."""
    role = tree.roles[agent]
    own = [f"does {move}" for move in tree.game.moves[role]]
    of_role = np.flatnonzero(tree.game.tables.percept_role == role)
    names = [*own, *(str(tree.game.terms.percepts[i]) for i in of_role)]
    return {name: place for place, name in enumerate(names)}


if "ggp" not in pyspiel.registered_names():
    pyspiel.register_game(_game_type("General Game Playing: any GDL rule sheet", None), GgpGame)
