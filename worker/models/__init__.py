"""Model files: found, fetched, assembled from packages, and checked.

The worker's start, the commands `models` and `doctor` enter.
"""
