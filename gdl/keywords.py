"""Keywords of GDL: their arities, and where each may occur.

Sources: GDL is N. Love, T. Hinrichs, D. Haley, E. Schkufza, M. Genesereth, "General Game Playing: Game
Description Language Specification", 2008; GDL-II is M. Thielscher, "A General Game Description Language
for Incomplete Information Games", AAAI 2010; `base` and `input` came with the practice of GGP since about
2011 (M. Genesereth, M. Thielscher, "General Game Playing", 2014, chapter 2).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gdl.program import Predicate


@dataclass(frozen=True, slots=True)
class Keyword:
    """One relation of the language.

    meaning        completes "'legal' …" in messages
    source         the publication that introduced it, see above
    may_be_head    whether rules and facts may define it
    may_be_body    whether bodies may refer to it
    is_strict      whether another arity is an error; sheets older than a keyword use it as an ordinary name
    never_needs    keywords that its rules must not depend on, directly or through other relations
    """

    name: str
    arity: int
    meaning: str
    source: str
    may_be_head: bool = True
    may_be_body: bool = True
    is_strict: bool = True
    never_needs: tuple[str, ...] = ()

    @property
    def predicate(self) -> Predicate:
        return Predicate(self.name, self.arity)


FORMS: Mapping[str, str] = {
    "role": "(role robot)",
    "init": "(init (cell 1 b))",
    "true": "(true (cell 1 b))",
    "next": "(next (cell 1 b))",
    "legal": "(legal robot (mark 1))",
    "does": "(does robot (mark 1))",
    "goal": "(goal robot 100)",
    "terminal": "terminal",
    "distinct": "(distinct ?x ?y)",
    "sees": "(sees robot (card 7))",
    "base": "(base (cell 1 b))",
    "input": "(input robot (mark 1))",
}
"""An example of each keyword in use, for messages."""

_ALL = (
    Keyword("role", 1, "declares the players", "GDL", never_needs=("true", "does")),
    Keyword("init", 1, "defines the initial state", "GDL", may_be_body=False, never_needs=("true", "does")),
    Keyword("true", 1, "describes the current state", "GDL", may_be_head=False),
    Keyword("next", 1, "defines the next state", "GDL", may_be_body=False),
    Keyword("legal", 2, "defines the legal moves", "GDL", never_needs=("does",)),
    Keyword("does", 2, "describes the moves made", "GDL", may_be_head=False),
    Keyword("goal", 2, "defines the goal values", "GDL", never_needs=("does",)),
    Keyword("terminal", 0, "defines when the match ends", "GDL", never_needs=("does",)),
    Keyword("distinct", 2, "tests that two terms differ", "GDL", may_be_head=False),
    Keyword("sees", 2, "defines what a role perceives", "GDL-II", may_be_body=False, is_strict=False),
    Keyword("base", 1, "lists the possible facts", "GGP", is_strict=False, never_needs=("true", "does")),
    Keyword("input", 2, "lists the possible moves", "GGP", is_strict=False, never_needs=("true", "does")),
)

KEYWORDS: Mapping[str, Keyword] = {keyword.name: keyword for keyword in _ALL}

RANDOM = "random"
"""The role that chooses by chance [GDL-II]: a constant, not a relation."""
