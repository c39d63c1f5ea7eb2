"""Static validation: located diagnostics with stable codes for a rule sheet.

`check` finds the errors that leave a program without a meaning; loading a game requires only their absence
(`require_valid`). `validate` finds everything that can be found without playing: the errors of `check`,
broken restrictions of the language that still leave the game playable, and warnings.

The message of a diagnostic is in the file that lists its code:

    checks         the list of all checks, and the functions that run them
    codes          `CODES`: the title of every code
    explanations   what `ggp validate --explain CODE` shows below the title
    sheet          what the checks share about one sheet, computed on demand
    inference      which constants may occur where, and which rules that rules out
    structure      GDL201 GDL202 GDL203 GDL204 GDL213 GDL214 GDL215 GDL319 GDL321 GDL327 GDL329
    safety         GDL205 GDL304
    dependence     GDL206 GDL207 GDL303
    recursion      GDL208 GDL216 GDL318
    roles          GDL209 GDL212 GDL322 GDL324 GDL325 GDL330
    names          GDL302 GDL313 GDL314 GDL315 GDL320
    dead_rules     GDL301 GDL305 GDL306 GDL307 GDL308
    redundancy     GDL309 GDL310 GDL311 GDL312 GDL328
    facts          GDL316 GDL317 GDL323 GDL326
    selection      GDL331

`selection` holds which findings are reported (codes selected, comments that silence), `fixes` the mechanical
corrections of the text, `repairs` what a program needs to mend a sheet, guesses included.

`gdl.syntax` reports GDL1xx, `gdl.normalize` GDL210 and GDL211. Each check is a generator of diagnostics over
a `Sheet`. Rule sheets are untrusted input: every check is linear in the size of the sheet, or stops after a
fixed number of steps.
"""

from gdl.validation.checks import MAX_FINDINGS, check, require_valid, validate
from gdl.validation.codes import CODES
from gdl.validation.selection import Selection

__all__ = ["CODES", "MAX_FINDINGS", "Selection", "check", "require_valid", "validate"]
