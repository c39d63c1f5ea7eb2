"""Static validation: located diagnostics with stable codes for a rule sheet.

`check` finds the errors that leave a program without a meaning; loading a game requires only their absence
(`require_valid`). `validate` finds everything that can be found without playing: the errors of `check`,
broken restrictions of the language that still leave the game playable, and warnings.

    checks/        one file per kind of finding: it finds it and writes the sentence that a user reads
    all_checks     the list of all checks, and the functions that run them
    codes          title and explanation of every code, from codes.md
    sheet          what the checks share about one sheet, computed on demand
    inference      which constants may occur where, and which rules that rules out
    consequences   findings that only follow from an error elsewhere
    wording        messages in the notation of the sheet
    selection      which findings are reported
    fixes          the mechanical corrections of the text
    repairs        what a program needs to mend a sheet, guesses included
"""

from gdl.validation.all_checks import MAX_FINDINGS, check, require_valid, validate
from gdl.validation.codes import CODES
from gdl.validation.selection import Selection

__all__ = ["CODES", "MAX_FINDINGS", "Selection", "check", "require_valid", "validate"]
