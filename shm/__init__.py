"""Everything that crosses a process boundary: messages, channels, the PCM arena and its rings."""
