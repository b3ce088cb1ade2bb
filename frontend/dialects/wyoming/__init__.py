"""Wyoming's protocol, by which Home Assistant asks for speech."""
