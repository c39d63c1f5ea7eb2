"""Mechanical corrections of a rule sheet in KIF, for `ggp validate --fix`.

Each correction is an edit of the text: comments, layout, line ends and everything else stay. None changes
the meaning: the corrected text is parsed again and its rules are compared with the original ones, up to
variable names, the order of literals and repetitions. What a reader must decide (a misspelling, a missing
rule) is left.

    GDL304   prefix a variable that occurs once with an underscore
    GDL309   remove a duplicate rule
    GDL311   write an `or` with one formula as that formula, and merge an `or` into the one around it
    GDL312   write a rule without a body as a fact
    GDL313   remove parentheses around the name of a relation alone
    GDL315   use the first spelling of a name or variable throughout
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from gdl.errors import GdlSyntaxError, Severity
from gdl.normalize import normalize
from gdl.program import Program, Rule, atoms_of, variables_of
from gdl.syntax.brackets import Lines
from gdl.syntax.parser import constants_as_written, looks_infix, parse
from gdl.syntax.term_builders import fold
from gdl.terms import Compound, Span, Symbol
from gdl.validation.all_checks import check
from gdl.validation.checks.redundancy import canonical, empty_bodies, odd_disjunctions, repeated_rules
from gdl.validation.checks.safety import singletons
from gdl.validation.selection import Selection
from gdl.validation.sheet import Sheet, disjunctions_in

_TOUCHING_NAMES = re.compile(r"[^\s();]{2}")

MAX_ROUNDS = 20
"""Maximum rounds of edits; each round may uncover further ones, such as an `or` in an `or`."""


class FixError(AssertionError):
    """The corrected text would mean something else: a bug of this module."""


@dataclass(frozen=True, order=True, slots=True)
class Edit:
    """Replacement of `text[start:end]`."""

    start: int
    end: int
    new: str


class _Text:
    """The text of a sheet, addressed by spans."""

    def __init__(self, program: Program) -> None:
        self.text = program.source.text
        self.lines = Lines(self.text)

    def edit(self, span: Span, new: str) -> Edit:
        return Edit(*self.lines.offsets(span), new)

    def at(self, span: Span) -> str:
        return self.text[slice(*self.lines.offsets(span))]


Correction = tuple[Span, list[Edit]]
"""Where the finding is, and the edits that correct it."""


def fix(program: Program, selection: Selection, written: str | None = None) -> tuple[str, int]:
    """The corrected text of a sheet, and the number of corrections.

    Only codes of `selection`. Texts in infix form, or with rules that have no meaning, are returned as they
    are.

    written   the text that was parsed, whose line ends and byte order mark stay; by default that of the
              program, in which lines end in \\n
    Raises FixError.

    >>> from gdl.syntax.parser import parse
    >>> fix(parse("(role a) (role A) (<= p (or q)) (<= (p))"), Selection())
    ('(role a) (<= p q) p', 4)
    """
    text, count = program.source.text if written is None else written, 0
    if looks_infix(program.source.text) or any(found.severity is Severity.ERROR for found in check(program)):
        return text, 0
    for _ in range(MAX_ROUNDS):
        edits, corrected = _compatible(program, selection)
        if not corrected:
            break
        new = _applied(text, _in_written(text, edits))
        try:
            fixed = parse(new, name=program.source.name, syntax="kif")
        except GdlSyntaxError as error:
            raise FixError(str(error)) from error
        if _meaning(fixed) != _meaning(program):
            raise FixError(f"{program.source.name}: the corrections would change the rules")
        program, text, count = fixed, new, count + corrected
    return text, count


def _compatible(program: Program, selection: Selection) -> tuple[list[Edit], int]:
    """Edits that do not overlap, and how many corrections they make."""
    taken: list[Edit] = []
    count = 0
    for code, corrections in FIXES.items():
        if not selection.includes(code):
            continue
        for _, edits in corrections(program):
            if not edits or any(_overlap(new, old) for new in edits for old in taken):
                continue
            taken += edits
            count += 1
    return sorted(taken), count


def _overlap(one: Edit, other: Edit) -> bool:
    return one.start < other.end and other.start < one.end


def _in_written(text: str, edits: list[Edit]) -> list[Edit]:
    """`edits` of the parsed form of `text`, at their places in `text` itself."""
    shift = text.startswith("\ufeff")
    pairs = [found.start() - shift - number for number, found in enumerate(re.finditer("\r\n", text))]

    def place(offset: int) -> int:
        return offset + shift + bisect_left(pairs, offset)

    return [Edit(place(edit.start), place(edit.end), edit.new) for edit in edits]


def _applied(text: str, edits: list[Edit]) -> str:
    """`text` with its edits, and a blank where two names would touch."""
    parts: list[str] = []
    place = 0
    for edit in [*edits, Edit(len(text), len(text), "")]:
        for piece in filter(None, (text[place : edit.start], edit.new)):
            if parts and _TOUCHING_NAMES.fullmatch(parts[-1][-1] + piece[0]):
                parts.append(" ")
            parts.append(piece)
        place = edit.end
    return "".join(parts)


def _meaning(program: Program) -> set[object]:
    return {canonical(_folded(rule)) for rule in normalize(program).rules}


def _folded(rule: Rule) -> Rule:
    """`rule` with atoms `(p)` written `p`."""

    def atom(form: Symbol | Compound) -> Symbol | Compound:
        return Symbol(form.name) if isinstance(form, Compound) and not form.arguments else form

    body = tuple([replace(literal, atom=atom(literal.atom)) for literal in rule.literals])
    return Rule(atom(rule.head), body, rule.span)


def _single_variables(program: Program) -> Iterator[Correction]:
    """GDL304. Names that another variable of the rule has are left."""
    text = _Text(program)
    found = {finding.span for finding in singletons(Sheet(program)) if finding.span}
    for rule in program.rules:
        used = {variable.name for variable in variables_of(rule)}
        for variable in variables_of(rule):
            if variable.span in found and f"_{variable.name}" not in used:
                yield variable.span, [text.edit(variable.span, "?_" + text.at(variable.span)[1:])]


def _duplicates(program: Program) -> Iterator[Correction]:
    """GDL309, with the rest of the line if nothing else is on it."""
    text = _Text(program)
    for finding in repeated_rules(Sheet(program)):
        if finding.code != "GDL309" or finding.span is None:
            continue
        edit = text.edit(finding.span, "")
        line_start = text.lines.start(finding.span.line)
        line_end = text.lines.start(finding.span.end_line + 1)
        before, after = text.text[line_start : edit.start], text.text[edit.end : line_end]
        if not before.strip() and not after.strip():
            edit = Edit(line_start, line_end, "")
        elif after[:1] == " ":
            edit = Edit(edit.start, edit.end + 1, "")
        yield finding.span, [] if ";" in text.at(finding.span) else [edit]


def _disjunctions(program: Program) -> Iterator[Correction]:
    """GDL311, except an empty `or`."""
    text = _Text(program)
    found = {finding.span for finding in odd_disjunctions(Sheet(program))}
    for formula in disjunctions_in(program):
        if formula.span is not None and formula.span in found and formula.operands:
            first, last = formula.operands[0].span, formula.operands[-1].span
            yield formula.span, _unwrapped(formula.span, first, last, text)


def _unwrapped(span: Span, first: Span | None, last: Span | None, text: _Text) -> list[Edit]:
    """Edits that keep only what stands from `first` to `last`; none if comments would go."""
    if first is None or last is None:
        return []
    whole, start, end = text.edit(span, ""), text.edit(first, "").start, text.edit(last, "").end
    head, tail = Edit(whole.start, start, ""), Edit(end, whole.end, "")
    between = text.text[head.start : head.end] + text.text[tail.start : tail.end]
    return [] if ";" in between else [head, tail]


def _empty_rules(program: Program) -> Iterator[Correction]:
    """GDL312."""
    text = _Text(program)
    found = {finding.span for finding in empty_bodies(Sheet(program))}
    for rule in program.rules:
        if rule.span in found and rule.span is not None:
            yield rule.span, _unwrapped(rule.span, rule.head.span, rule.head.span, text)


def _parentheses(program: Program) -> Iterator[Correction]:
    """GDL313 for atoms; as terms, `(f)` and `f` differ."""
    text = _Text(program)
    for rule in program.rules:
        for atom in atoms_of(rule):
            if isinstance(atom, Compound) and not atom.arguments and atom.span is not None:
                written = text.at(atom.span)
                name = written.strip("()").strip()
                yield atom.span, [] if ";" in written else [text.edit(atom.span, name)]


def _spellings(program: Program) -> Iterator[Correction]:
    """GDL315: the first spelling of each name, and of each variable of a rule."""
    text = _Text(program)
    if text.text == text.text.lower():
        return
    first: dict[str, str] = {}
    for start, word in constants_as_written(text.text, is_infix=False):
        spelling = first.setdefault(fold(word), word)
        if spelling != word:
            end = start + len(word)
            yield text.lines.span(start, end), [Edit(start, end, spelling)]
    for rule in program.rules:
        names: dict[str, str] = {}
        for variable in variables_of(rule):
            if variable.span is not None:
                word = text.at(variable.span)
                spelling = names.setdefault(variable.name, word)
                if spelling != word:
                    yield variable.span, [text.edit(variable.span, spelling)]


FIXES: Mapping[str, Callable[[Program], Iterator[Correction]]] = {
    "GDL309": _duplicates,
    "GDL311": _disjunctions,
    "GDL312": _empty_rules,
    "GDL313": _parentheses,
    "GDL315": _spellings,
    "GDL304": _single_variables,
}
"""Code → its corrections."""
