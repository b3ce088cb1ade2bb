"""Speech control in the text: pauses, pronunciations and pace, as short tags or as SSML."""
