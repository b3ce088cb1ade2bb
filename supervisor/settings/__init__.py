"""All settings of a server, and how flags, variables and one TOML file become them. Every other room may enter."""
