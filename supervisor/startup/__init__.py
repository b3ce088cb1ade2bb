"""Start of a server: its socket, service managers, and installed services."""
