"""Trials: is an execution provider right and faster here? One runs while the CPU speaks; its verdict is kept."""
