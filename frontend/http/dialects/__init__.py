"""Other services' protocols for speech, over contexts: sockets that take text piece by piece, and their one-shot calls.

Only http imports it.
"""
