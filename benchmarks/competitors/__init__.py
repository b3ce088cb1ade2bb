"""What else a Kokoro user could run, each in a process of its own."""
