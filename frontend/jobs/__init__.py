"""The front's side of the jobs: their folder, and the messages to the process that makes them."""
