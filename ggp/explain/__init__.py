"""Searches made visible: the events of the readable searches as steps, drawn as text, SVG or a page.

bare_trees    a tree written as text becomes a game
explanation   what is drawn: the nodes of a tree, and steps that change how they look
searches      which search explains what, and its settings; `explain` runs one
game_tree     events of alpha-beta and of the searches for several roles → steps; folding
simulations   events of the tree search → steps, with the tables of its policies
text          one line a step
picture       the tree as SVG
page          one HTML page with all steps
"""
