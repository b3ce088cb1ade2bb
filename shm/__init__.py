"""Everything that crosses a process boundary: messages, channels, shared memory, lifelines, and what all folders share.

Its files have `killpoint` calls, as other rooms' have: places at which a test can have a process killed in the middle
of a step (`shm/killpoint.py`). Without the tests' variable such a call is one comparison.
"""
