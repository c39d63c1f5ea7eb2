"""Games in the browser: play, watch, step through matches, write rule sheets, follow tournaments.

`ggp serve` runs it. The server holds no rules and runs no search: a child process per match, and one per
browser for rule sheets, does both under a memory limit, and is killed if it does not answer. The page gets
SVG and JSON.

server            routes and pages
access            token, Host and Origin: which requests are answered
connections       accept connections within limits
sessions          what one browser has open, and the limits on it
match_process     the process of one match: requests in, events out
shown_match       one match: played here, a record, or played elsewhere; what is shown of it
seats             who may take a seat
changes           what has changed from one state to the next
match_history     the states of a match, and the moves committed for the next
agent_thread      the searches of a match
match_review      what searches expect at every choice of a match that is over
match_export      a match as a record or an animation
live_page         the running matches of a manager or a player: events for live_server
live_server       their page
match_view        one state of a match as JSON; what the rules hide stays hidden
click_paths       which cells to click for a move
board_markup      a board as SVG with cells that can be clicked
lines_markup      lines between dots as SVG that can be clicked
stores            the tournaments that `--store` names: runs, reports, records
published         a tournament as pages that need no server
rating_chart      ratings as SVG for those
sheet_process     findings, format and first state of a rule sheet
static            pages, one ES module and one stylesheet each
"""
