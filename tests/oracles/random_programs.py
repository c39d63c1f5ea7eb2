"""Small random GDL programs: recursion, negation, function terms, repeated variables, simultaneous moves.

Every program is stratified and safe by construction; it need not make sense as a game.
"""

import random
from functools import partial

from gdl.program import Program
from gdl.syntax.parser import parse

CONSTANTS = ("a", "b", "c")
VARIABLES = ("?x", "?y", "?z")
ROLES = ("left", "right")
FLUENTS = ("flag", "(on ?)", "(cell ? ?)", "(box (g ?))", "(f)")
MOVES = ("noop", "(take ?)", "(put ? ?)")


def random_program(seed: int) -> Program:
    """The program of `seed`."""
    return parse(random_rules(seed))


def random_rules(seed: int) -> str:
    """KIF text of a random program with roles left and right."""
    rng = random.Random(seed)
    lines = [f"(role {role})" for role in ROLES]
    lines += [f"(e {constant})" for constant in rng.sample(CONSTANTS, rng.randint(1, 3))]
    lines += [f"(r {rng.choice(CONSTANTS)} {rng.choice(CONSTANTS)})" for _ in range(rng.randint(1, 5))]
    lines += [f"(init {fill(rng, rng.choice(FLUENTS), CONSTANTS)})" for _ in range(rng.randint(0, 4))]
    levels = [[(f"p{level}{number}", rng.randint(0, 3)) for number in range(2)] for level in range(3)]
    for level, predicates in enumerate(levels):
        below = [predicate for lower in levels[:level] for predicate in lower]
        uses_moves = level == 2
        for name, arity in predicates:
            for _ in range(rng.randint(1, 3)):
                lines.append(
                    rule(rng, partial(derived_head, rng, name, arity), below + predicates, below, uses_moves)
                )
    calm = levels[0] + levels[1]
    for role in ROLES:
        for _ in range(rng.randint(1, 3)):
            lines.append(
                rule(
                    rng,
                    lambda names, role=role: f"(legal {role} {fill(rng, rng.choice(MOVES), names)})",
                    calm,
                    calm,
                    False,
                )
            )
        lines.append(
            rule(rng, lambda names, role=role: f"(goal {role} {pick(rng, names)})", calm, calm, False)
        )
    lines.append(rule(rng, lambda names: "terminal", calm, calm, False))
    everything = calm + levels[2]
    for _ in range(rng.randint(2, 5)):
        lines.append(
            rule(
                rng,
                lambda names: f"(next {fill(rng, rng.choice(FLUENTS), names)})",
                everything,
                everything,
                True,
            )
        )
    rng.shuffle(lines)
    return "\n".join(lines)


def random_fluents(rng: random.Random) -> list[str]:
    """KIF of some random facts over the fluents of random programs."""
    return sorted({fill(rng, rng.choice(FLUENTS), CONSTANTS) for _ in range(rng.randint(0, 8))})


def random_moves(rng: random.Random) -> list[str]:
    """KIF of one move per role."""
    return [fill(rng, rng.choice(MOVES), CONSTANTS) for _ in ROLES]


def rule(rng, head, positive, negative, uses_moves):
    body, names = [], []
    for _ in range(rng.randint(0, 4)):
        kind = rng.random()
        if kind < 0.35:
            literal = f"(true {fill(rng, rng.choice(FLUENTS), VARIABLES + CONSTANTS[:1])})"
        elif kind < 0.55:
            literal = rng.choice(("(e {0})", "(r {0} {1})", "(r {0} {0})")).format(
                rng.choice(VARIABLES), rng.choice(VARIABLES)
            )
        elif kind < 0.7 and uses_moves:
            literal = f"(does {rng.choice((*ROLES, '?z'))} {fill(rng, rng.choice(MOVES), VARIABLES)})"
        elif positive:
            name, arity = rng.choice(positive)
            literal = atom(name, [rng.choice(VARIABLES + CONSTANTS[:1]) for _ in range(arity)])
        else:
            continue
        body.append(literal)
        names += [name for name in VARIABLES if name in literal]
    filters = []
    if names and rng.random() < 0.3:
        filters.append(f"(distinct {rng.choice(names)} {pick(rng, names)})")
    if negative and rng.random() < 0.5:
        name, arity = rng.choice(negative)
        filters.append(f"(not {atom(name, [pick(rng, names) for _ in range(arity)])})")
    if rng.random() < 0.3:
        filters.append(f"(not (true {fill(rng, rng.choice(FLUENTS), names or CONSTANTS)}))")
    parts = filters + body if rng.random() < 0.5 else body + filters
    return f"(<= {head(names)} {' '.join(parts)})"


def derived_head(rng, name, arity, names):
    return atom(name, [pick(rng, names) for _ in range(arity)])


def pick(rng, names):
    return rng.choice(names) if names and rng.random() < 0.8 else rng.choice(CONSTANTS)


def fill(rng, pattern, names):
    while "?" in pattern.replace("?x", "").replace("?y", "").replace("?z", ""):
        at = next(i for i, c in enumerate(pattern) if c == "?" and pattern[i + 1 : i + 2] in (" ", ")"))
        pattern = pattern[:at] + (pick(rng, names) if names else rng.choice(CONSTANTS)) + pattern[at + 1 :]
    return pattern


def atom(name, arguments):
    return f"({' '.join([name, *arguments])})" if arguments else name
