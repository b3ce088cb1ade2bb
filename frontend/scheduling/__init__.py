"""Admission, turns and dispatch: which segment goes to which worker, and when. Only the front's start enters."""
