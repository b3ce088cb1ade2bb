"""Admission, turns and dispatch: which segment goes to which worker, and when."""
