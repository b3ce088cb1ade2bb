"""Every system call of a kind fails once, and the power fails at every point."""
