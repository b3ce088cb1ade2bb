"""A server's start: login services, the listening socket, systemd's notifications, who may reach it.

Commands enter.
"""
