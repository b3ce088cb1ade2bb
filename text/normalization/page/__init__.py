"""Notation of pages: Markdown, HTML, emoji."""
