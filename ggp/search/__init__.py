"""Search: choosing a move by looking ahead. `reference` is the plain-Python one."""
