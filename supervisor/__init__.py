"""The supervisor process and the command line; `cli.py` is the entry point of `kokoro-live`."""
