"""Play the sheets of `games/` by hand: set up a state, make moves, inspect the result."""

from dataclasses import replace
from typing import Any

from gdl.program import Predicate, Rule
from gdl.syntax.parser import parse_term
from gdl.terms import Compound
from ggp.engines.loading import load, read_program
from ggp.engines.reasoner import InterpretedGame
from ggp.game import Game


def rules(name: str) -> Game[Any]:
    return load(name, engine="reasoner")


def starting_from(name: str, *facts: str) -> Game[Any]:
    """The game of a sheet with another initial state."""
    program, _ = read_program(name)
    kept = [rule for rule in program.rules if rule.predicate != Predicate("init", 1)]
    init = [Rule(Compound("init", (parse_term(fact),))) for fact in facts]
    return InterpretedGame(replace(program, rules=(*kept, *init)), name)


def play(game: Game[Any], *steps: str) -> Any:
    """The state after some steps from the initial state, each written like `(drop 1) | noop`."""
    state = game.initial_state()
    for step in steps:
        state = game.next_state(state, [parse_term(move.strip()) for move in step.split("|")])
    return state


def facts(game: Game[Any], state: Any) -> set[str]:
    return {str(fact) for fact in game.facts(state)}


def legal(game: Game[Any], state: Any, role: int) -> set[str]:
    return {str(move) for move in game.legal_moves(state, game.roles[role])}


def final_goals(game: Game[Any], state: Any) -> list[int]:
    assert game.is_terminal(state)
    return [game.goal(state, role) for role in game.roles if str(role) != "random"]
