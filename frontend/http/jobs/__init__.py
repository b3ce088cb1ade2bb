"""The operations under /v1/jobs: books are uploaded, listed, cancelled and fetched.

Imported by `frontend.http.app` and `frontend.http.routes`.
"""
