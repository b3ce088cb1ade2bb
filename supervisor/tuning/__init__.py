"""`kokoro-live tune` and its profile. Only `supervisor.commands` enters; it imports `supervisor.settings` alone."""
