"""The supervisor process and the command line. `cli.py` is the entry of `kokoro-live`; nothing of ours enters."""
