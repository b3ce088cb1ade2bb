"""Measurements of whole books: killed, ten hours long, and read by the real model. Enter by `__main__`."""
