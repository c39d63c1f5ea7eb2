"""An explanation as text, one line a step."""

from __future__ import annotations

from collections.abc import Iterator

from ggp.explain.explanation import MARKS, Explanation, Table


def text_of(found: Explanation) -> str:
    """All steps, then the summary.

    >>> from ggp.explain.searches import explain
    >>> print(text_of(explain("[[3,9],[2,4]]")))
    tree: alphabeta
      1  root: max chooses, window [−∞, ∞]
    ...
    """
    return "\n".join(lines_of(found))


def lines_of(found: Explanation) -> Iterator[str]:
    yield found.title
    digits = max(3, len(str(len(found.steps))))
    for number, step in enumerate(found.steps, 1):
        yield f"{number:>{digits}}  {'  ' * step.ply}{step.text}"
        for table in step.tables:
            yield from (f"{' ' * digits}      {line}" for line in table_lines(table))
    yield ""
    yield from found.summary
    if found.comparison is not None:
        yield from ("", *table_lines(found.comparison))
    marks = {mark for step in found.steps for look in step.looks.values() for mark in look.marks}
    if marks:
        yield from ("", *(f"{mark}  {text}" for mark, text in MARKS.items() if mark in marks))


def table_lines(table: Table) -> Iterator[str]:
    """A table with its title, columns aligned: the first to the left, the others to the right."""
    rows = (table.head, *table.rows)
    widths = [max(len(row[i]) for row in rows) for i in range(len(table.head))]
    yield table.title
    for row in rows:
        cells = [f"{row[0]:<{widths[0]}}", *(f"{c:>{w}}" for c, w in zip(row[1:], widths[1:], strict=True))]
        yield "  " + "  ".join(cells)
