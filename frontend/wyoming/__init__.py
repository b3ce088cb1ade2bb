"""Wyoming over TCP, the protocol by which Home Assistant has texts spoken: events in JSON lines, over contexts."""
