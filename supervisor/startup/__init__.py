"""Start of a server: its socket, service managers, and installed services. Only `supervisor.commands` imports it."""
