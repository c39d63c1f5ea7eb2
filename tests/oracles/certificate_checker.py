"""Checks a certificate of `ggp solve --certificate` by the rules alone, with the plain reasoner.

    python tests/oracles/certificate_checker.py RULES CERTIFICATE

Shares nothing with solvers and searches: it plays the moves of the file, in their order, wherever the proving
side chooses, every move elsewhere, and looks at each end. A file whose name ends in .xz is compressed.
"""

import lzma
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
    with (lzma.open if Path(certificate).suffix == ".xz" else open)(certificate, "rt") as file:
        role, goal = map(str, parse_term(next(file)).arguments)
        if role != str(game.roles[0]) or len(game.roles) > 2:
            raise CertificateError(f"it is about {role}")
        moves = map(str.strip, file)
        visited = sum(
            follow(game, moves, int(goal), sign, mover)
            for sign, mover in [(1, 0), (-1, 1)]
            if int(goal) != (0 if sign > 0 else 100)  # no goal is below 0 or above 100
        )
        if next(moves, None) is not None:
            raise CertificateError("there are more moves than choices")
    return role, int(goal), visited


def follow(game, moves, goal: int, sign: int, mover: int) -> int:
    """Visit what play by `moves` reaches; return the number of states. A line that returns to a state of its
    own proves nothing about its end, except that a single role cannot gain by it."""
    bits, line, done, state = {}, {}, set(), game.initial_state()
    is_alone = mover == len(game.roles)
    number = number_of(state, bits)
    while number is not None:
        line[number] = iter(replies(game, state, moves, goal, sign, mover))
        number = None
        while line and number is None:
            last = next(reversed(line))
            for state in line[last]:
                number = number_of(state, bits)
                if number in line and not is_alone:
                    raise CertificateError("play need not end")
                if number not in done and number not in line:
                    break
            else:
                number = None
                done.add(last)
                del line[last]
    return len(done)


def number_of(state, bits: dict) -> int:
    """A number with a bit for each fact of a state, which takes less memory than the state."""
    return sum(bits.setdefault(fact, 1 << len(bits)) for fact in state)


def replies(game, state, moves, goal: int, sign: int, mover: int) -> list:
    """The states that may follow: none after an end, one where the proving side chooses."""
    if game.is_terminal(state):
        if sign * game.goal(state, game.roles[0]) < sign * goal:
            raise CertificateError(f"an end with {game.goal(state, game.roles[0])}")
        return []
    legal = [game.legal_moves(state, role) for role in game.roles]
    if mover < len(legal) and len(legal[mover]) > 1:
        listed = next(moves, "nothing")
        legal[mover] = [move for move in legal[mover] if str(move) == listed]
        if not legal[mover]:
            raise CertificateError(f"{listed} where the proving side chooses is not legal")
    return [game.next_state(state, joint) for joint in product(*legal)]


if __name__ == "__main__":
    print(*check(*sys.argv[1:]))
