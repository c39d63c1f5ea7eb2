"""What a game looks like and what kind of game it is.

fluent_domains   values of each argument of a fluent, judged from the rules
board_finder     recognizes a board from the rules and the initial state
board_shape      hexagons, blocks and outlines of boards, from the rules
walls            walls between cells, recognized from names and values of fluents
board_style      the look of a board: frame, holes, felt, checkered cells, owned edges
board            the board as data, and its text
figures          what a state shows besides a board: whose turn it is, hands, heaps, lines
figure_finder    recognizes figures, and maps, from the rules and the initial state
goal_support     the facts from which the rules derive a goal
move_reading     what the arguments of moves mean on a board
notation         moves as players write them, and what is typed back to moves
picture          board, figures and remaining facts together
board_svg        the board and what lies on it as a picture
state_view       a state to look at: text, SVG, notebook
sheet_comment    title, rules in prose and fields of a sheet's opening comment
scale            what the goals 0 and 100 mean to the author
info             traits and sizes of a game, from the rules and random playouts
svg              the pieces of all pictures
"""
