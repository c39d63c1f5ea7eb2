"""The GGP protocol: its text, requests to players, and the game manager.

messages      messages and replies, as text and as dataclasses
scrambling    replace the names of a rule sheet by unrelated words
http_reply    tolerant parser of HTTP replies
client        one request to a player over HTTP, and `RemotePlayer`, its seat in a match
manager       a match of remote players, interruptible
"""
