"""Many independent searches at once: a tree per lane, for matches that are played side by side.

kernel      search_forest: the tick of `ggp.search.tree.kernels.search`, with a root per lane
forest      Forest: searches some hundred states and reports what each found
guided      trees that a network guides, by guided_kernel: many of them, or one for a role in a match
self_play   whole matches side by side, a search for every decision
"""
