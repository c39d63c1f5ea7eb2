"""Checks a certificate of `ggp solve --certificate` by the rules alone, with the plain reasoner.

    python tests/oracles/certificate_checker.py RULES CERTIFICATE

Shares nothing with solvers and searches: it plays the listed move wherever the proving side chooses, every
move elsewhere, and looks at each end.
"""

import sys
from itertools import product
from pathlib import Path

import ggp
from gdl.syntax.parser import parse_term


class CertificateError(Exception):
    """The certificate does not prove what it says."""


def check(rules: str | Path, certificate: str | Path) -> tuple[str, int, int]:
    """Return the first role, its proven goal, and the number of states visited. Raises CertificateError."""
    game = ggp.load(str(rules), engine="reasoner")
    strategies, role, goal = read(Path(certificate))
    if role != str(game.roles[0]) or len(game.roles) > 2:
        raise CertificateError(f"it is about {role}")
    visited = sum(
        follow(game, strategies[name], goal, sign, mover)
        for name, sign, mover in [("atleast", 1, 0), ("atmost", -1, 1)]
        if goal != (0 if sign > 0 else 100)  # no goal is below 0 or above 100
    )
    return role, goal, visited


def read(path: Path) -> tuple[dict[str, dict[frozenset[str], str]], str, int]:
    """Name of the bound → facts of a state → the move there; the role; its goal."""
    strategies: dict[str, dict[frozenset[str], str]] = {"atleast": {}, "atmost": {}}
    first, *lines = path.read_text().splitlines()
    _, role, goal = map(str, (parse_term(first).name, *parse_term(first).arguments))
    for line in lines:
        term = parse_term(line)
        move, *facts = term.arguments
        strategies[term.name][frozenset(str(fact.arguments[0]) for fact in facts)] = str(move)
    return strategies, role, int(goal)


def follow(game, strategy: dict[frozenset[str], str], goal: int, sign: int, mover: int) -> int:
    """Visit what play by `strategy` reaches; return the number of states. A line that returns to a state of
    its own proves nothing about its end, except that a single role cannot gain by it."""
    line, done, state = {}, set(), game.initial_state()
    is_alone = mover == len(game.roles)
    while state is not None:
        line[state] = iter(replies(game, state, strategy, goal, sign, mover))
        state = None
        while line and state is None:
            last = next(reversed(line))
            for state in line[last]:
                if state in line and not is_alone:
                    raise CertificateError("play need not end")
                if state not in done and state not in line:
                    break
            else:
                state = None
                done.add(last)
                del line[last]
    return len(done)


def replies(game, state, strategy: dict[frozenset[str], str], goal: int, sign: int, mover: int) -> list:
    """The states that may follow: none after an end, one where the proving side chooses."""
    if game.is_terminal(state):
        if sign * game.goal(state, game.roles[0]) < sign * goal:
            raise CertificateError(f"an end with {game.goal(state, game.roles[0])}")
        return []
    legal = [game.legal_moves(state, role) for role in game.roles]
    if mover < len(legal) and len(legal[mover]) > 1:
        listed = strategy.get(frozenset(map(str, game.facts(state))))
        legal[mover] = [move for move in legal[mover] if str(move) == listed]
        if not legal[mover]:
            raise CertificateError("a state without a legal move of the strategy")
    return [game.next_state(state, joint) for joint in product(*legal)]


if __name__ == "__main__":
    print(*check(*sys.argv[1:]))
