"""The output module that Speech Dispatcher starts: a client of the server that starts quickly, without numpy."""
