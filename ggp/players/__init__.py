"""Players: agents that choose the moves of one role.

options      option tables of all kinds of players, and their descriptions
factory      the player that a text like `mcts:c=40` describes
own          classes of one's own, by module or file
own_seat, own_process   their seats in matches, and the process that each runs in
warm_up      a short match before the first clock
simple       the first legal move; a random one
mcts         Monte-Carlo tree search
uct          plain UCT, counted, from scratch; tournaments play it side by side
alphabeta    alpha-beta search
kept_knowledge  the opening book, the tuned options and the trial matches of a game
book_building   makes one
exact_play   proofs and mixed strategies next to the tree of mcts
late_proofs  proofs that come once their kernels are compiled
alphabeta_play  whether alpha-beta chooses the moves of mcts; trial_matches decide
network_play    moves of mcts by a tree search that a network guides
equilibrium_play, possible_states   mcts where not everything is seen
tablebase    a saved solution
solving      mcts, and a solver that takes over once it has a proof
text_player  any command that is told the match as text
human        a person at the keyboard
move_menu    legal moves as a person names them
"""
