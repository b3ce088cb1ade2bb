"""Recorded or drawn loads replayed in simulated time: schedulers, and an autoscaler."""
