"""Hindi, Japanese and Mandarin."""
