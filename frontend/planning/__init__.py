"""Planning: cuts a text into segments according to the engine's measured costs.

Planning may import `frontend.text` and `frontend.contract`; the packages above them may import planning.
"""
