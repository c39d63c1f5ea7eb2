"""Is a program meaningful, and is it what its author meant?

`check` finds the errors without whose absence reasoning makes no sense; loading a game needs only these
(`require_valid`). `validate` finds all that can be told without playing: the errors of `check`,
restrictions of the language that a sheet can break and still be played, and warnings. `CODES` lists every
diagnostic; docs/diagnostics.md explains each.

One module per family of checks, each check a generator of diagnostics over a `Sheet`. Rules come from
strangers: every check is linear in the size of the sheet, or stops after a fixed number of steps.
"""

from gdl.validation.checks import MAX_FINDINGS, check, require_valid, validate
from gdl.validation.codes import CODES

__all__ = ["CODES", "MAX_FINDINGS", "check", "require_valid", "validate"]
