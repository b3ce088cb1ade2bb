"""The process that makes the books of the jobs' folder, one after another."""
