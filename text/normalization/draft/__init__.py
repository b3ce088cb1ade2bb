"""The draft of a normalised sentence and the tools that all rules use on it."""
