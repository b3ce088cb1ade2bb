"""Planning: cuts a text into segments according to the engine's measured costs.

Imported by `frontend.settings`, `frontend.monitoring`, `frontend.scheduling`, `frontend.process` and `supervisor`.
"""
