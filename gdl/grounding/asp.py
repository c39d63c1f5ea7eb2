"""Rules as text for gringo.

Every GDL name becomes a letter and its number in a table, so that no two names can collide whatever
characters they use, and no name can be mistaken for ASP syntax, an ASP integer or a variable:

    c7         the symbol, or the function with arguments, number 7
    z7         the compound without arguments `(name)`, which is not the symbol `name`
    p7         the predicate number 7, unless it is in `SHOWN`
    V0, V1     variables, numbered per rule
"""

from __future__ import annotations

from collections.abc import Iterable

from gdl.program import Literal, Rule, predicate_of
from gdl.terms import Compound, Symbol, Term, Variable

SHOWN = {
    "role": 1,
    "init": 1,
    "true": 1,
    "next": 1,
    "does": 2,
    "legal": 2,
    "goal": 2,
    "sees": 2,
    "terminal": 0,
}
"""Predicates whose atoms the ground program names, with their arities."""

INPUTS = "{true(F)} :- init(F).\n{true(F)} :- next(F).\n{does(R,M)} :- legal(R,M), role(R).\n"
"""Choice rules: derivable facts may hold, possibly legal moves may be made."""


class Names:
    """Numbered names of one program, with the way back."""

    def __init__(self) -> None:
        self._number: dict[str, int] = {}
        self._names: list[str] = []
        self._terms: dict[str, Term] = {}

    def number(self, name: str) -> int:
        """The number of `name`, a new one on its first occurrence."""
        if name not in self._number:
            self._number[name] = len(self._names)
            self._names.append(name)
        return self._number[name]

    def name(self, mangled: str) -> str:
        """The GDL name behind a mangled one such as `p12`. Names of `SHOWN` are not mangled."""
        return mangled if mangled in SHOWN else self._names[int(mangled[1:])]

    def predicate(self, name: str, arity: int) -> str:
        """The mangled name of a predicate."""
        return name if SHOWN.get(name) == arity else f"p{self.number(name)}"

    def term(self, text: str) -> Term:
        """The term that gringo writes as `text`. Equal texts give the same object."""
        if text not in self._terms:
            self._terms[text] = self._read(text)
        return self._terms[text]

    def _read(self, text: str) -> Term:
        opening = text.find("(")
        if opening < 0:
            name = self._names[int(text[1:])]
            return Symbol(name) if text[0] == "c" else Compound(name, ())
        arguments = split_arguments(text[opening + 1 : -1])
        return Compound(self._names[int(text[1:opening])], tuple(map(self.term, arguments)))


def split_arguments(text: str) -> list[str]:
    """Split `text` at its outer commas.

    >>> split_arguments("a,f(b,c),d")
    ['a', 'f(b,c)', 'd']
    """
    if "(" not in text:
        return text.split(",")
    parts: list[str] = []
    depth = start = 0
    for place, letter in enumerate(text):
        if letter == "(":
            depth += 1
        elif letter == ")":
            depth -= 1
        elif letter == "," and not depth:
            parts.append(text[start:place])
            start = place + 1
    parts.append(text[start:])
    return parts


def to_asp(rules: Iterable[Rule], names: Names) -> str:
    """The ASP program of `rules`, with facts and moves open to choice."""
    lines = [rule_to_asp(rule, names) for rule in rules]
    lines += [f"#show {name}/{arity}." for name, arity in SHOWN.items()]
    return "\n".join([*lines, INPUTS])


def rule_to_asp(rule: Rule, names: Names) -> str:
    """One rule as ASP.

    >>> from gdl.syntax.parser import parse
    >>> rule_to_asp(parse("(<= (legal ?r (mark ?x)) (role ?r) (not (full ?x)))").rules[0], Names())
    'legal(V0,c0(V1)) :- role(V0), not p1(V1).'
    """
    writer = _RuleWriter(names)
    head = writer.atom(rule.head)
    if not rule.body:
        return head + "."
    return f"{head} :- {', '.join(map(writer.literal, rule.literals))}."


class _RuleWriter:
    def __init__(self, names: Names) -> None:
        self._names = names
        self._variables: dict[str, str] = {}

    def literal(self, literal: Literal) -> str:
        atom = literal.atom
        if isinstance(atom, Compound) and predicate_of(atom) == ("distinct", 2):
            left, right = map(self.term, atom.arguments)
            return f"{left} {'!=' if literal.is_positive else '='} {right}"
        return self.atom(atom) if literal.is_positive else "not " + self.atom(atom)

    def atom(self, atom: Symbol | Compound) -> str:
        if isinstance(atom, Symbol) or not atom.arguments:
            return self._names.predicate(atom.name, 0)
        name = self._names.predicate(atom.name, len(atom.arguments))
        return f"{name}({','.join(map(self.term, atom.arguments))})"

    def term(self, term: Term) -> str:
        if isinstance(term, Variable):
            return self._variables.setdefault(term.name, f"V{len(self._variables)}")
        number = self._names.number(term.name)
        if isinstance(term, Symbol):
            return f"c{number}"
        if not term.arguments:
            return f"z{number}"
        return f"c{number}({','.join(map(self.term, term.arguments))})"
