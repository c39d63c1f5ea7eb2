"""Environment kernels: actions in, one step of every game, observations out.

arrays   what they work on: tables, batches, readings, scratch
act      from actions to one move of every role
step     begin games; one step of every game
write    rewards, ends, observations and legal actions, as agents read them
"""
