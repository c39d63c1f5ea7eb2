"""Python source under construction, for `gdl.reasoning.rule_compiler`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from typing import Any

from gdl.reasoning.values import Value


class Writer:
    """Python source under construction, its constants, and its supply of fresh names.

    >>> writer = Writer({})
    >>> with writer.function("double", ["x"]):
    ...     writer.line("return x + x")
    >>> writer.execute()
    >>> writer.namespace["double"](4)
    8
    """

    def __init__(self, namespace: dict[str, Any], numbers: Iterator[int] | None = None) -> None:
        self.namespace = namespace
        self.numbers = count(1) if numbers is None else numbers
        self.functions: list[str] = []
        self._lines: list[str] = []
        self._indent = 0
        self._constants: dict[Value, str] = {}

    def fresh(self, letter: str) -> str:
        """A unique name: `letter` and a number."""
        return f"{letter}{next(self.numbers)}"

    def constant(self, value: Value) -> str:
        """The name by which generated code refers to `value`."""
        if value not in self._constants:
            name = self._constants[value] = self.fresh("k")
            self.namespace[name] = value
        return self._constants[value]

    @property
    def depth(self) -> int:
        return self._indent

    def line(self, *texts: str) -> None:
        self._lines += [" " * self._indent + text for text in texts]

    @contextmanager
    def block(self, header: str) -> Iterator[None]:
        self.line(header)
        self._indent += 1
        yield
        self._indent -= 1

    @contextmanager
    def function(self, name: str, parameters: Sequence[str]) -> Iterator[None]:
        """Write a module-level function, even while another one is being written."""
        outer = self._lines, self._indent
        self._lines, self._indent = [], 0
        with self.block(f"def {name}({', '.join(parameters)}):"):
            yield
        self.functions.append("\n".join(self._lines))
        self._lines, self._indent = outer

    def execute(self) -> None:
        """Define every function written so far in the namespace."""
        source = "\n\n".join(self.functions)
        self.functions = []
        exec(compile(source, "<rules>", "exec"), self.namespace)
