"""One file for each subcommand. Only `cli.py` enters, by name."""
