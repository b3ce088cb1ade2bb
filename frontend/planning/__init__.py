"""Planning: cuts a text into segments according to the engine's measured costs.

This package may import `frontend.text` and `frontend.contract`; the packages above may import this one.
"""
