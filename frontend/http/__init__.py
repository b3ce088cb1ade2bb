"""The HTTP API: routes, checks and answers. It requests speech through `frontend.contract`."""
