"""Command groups that import a command only when it runs."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import click

from ggp.suggestions import did_you_mean


class LazyGroup(click.Group):
    """A group of commands, each the attribute `command` of the module of its name in `package`.

    lines     command → its line in the help of the group
    hints     word → what a user who writes it may look for
    default   the command that is meant if the first word is not a command; "": none
    """

    def __init__(
        self,
        *,
        package: str,
        lines: Mapping[str, str],
        hints: Mapping[str, str] | None = None,
        default: str = "",
        **settings: Any,
    ) -> None:
        super().__init__(no_args_is_help=not default, **settings)
        self.package, self.lines, self.default, self.hints = package, lines, default, hints or {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.lines)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if self.default and args[:1] not in ([name] for name in (*self.lines, "-h", "--help")):
            if args and (hint := did_you_mean(args[0], self.lines)):
                raise click.UsageError(f"No such command {args[0]!r}.{hint}", ctx)
            args = [self.default, *args]
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in self.lines and not name.startswith("-"):
            hint = f": {self.hints[name]}" if name in self.hints else f".{did_you_mean(name, self.lines)}"
            if hint == "." and len(self.lines) < 6:
                hint = f": expected {', '.join(self.lines)}"
            raise click.UsageError(f"No such command {name!r}{hint}", ctx)
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.lines:
            return None
        command = importlib.import_module(f"{self.package}.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(self.lines.items()))
