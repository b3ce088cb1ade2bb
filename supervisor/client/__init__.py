"""Speaking for a command: through a running server or in this process, into a file, a pipe or a player.

Commands enter.
"""
