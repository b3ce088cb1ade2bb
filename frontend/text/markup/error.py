"""Error for markup that can't be read."""

from __future__ import annotations

from frontend.contract.errors import ApiError


class MarkupError(ApiError):
    """Error 400 for markup that can't be read, with its line and column."""

    def __init__(self, message: str, line: int, column: int, code: str = "invalid_markup") -> None:
        """Args:
        line, column: position of the invalid markup, both counted from 1.
        """
        super().__init__(400, f"`input`, line {line}, column {column}: {message}", param="input", code=code)
        self.line = line
        self.column = column
