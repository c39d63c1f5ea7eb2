"""The GGP protocol from both ends: its text, requests to players, and the game manager.

messages      messages and replies, as text and as dataclasses
scrambling    unrelated words for the names of a rule sheet
http_reply    the reply on one connection, however it is written
client        one request to a player over HTTP, and `RemotePlayer`, its seat in a match
manager       a match of remote players, interruptible
"""
