"""The command line: one module per command, each with a click command called `command`.

Modules import engines and searches only when they run, so that help and mistakes cost little time.

main             the `ggp` group: finds the command, reports errors, sets the exit code
options          options and value types that several commands share
loading_status   load a game with a spinner
live_view        a match in the terminal
match            play matches on this machine
games            the games that are known by name
show             step through a recorded match
info             title, roles, kind and size of a game
validate         check rule sheets
format           format rule sheets
replay           check an engine against a reference trace
bench            speed of an engine; bench_search: of the tree search
solve            the value of a game and its best moves; solve_output prints them;
                 solve_hidden does both for hidden information
learn            train a linear evaluation by self-play
teach            teach a network by matches with itself
book             an opening book; endings: a table of endings; tune: the options of mcts that are best.
                 kept_progress shows how far they are
evaluate         is it a good game?
items            questions about games with answers; grade: score answers to them
players          the kinds of players and their options
serve            games in the browser
features         board features and their weights
tournament       many matches between agents
assess           a player on positions with known answers
player           a player that game managers reach over HTTP
manage           a match between HTTP players
"""
