"""The table of all routes: path, handler, access and documentation stand together.

Imported by `frontend.http.app` and `frontend.http.openapi`.
"""
