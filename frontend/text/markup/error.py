"""The refusal of markup that can't be read."""

from __future__ import annotations

from frontend.contract.errors import ApiError


class MarkupError(ApiError):
    """Markup that can't be read: 400, saying where."""

    def __init__(self, message: str, line: int, column: int, code: str = "invalid_markup") -> None:
        """Args:
        line, column: where it begins, both counted from 1.
        """
        super().__init__(400, f"`input`, line {line}, column {column}: {message}", param="input", code=code)
        self.line = line
        self.column = column
