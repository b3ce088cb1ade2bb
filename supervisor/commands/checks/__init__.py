"""What `kokoro-live doctor` looks at, one function a check."""
