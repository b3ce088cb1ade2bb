"""Conversion of text to sentences of pronounced units: sanitising, normalisation, grapheme to phoneme.

The package imports only `frontend.contract` of the front process's other packages; planning, timestamps, streams,
scheduling, monitoring and http import it.

It enters contract alone; planning, streams, scheduling, monitoring and http enter.
"""
