"""Counts the descriptors that this process has open."""

import gc

import psutil


def open_descriptors() -> int:
    gc.collect()  # or what an earlier test left to the collector could vanish between two counts
    gc.freeze()  # the next collection looks at later objects only: this one has seen thousands of tests
    return int(psutil.Process().num_fds())
