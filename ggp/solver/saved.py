"""Saved solutions: a file with the value of every reachable state.

The file is a line naming the format, a line of JSON (what `ggp games info` shows; see
`ggp.solver.saved_header`), and arrays: the keys in ascending order, and for each the values and the depth. It
is memory-mapped, so opening it is free and a lookup touches a few pages. Nothing in it is executed.
"""

from __future__ import annotations

import errno
import json
from bisect import bisect_left
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gdl.program import Program
from gdl.syntax.parser import parse_term
from ggp.files import replacing
from ggp.game import Fact, Game, Role
from ggp.lanes.keys.state_code import StateCode, encode_states
from ggp.solver.saved_header import DAMAGED, MAGIC, SavedSolutionError, read_header, rules_digest
from ggp.solver.solution import Solution
from ggp.solver.space import describe_code
from ggp.solver.stages import Stage, Worth, rate_stage

_ALIGNMENT = 64


def save_solution(solution: Solution, path: str | Path) -> None:
    """Write `solution` to a file, atomically. If `path` is a link, its target is replaced.

    Raises OSError, also if `path` exists and is not a regular file.
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
    path = Path(path)
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    with replacing(path) as file:
        file.write(MAGIC)
        text = json.dumps(header).encode()
        file.write(text + b" " * (-(len(MAGIC) + len(text) + 1) % _ALIGNMENT) + b"\n")
        start = file.tell()
        for name, array in arrays.items():
            file.seek(start + header["arrays"][name][0])
            file.write(array.data)


def _header(solution: Solution) -> dict[str, Any]:
    game = solution.game
    return {
        "game": game.name,
        "rules": rules_digest(game.program),
        "roles": [str(role) for role in game.roles],
        "values": list(solution.values()),
        "longest_line": int(solution.depth[0]),
        "concept": solution.concept,
        "states": solution.space.state_count,
        "transitions": solution.space.transitions,
        "sum": solution.sum,
        "cyclic": solution.cyclic,
        "endless": solution.endless,
        "fluents": [str(fluent) for fluent in game.terms.fluents],
        "code": describe_code(solution.space.code),
    }


class Tablebase:
    """A saved solution, opened. Safe to share between threads.

    header   the file's description: game, rules, roles, values, concept, states, ...
    """

    def __init__(self, path: str | Path) -> None:
        """Raises OSError, SavedSolutionError."""
        self.path = Path(path)
        self.header, start = read_header(self.path)
        try:
            self._keys, self._value, self._depth = (
                self._array(name, start) for name in ("keys", "value", "depth")
            )
            coded = self.header["code"]
            arrays = (np.array(coded[name], np.int32) for name in StateCode._fields[1:])
            self._code = StateCode(int(coded["word_count"]), *arrays)
            self._fluent = {text: f for f, text in enumerate(self.header["fluents"])}
        except DAMAGED as error:
            raise SavedSolutionError(f"{path}: incomplete or damaged ({error})") from None

    def require_rules(self, program: Program) -> None:
        """Raises SavedSolutionError unless the solution is of these rules."""
        if rules_digest(program) != self.header["rules"]:
            raise SavedSolutionError(f"{self.path}: solution of other rules ({self.header['game']})")

    def worth(self, facts: Iterable[Fact]) -> Worth:
        """The worth of the state with these facts. Raises KeyError if it is not in the file."""
        state = np.zeros((1, len(self._fluent)), np.bool_)
        state[0, [self._fluent[text] for text in map(str, facts) if text in self._fluent]] = True
        keys, wanted = self._keys, encode_states(self._code, state)[0].tolist()
        place = bisect_left(range(len(keys)), wanted, key=lambda place: keys[place].tolist())
        if place == len(keys) or keys[place].tolist() != wanted:
            raise KeyError("not a state of this solution")
        return Worth(tuple(map(float, self._value[place])), int(self._depth[place]))

    def stage(self, game: Game[Any], state: Any) -> Stage:
        """The optimal moves in a state of `game`, on any engine; see `rate_stage`."""
        return rate_stage(game, state, lambda after: self.worth(game.facts(after)))

    def values(self) -> dict[Role, float]:
        """Role → its value in the initial state."""
        return dict(zip(map(parse_term, self.header["roles"]), self.header["values"], strict=True))

    def _array(self, name: str, start: int) -> NDArray[Any]:
        place, dtype, shape = self.header["arrays"][name]
        return np.memmap(self.path, np.dtype(dtype), "r", start + place, tuple(shape))
