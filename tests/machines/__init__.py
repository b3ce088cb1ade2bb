"""Fresh machines, as far as one machine can hold them: `python -m tests.machines` (root; not collected by pytest)."""
