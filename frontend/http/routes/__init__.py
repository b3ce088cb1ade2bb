"""The table of all routes: path, handler, access and documentation stand together."""
