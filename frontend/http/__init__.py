"""The HTTP API: routes, checks and answers. It requests speech through contract; only the front's start imports it."""
