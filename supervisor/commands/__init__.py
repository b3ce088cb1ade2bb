"""The subcommands of `kokoro-live`, one file each."""
