"""A text's cuts into segments by what the engine is measured to cost.

It enters text and contract; everything above it may enter.
"""
