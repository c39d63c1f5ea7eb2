"""Titles of all diagnostics of `gdl` by stable code.

A diagnostic's message is written by the check that finds it: `gdl.validation.checks` names the file of every
code. The longer text that `ggp validate --explain CODE` shows is in `gdl.validation.explanations`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gdl.errors import Diagnostic, Related, Severity
from gdl.terms import Span

CODES: Mapping[str, str] = {
    "GDL101": "unclosed parenthesis",
    "GDL102": "unmatched closing parenthesis",
    "GDL103": "parentheses nested too deep",
    "GDL104": "control character",
    "GDL105": "text too long",
    "GDL106": "empty list",
    "GDL107": "list that does not begin with a name",
    "GDL108": "rule without a head",
    "GDL109": "variable without a name",
    "GDL110": "not with a wrong number of operands",
    "GDL111": "connective in the wrong place",
    "GDL112": "unexpected part of an infix rule",
    "GDL113": "variable in place of an atom",
    "GDL114": "quoted name that is unclosed or that KIF cannot write",
    "GDL115": "not exactly one term",
    "GDL116": "too many arguments",
    "GDL117": "text around the rules",
    "GDL118": "character of a web page or a word processor",
    "GDL119": "comment of another language",
    "GDL120": "notation of another language",
    "GDL121": "role in capitals in infix form",
    "GDL201": "no roles",
    "GDL202": "keyword with the wrong number of arguments",
    "GDL203": "keyword that rules cannot define",
    "GDL204": "keyword that bodies cannot use",
    "GDL205": "unsafe variable",
    "GDL206": "forbidden dependence on the state or the moves",
    "GDL207": "negation in a cycle",
    "GDL208": "recursion that builds ever larger terms",
    "GDL209": "goal that is not an integer from 0 to 100",
    "GDL210": "rule with too many alternatives",
    "GDL211": "sheet with too many literals",
    "GDL212": "term in role position that is not a role",
    "GDL213": "role that depends on a rule",
    "GDL214": "no rules for a relation that every game needs",
    "GDL215": "keyword as a function, or connective as a constant",
    "GDL216": "recursion through an unrestricted argument",
    "GDL217": "next in a rule for sees",
    "GDL218": "relation of another language",
    "GDL219": "knowledge, as in GDL-III",
    "GDL301": "relation used with a number of arguments for which it has no rules",
    "GDL302": "name with different numbers of arguments",
    "GDL303": "negation in a cycle of relations, but not of atoms",
    "GDL304": "variable that occurs only once",
    "GDL305": "relation without rules",
    "GDL306": "fact or move that no rule produces",
    "GDL307": "relation that nothing needs",
    "GDL308": "rule that can never apply",
    "GDL309": "duplicate rule",
    "GDL310": "redundant rule",
    "GDL311": "nested or empty or",
    "GDL312": "rule without a body",
    "GDL313": "parentheses around a name alone",
    "GDL314": "unusual character in a name",
    "GDL315": "name in two capitalizations",
    "GDL316": "fact outside base",
    "GDL317": "move outside input",
    "GDL318": "terms that may grow from state to state",
    "GDL319": "keyword used as a constant",
    "GDL320": "one name for a relation and a function",
    "GDL321": "later keyword used as an ordinary name",
    "GDL322": "role without moves or goals",
    "GDL323": "base or input that lists what no rule produces",
    "GDL324": "goal that may not be an integer from 0 to 100",
    "GDL325": "fact about a name that is not a role",
    "GDL326": "fact that nothing carries over to the next state",
    "GDL327": "no initial state",
    "GDL328": "negation of distinct",
    "GDL329": "keyword as a function in a percept",
    "GDL330": "goal for a term that is not a role",
    "GDL331": "comment that silences nothing",
    "GDL332": "arithmetic that nothing computes",
}


def error(code: str, message: str, span: Span | None, *related: Related) -> Diagnostic:
    """An error: the rules break a restriction of the language."""
    return Diagnostic(code, Severity.ERROR, message, span, related)


def warning(code: str, message: str, span: Span | None, *related: Related) -> Diagnostic:
    """A warning: the game is playable, but probably not as meant."""
    return Diagnostic(code, Severity.WARNING, message, span, related)


Findings = Iterator[Diagnostic]
