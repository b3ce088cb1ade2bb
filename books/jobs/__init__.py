"""Jobs of the server: the process that makes the books of the jobs' folder, one after another. Enter by
`process.run`.
"""
