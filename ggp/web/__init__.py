"""Games in the browser: play, watch, step through matches, write rule sheets; tournaments as static pages.

`ggp serve` runs it. The server holds no rules and runs no search: a child process per match, and one per
browser for rule sheets, does both under a memory limit, and is killed if it does not answer. The page gets
SVG and JSON.

server            routes and pages
access            access control by token, Host and Origin
connections       accept connections within limits
open_matches      the matches of the server, its processes, and their limits
match_process     the process of one match: requests in, events out
shown_match       one match: played here, or a record
catalog           bundled games for the front page: short titles, families, scenes
seats             checks who may take a seat
changes           differences between successive states
match_history     the states of a match, and the moves committed for the next
agent_process     the searches of a match, in a process of lower priority
agent_thread      these searches
best_play         best play from a position whose value is proven
exploration       positions beside a match: past ones, and lines of other moves
explained         the page of a small search from a position
match_review      the expectations of searches at every choice of a finished match
match_view        one state of a match as JSON, without hidden information
percepts          what a role perceived, and the moves of others that this reports
board_markup      a board as SVG, and the cells to click for a move
lines_markup      the same for lines between dots
kept_matches      matches on disk, for their addresses
published         a tournament as static pages
ending            why a match ended as it did: the facts that decide, and a sentence
conclusion        who wins with best play, in words
sheet_process     findings, format and first state of a rule sheet
static            pages, one ES module and one stylesheet each
"""
