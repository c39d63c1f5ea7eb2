"""`ggp games`: list the games that are known by name, describe one of them.

list       the games, or those that mention a word
info       title, roles, kind and size of a game
"""

from __future__ import annotations

from ggp.cli.groups import LazyGroup

command = LazyGroup(
    name="games",
    help="""List the games that commands know by name, or describe one.

    `ggp games` and `ggp games WORD...` are short for `ggp games list`.""",
    package=__name__,
    lines={
        "list": "List the games, or those whose name, title or kind contains every WORD.",
        "info": "Show title, roles, kind and size of a game.",
    },
    default="list",
)
