"""The HTTP API: routes, checks and answers. It asks for speech through contract; only the front's start enters."""
