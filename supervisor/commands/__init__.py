"""The subcommands of `kokoro-live`, one file each. Only `supervisor.cli` imports it."""
