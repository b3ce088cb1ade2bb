"""The front process: HTTP on one side, streams of PCM on the other.

`process.py` puts its rooms together; only the supervisor enters.
"""
