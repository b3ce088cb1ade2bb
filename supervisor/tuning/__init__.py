"""Finding what settings suit this machine: the search, the file that keeps what it found, and its use by `serve`."""
