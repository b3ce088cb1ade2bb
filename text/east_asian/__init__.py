"""Japanese and Mandarin, read by misaki's own readers."""
