"""The operations under /v1/jobs: books are uploaded, listed, cancelled and fetched."""
