"""Tags and SSML parsed into plain text and annotations. The text pipeline, the reader and http's phonemizer enter."""
