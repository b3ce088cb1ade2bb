"""All that crosses a process boundary: messages, channels, the PCM arena and its rings. Imports nothing of ours."""
