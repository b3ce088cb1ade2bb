"""The lifecycle of all processes: started, watched, restarted, replaced, stopped.

It enters settings; startup and commands enter.
"""
