"""Other services' protocols for speech, one file each: their calls, sockets, fields and errors."""
