"""One request's segments, from plan to joined samples, and the links to workers.

This folder imports text, timestamps and contract; monitoring and scheduling import it.
"""
