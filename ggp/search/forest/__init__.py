"""Many independent searches at once: a tree per lane, for matches that are played side by side.

kernel      search_forest: the tick of `ggp.search.tree.kernels.search`, with a root per lane
forest      Forest: searches some hundred states and reports what each found
self_play   whole matches side by side, a search for every decision
guided      GuidedForest: trees that a network guides, by guided_kernel
network_search  NetworkSearch: one role in one match, by such a tree
blind_play  matches of games with hidden information, by what each role saw
sampling    states to search, drawn by weight, and shares of playouts
"""
