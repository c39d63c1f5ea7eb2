"""The HTTP player: a server that answers game managers, with a reusable search process per match.

server                 the matches of a player, and the dispatch of messages
margins                how long before a clock ends the answer is sent
http_listener          tolerant HTTP: bytes to requests, and replies to bytes
web_pages              which web pages may send requests: none, unless allowed
message_reader         texts to messages, long ones in small steps
match                  one match: an answer by the deadline, whatever happens to the search
match_states           the states of a match, in a state process that is replaced if it dies
process_pools          warm, reusable state and search processes
state_process          computes the states of a match, and a move if the search process has none
worker                 the search process
preparation            compiling and loading before its first match
"""
