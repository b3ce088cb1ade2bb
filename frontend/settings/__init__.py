"""The front's settings, and the values that check requests: hosts, origins, keys.

This folder imports planning; process, scheduling, monitoring and http import this one.
"""
