"""Books: files are read into chapters, spoken in the background, and written as audiobooks. The supervisor starts it;
the front knows only its folder of jobs.
"""
