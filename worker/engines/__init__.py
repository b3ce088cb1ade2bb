"""The engines, a file each; `worker.select` has a row for each."""
