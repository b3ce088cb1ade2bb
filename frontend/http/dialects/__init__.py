"""Other services' protocols for speech: sockets over contexts that take text piece by piece, and one-shot calls."""
