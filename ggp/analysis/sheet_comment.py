"""The opening comment of a rule sheet: title, rules in prose, and fields such as `kind: puzzle`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

LINE_LIMIT = 40
"""Maximum number of lines that are read: a longer comment is not a summary."""


@dataclass(frozen=True)
class SheetComment:
    """What the author says about a game; everything is empty if the sheet has no comment.

    title      the first sentence, without a full stop
    rules      paragraphs in prose
    fields     roles, kind, value and scale, if the sheet states them; `board`, `edges` and `counters`, how a
               state is drawn
    notations  how moves are written, see `ggp.analysis.notation`
    """

    title: str = ""
    rules: tuple[str, ...] = ()
    fields: Mapping[str, str] = field(default_factory=dict)
    notations: tuple[str, ...] = ()

    @property
    def counters(self) -> dict[str, str]:
        """What counters are called, from a field such as `quiet = turns without a capture, step = turns`.

        >>> read_comment("; counters: quiet = turns without a capture").counters
        {'quiet': 'turns without a capture'}
        """
        pairs = (part.partition("=") for part in self.fields.get("counters", "").split(","))
        return {name.strip(): words.strip() for name, _, words in pairs if words.strip()}


def read_comment(text: str) -> SheetComment:
    """The opening comment of rule text in KIF or infix form."""
    paragraphs: list[str] = [""]
    fields: dict[str, str] = {}
    notations: list[str] = []
    key = ""
    for line in _comment_lines(text):
        words = line.strip()
        found = re.fullmatch(r"(roles|kind|value|scale|board|edges|counters): *(.*)", words)
        if words.startswith("notation:"):
            notations += filter(None, [words.removeprefix("notation:").strip()])
            key = ""
        elif found:
            key = found[1]
            fields[key] = found[2]
        elif not words:
            key = ""
            paragraphs.append("")
        elif key:
            fields[key] += f" {words}"
        else:
            paragraphs[-1] = f"{paragraphs[-1]}\n{words}".strip()
    first, *rules = list(filter(None, paragraphs)) or [""]
    title, *rest = re.split(r"\. |\n", first, maxsplit=1)
    texts = tuple(text.replace("\n", " ") for text in (*rest, *rules))
    return SheetComment(title.removesuffix("."), texts, fields, tuple(notations))


def _comment_lines(text: str) -> list[str]:
    """The lines of the first comment without comment signs, rulers and control characters."""
    lines: list[str] = []
    for line in text.splitlines():
        if not line.strip() and not lines:
            continue
        if line.lstrip()[:1] not in (";", "%") or len(lines) == LINE_LIMIT:
            break
        words = "".join(char for char in line.lstrip(" ;%\t") if char.isprintable()).rstrip()
        lines.append(words if re.search(r"\w", words) else "")
    return lines
