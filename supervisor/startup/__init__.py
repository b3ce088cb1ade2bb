"""Having the server started at login: what launchd and systemd are given for that."""
