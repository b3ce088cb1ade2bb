"""Units: a sentence's pronounced words cut into the pieces that segments are planned from, with rates and pauses."""
