"""Books: files are read into chapters, spoken in the background, and written as audiobooks."""
