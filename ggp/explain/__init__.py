"""Searches made visible: the events of the readable searches as steps, drawn as text, SVG or a page.

bare_trees    a tree written as text becomes a game
explanation   what is drawn: the nodes of a tree, and steps that change how they look
writing       moves and positions as text, in the notation of the board or in KIF
searches      which search explains what, and its settings; `explain` runs one
game_tree     events of alpha-beta and of the searches for several roles → steps; folding
simulations   events of the tree search → steps, with the tables of its policies
learning      TD(lambda) of a linear value, update by update
picture       the tree as SVG
page          one HTML page with all steps
"""

from ggp.explain.bare_trees import BareTreeError, read_tree
from ggp.explain.explanation import Explanation, text_of
from ggp.explain.page import explain_page, page_of
from ggp.explain.picture import picture_of
from ggp.explain.searches import ALGORITHMS, ExplainError, explain

__all__ = [
    "ALGORITHMS",
    "BareTreeError",
    "ExplainError",
    "Explanation",
    "explain",
    "explain_page",
    "page_of",
    "picture_of",
    "read_tree",
    "text_of",
]
