"""All settings of a server, and their sources: flags, variables and one TOML file."""
