"""Keys of the servers that these tests share."""

KEY = "sk-client"
"""The key of the server without a limit."""

LIMITED_KEYS = ("one", "two", "node-key", "limited-key")
"""Keys of the server with a limit. Each test has keys of its own: a key's requests are counted together."""
