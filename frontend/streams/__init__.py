"""One request's segments, from plan to joined samples, and the links to workers.

Imported by `frontend.monitoring`, `frontend.scheduling`, `frontend.process` and `supervisor.client`.
"""
