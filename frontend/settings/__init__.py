"""The front's settings, and the values that check them: hosts, origins, keys.

It enters planning; process, scheduling, monitoring and http enter.
"""
