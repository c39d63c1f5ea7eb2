"""Players: agents that choose the moves of one role.

advised      the player that asks an ordered list of advisors
advisors     sources of moves, one file each
options      option tables of all kinds of players, and their descriptions
factory      the player that a text like `mcts:c=40` describes
mcts         the rows mcts, solving and tablebase: which advisors, with which options
rows         the rows alphabeta and uct
own          user-defined classes, by module or file
own_seat, own_process   their seats in matches, and the processes they run in
warm_up      a short match before the first clock
simple       the first legal move; a random one
kept_knowledge  the opening book, the tuned options and the trial matches of a game
book_building   builds one
late_proofs  proofs that come once their kernels are compiled
text_player  any command that receives the match as text
human        a person at the keyboard
move_menu    legal moves by number, text or words
"""
