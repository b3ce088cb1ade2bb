"""Model files: found, fetched, assembled from packages, and checked."""
