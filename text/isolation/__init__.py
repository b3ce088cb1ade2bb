"""Reading that must not stop the server: a helper process for long texts, simpler rules for a sentence that fails."""
