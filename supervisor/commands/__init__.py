"""The subcommands of `kokoro-live`, one file each. Imported by `supervisor.cli`."""
