"""The HTTP player: a server that answers game managers, with a search process per match that is used again.

server                 the matches of a player, and what each message does to them
margins                how long before a clock ends the answer is sent
http_listener          bytes of tolerant HTTP to requests, and replies to bytes
web_pages              which web pages may send requests: none, unless allowed
incoming_expression    the end of a message without a length
message_reader         texts to messages, long ones in small steps
match                  one match: an answer by the deadline, whatever happens to the search
match_states           what a state process knows of a match, and another one if it dies
pending_play           one PLAY being answered, and its answer
process_pools          warm state and search processes, which serve one match after the other
state_process          computes the states of a match
short_search           the state process's own search, for when the search process has no move
worker                 the search process
preparation            what it compiles and loads before its first match
"""
