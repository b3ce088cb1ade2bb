"""The published int8 model converted to floats, and the texts and stages for comparing models."""
