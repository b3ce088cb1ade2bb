"""Process lifecycle, settings and the command line. Touches no request; imports nothing heavy at start."""
