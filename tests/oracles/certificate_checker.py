"""Checks a certificate of `ggp solve --certificate` by the rules alone, with the plain reasoner.

    python tests/oracles/certificate_checker.py RULES CERTIFICATE

Shares nothing with solvers and searches: it plays the moves of the file, in their order, wherever the proving
side chooses, every move elsewhere, and looks at each end. A file whose name ends in .xz is compressed.
"""

import lzma
import sys
from functools import cache
from itertools import product
from pathlib import Path

import ggp
from gdl.reasoning.values import term_of
from gdl.syntax.parser import parse_term


class CertificateError(Exception):
    """The certificate does not prove what it says."""


def check(rules: str | Path, certificate: str | Path) -> tuple[str, int, int]:
    """Return the first role, its proven goal, and the number of states visited. Raises CertificateError."""
    reasoner = ggp.load(str(rules), engine="reasoner").reasoner
    with (lzma.open if Path(certificate).suffix == ".xz" else open)(certificate, "rt") as file:
        role, goal = map(str, parse_term(next(file)).arguments)
        if role != reasoner.roles[0] or len(reasoner.roles) > 2:
            raise CertificateError(f"it is about {role}")
        moves = map(str.strip, file)
        visited = sum(
            follow(reasoner, moves, int(goal), sign, mover)
            for sign, mover in [(1, 0), (-1, 1)]
            if int(goal) != (0 if sign > 0 else 100)  # no goal is below 0 or above 100
        )
        if next(moves, None) is not None:
            raise CertificateError("there are more moves than choices")
    return role, int(goal), visited


class Bits(dict):
    """A bit of its own for each fact; the sum of a state's bits takes less memory than the state."""

    def __missing__(self, fact) -> int:
        return self.setdefault(fact, 1 << len(self))


@cache
def text_of(move) -> str:
    return str(term_of(move))


def follow(reasoner, moves, goal: int, sign: int, mover: int) -> int:
    """Visit what play by `moves` reaches; return the number of states. A line that returns to a state of its
    own proves nothing about its end, except that a single role cannot gain by it."""
    bits, line, done, state = Bits(), {}, set(), reasoner.initial_facts
    is_alone = mover == len(reasoner.roles)
    number = sum(map(bits.__getitem__, state))
    while number is not None:
        line[number] = iter(replies(reasoner, state, moves, goal, sign, mover))
        number = None
        while line and number is None:
            last = next(reversed(line))
            for state in line[last]:
                number = sum(map(bits.__getitem__, state))
                if number in line and not is_alone:
                    raise CertificateError("play need not end")
                if number not in done and number not in line:
                    break
            else:
                number = None
                done.add(last)
                del line[last]
    return len(done)


def replies(reasoner, state, moves, goal: int, sign: int, mover: int) -> list:
    """The states that may follow: none after an end, one where the proving side chooses."""
    roles, context = reasoner.roles, reasoner.context(state)
    if reasoner.is_terminal(context):
        (found,) = reasoner.goals(context, roles[0])
        if sign * int(found) < sign * goal:
            raise CertificateError(f"an end with {found}")
        return []
    legal = [sorted(reasoner.legal_moves(context, role), key=text_of) for role in roles]
    if not all(legal):
        raise CertificateError("a role has no legal move")
    if mover < len(legal) and len(legal[mover]) > 1:
        listed = next(moves, "nothing")
        legal[mover] = [move for move in legal[mover] if text_of(move) == listed]
        if not legal[mover]:
            raise CertificateError(f"{listed} where the proving side chooses is not legal")
    joint_moves = (dict(zip(roles, joint, strict=True)) for joint in product(*legal))
    return [reasoner.next_facts(reasoner.with_moves(context, each)) for each in joint_moves]


if __name__ == "__main__":
    print(*check(*sys.argv[1:]))
