"""Competitors: other programs that run Kokoro, each in a process of its own."""
