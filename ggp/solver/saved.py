"""Saved solutions: a file with the value of every reachable state, to be played from.

The file is a line naming the format, a line of JSON (what `ggp info` shows), and arrays: the keys in
ascending order, and for each the values and the depth. It is read by memory mapping, so opening
it costs nothing and looking a state up some pages. Nothing in it is executed.

    SavedSolutionError    the file is no saved solution, or of other rules
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gdl.program import Program
from ggp.game import Fact, Game, Role
from ggp.kernels.solver_codes import StateCode
from ggp.solver.codes import encode_states
from ggp.solver.solution import Solution
from ggp.solver.stages import Stage, Worth, rate_stage
from ggp.solver.work_folder import describe_code, rules_digest
from ggp.written_files import writing

MAGIC = b"ggp-solution 1\n"
_ALIGNMENT = 64


class SavedSolutionError(Exception):
    """The file is no saved solution, is incomplete, or belongs to other rules."""


def save_solution(solution: Solution, path: str | Path) -> None:
    """Write `solution` to a file; readers see all of it or nothing. A link stays, its file is replaced.

    Raises OSError, also where something that is no regular file is in the place.
    """
    space = solution.space
    words = space.code.word_count
    keys = np.asarray(space.keys).reshape(-1, words)
    order = np.argsort(keys[:, 0]) if words == 1 else np.lexsort(keys.T[::-1])
    arrays = {"keys": keys[order], "value": solution.value[order], "depth": solution.depth[order]}
    header = _header(solution)
    place = 0
    header["arrays"] = {}
    for name, array in arrays.items():
        place += -place % _ALIGNMENT
        header["arrays"][name] = [place, array.dtype.str, list(array.shape)]
        place += array.nbytes
    path = Path(path).resolve()
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with writing(path), partial.open("wb") as file:
            file.write(MAGIC)
            text = json.dumps(header).encode()
            file.write(text + b" " * (-(len(MAGIC) + len(text) + 1) % _ALIGNMENT) + b"\n")
            start = file.tell()
            for name, array in arrays.items():
                file.seek(start + header["arrays"][name][0])
                file.write(array.data)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _header(solution: Solution) -> dict[str, Any]:
    game = solution.game
    return {
        "game": game.name,
        "rules": rules_digest(game.program),
        "roles": [str(role) for role in game.roles],
        "values": list(solution.values()),
        "concept": solution.concept,
        "states": solution.space.state_count,
        "transitions": solution.space.transitions,
        "longest_line": int(solution.depth[0]),
        "sum": solution.sum,
        "cyclic": solution.cyclic,
        "endless": solution.endless,
        "fluents": [str(fluent) for fluent in game.terms.fluents],
        "code": describe_code(solution.space.code),
    }


def is_saved_solution(path: str | Path) -> bool:
    """Whether the file begins like a saved solution; False where there is no such file.

    Nothing is read from a pipe, which would wait for somebody who writes into it.
    """
    try:
        if not Path(path).is_file():
            return False
        with Path(path).open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except (OSError, ValueError):
        return False


class Tablebase:
    """A saved solution, opened. Safe to share between threads.

    header   what the file says of itself: game, rules, roles, values, concept, states, ...
    """

    def __init__(self, path: str | Path) -> None:
        """Raises OSError, SavedSolutionError."""
        self.path = Path(path)
        with self.path.open("rb") as file:
            if file.read(len(MAGIC)) != MAGIC:
                raise SavedSolutionError(f"{path}: not a saved solution")
            try:
                self.header: Mapping[str, Any] = json.loads(file.readline())
                start = file.tell()
                self._keys = self._array("keys", start)
                self._value = self._array("value", start)
                self._depth = self._array("depth", start)
                coded = self.header["code"]
                arrays = (np.array(coded[name], np.int32) for name in StateCode._fields[1:])
                self._code = StateCode(int(coded["word_count"]), *arrays)
                self._fluent = {text: f for f, text in enumerate(self.header["fluents"])}
            except (ValueError, KeyError, TypeError) as error:
                raise SavedSolutionError(f"{path}: incomplete or damaged ({error})") from None

    def require_rules(self, program: Program) -> None:
        """Raises SavedSolutionError unless the solution is of these rules."""
        if rules_digest(program) != self.header["rules"]:
            raise SavedSolutionError(f"{self.path}: a solution of other rules ({self.header['game']})")

    def worth(self, facts: Iterable[Fact]) -> Worth:
        """What the state with these facts is worth. Raises KeyError where legal play does not reach it."""
        state = np.zeros((1, len(self._fluent)), np.bool_)
        for fact in facts:
            fluent = self._fluent.get(str(fact))
            if fluent is not None:
                state[0, fluent] = True
        place = self._find(encode_states(self._code, state)[0])
        return Worth(tuple(float(worth) for worth in self._value[place]), int(self._depth[place]))

    def stage(self, game: Game[Any], state: Any) -> Stage:
        """The optimal moves in a state of `game`, whatever engine plays it; see `rate_stage`."""
        return rate_stage(game, state, lambda successor: self.worth(game.facts(successor)))

    def values(self) -> dict[Role, float]:
        """Role → its value in the initial state."""
        from gdl.parser import parse_term

        return {
            parse_term(role): worth
            for role, worth in zip(self.header["roles"], self.header["values"], strict=True)
        }

    def _find(self, key: NDArray[np.uint64]) -> int:
        wanted = tuple(int(word) for word in key)
        low, high = 0, len(self._keys)
        while low < high:
            middle = (low + high) // 2
            if tuple(int(word) for word in self._keys[middle]) < wanted:
                low = middle + 1
            else:
                high = middle
        if low == len(self._keys) or tuple(int(word) for word in self._keys[low]) != wanted:
            raise KeyError("not a reachable state")
        return low

    def _array(self, name: str, start: int) -> NDArray[Any]:
        place, dtype, shape = self.header["arrays"][name]
        return np.memmap(self.path, np.dtype(dtype), "r", start + place, tuple(shape))
