"""Model files: found, fetched, assembled from packages, and checked. Imported by `worker` and `supervisor`."""
