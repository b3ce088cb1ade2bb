"""Classes of what a text has besides words (dates, times, ratios, …), found by tokens in whatever form they have."""
