"""Trials: what one way of running a model costs on this machine, measured in a process of its own."""
