"""The machine that the worker runs on: cores, priorities, and each worker's share of them."""
