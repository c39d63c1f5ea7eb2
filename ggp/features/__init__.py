"""Features: pieces, cells and moves of a game on a board, and their values.

possibilities          what can be true after a move while most of the state is unknown
recorded_playouts      random playouts with all their states
board_features         pieces, cells and move families: what is recognized
recognition            recognizes them from the rules
cases                  what each move does on the board, case by case
td                     one update of temporal differences after the other, to read
learning               weights of features from playouts and games, by lambda-returns
linear_form            a linear evaluation as a text
"""
