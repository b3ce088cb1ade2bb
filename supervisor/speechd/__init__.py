"""The output module that Speech Dispatcher starts: a client of the server, which starts quickly and imports no numpy.
`kokoro-live install-speechd` installs it; it enters nothing of the supervisor.
"""
