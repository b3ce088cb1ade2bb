"""Waiting times of the streams at a kill."""

from benchmarks.chaos_real import Heard, stalls


def test_a_stall_is_from_the_kill_to_what_was_made_after_it():
    heard = Heard("a", 0.0, [(1.0, b"sealed"), (2.01, b"sealed before"), (2.5, b"new"), (2.6, b"more")], 3.0)
    done = Heard("b", 0.0, [(1.0, b"all")], 1.5)
    later = Heard("c", 2.2, [(2.7, b"all")], 3.0)
    assert stalls([heard, done, later], [2.0]) == [0.5]
    assert heard.samples == b"sealedsealed beforenewmore"
