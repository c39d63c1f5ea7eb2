"""The command line: one module per command, each with a click command called `command`.

Modules import engines and searches only when they run, so that help and mistakes cost little time.

main             the `ggp` group: finds the command, reports errors, sets the exit code
groups           groups of commands that are imported when they run; answers to old names
options          options and value types that several commands share
progress         load a game, show progress, keep what Ctrl-C interrupts
tables           text and tables for the terminal
live_view        a match in the terminal
solve_output, solve_replies, solve_hidden    what `solve` prints; matrices and given strategies; hidden
                 information

Each command is a module of its name, or a folder for one with subcommands; `main.COMMANDS` lists them.
"""
