"""One request's segments, from plan to joined samples, and the links to workers.

It enters text, timestamps and contract; monitoring and scheduling enter.
"""
