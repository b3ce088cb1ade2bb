"""The checks of `kokoro-live doctor`, each with its cure. Only the command doctor enters."""
