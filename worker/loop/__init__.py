"""The worker process: its messages, its loop, the blocks that are due, and what it counts."""
