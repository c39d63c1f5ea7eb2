"""User options of the static evaluation. Imports neither numpy nor numba.

An *evaluation* is one of PARTS, or several joined by `+`:

    mobility   the moves of the role to move; alone, with half of the goals of nonterminal states
    distance   how near the roles are to their goals (`ggp.search.alphabeta.goal_distance`)
    features   a linear value of what holds, learned by self-play (`ggp.search.alphabeta.learning`)

`auto` tries several (`ggp.search.alphabeta.evaluation`). An evaluation of one's own is a function, as
`module:function` or `file.py:function`, or a file (`ggp.features.linear_form`).
"""

from __future__ import annotations

from ggp.search.option_table import OptionError

AUTO = "auto"
PARTS = ("mobility", "distance", "features")


def is_own_evaluation(evaluation: str) -> bool:
    """Whether an evaluation is one's own: a function or a file, neither `auto` nor made of PARTS.

    >>> [is_own_evaluation(each) for each in ("auto", "distance+mobility", "chess:material", "material.txt")]
    [False, False, True, True]
    """
    return any(sign in evaluation for sign in ":./\\")


def check_evaluation(evaluation: str) -> None:
    """Raise OptionError unless an evaluation is `auto`, some of PARTS joined by `+`, or one's own.

    >>> check_evaluation("distance+luck")
    Traceback (most recent call last):
    ggp.search.option_table.OptionError: evaluation must be auto, or some of mobility, ...
    """
    parts = evaluation.split("+")
    is_known = evaluation == AUTO or is_own_evaluation(evaluation)
    if not is_known and (set(parts) - set(PARTS) or len(set(parts)) < len(parts)):
        raise OptionError(
            f"evaluation must be {AUTO}, or some of {', '.join(PARTS)} joined by +, or your own:"
            f" module:function, file.py:function or a file with a linear form; not {evaluation!r}"
        )
