"""Text to sentences of pronounced units: sanitising, normalising, G2P.

It enters contract alone; planning, streams, scheduling, monitoring and http enter.
"""
