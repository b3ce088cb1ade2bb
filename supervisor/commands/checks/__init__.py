"""The checks of `kokoro-live doctor`. Imported by `supervisor.commands.doctor` and
`supervisor.commands.reload`."""
