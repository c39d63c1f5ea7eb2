"""The command line: one module per command, each with a click command called `command`.

Modules import engines and searches only when they run, so that help and mistakes cost little time.

main             the `ggp` group: finds the command, reports errors, sets the exit code
groups           groups of commands that are imported when they run; answers to old names
options          options and value types that several commands share
progress         load a game, show progress, keep what Ctrl-C interrupts
tables           text and tables for the terminal
live_view        a match in the terminal
match            play matches on this machine
serve            games in the browser
games            the games that are known by name: list, info, features
show             step through a recorded match
validate         check rule sheets
format           format rule sheets
replay           check an engine against a reference trace
bench            speed of an engine, or of the tree search
solve            the value of a game and its best moves; solve_output prints them;
                 solve_hidden does both for hidden information
prepare          work for a game ahead of its matches: options, book, endings, evaluation, network
tournament       many matches between agents
evaluate         is it a good game?
items            questions about games, and grades of answers to them
assess           a player on positions with known answers, its regret and its exploitability
players          the kinds of players and their options
player           a player that game managers reach over HTTP
manage           a match between HTTP players
"""
