"""Error for markup that can't be read."""

from __future__ import annotations

from text.errors import TextError


class MarkupError(TextError):
    """Error 400 for markup that can't be read, with its line and column."""

    def __init__(
        self, reason: str, line: int, column: int, code: str = "invalid_markup", *, param: str = "input"
    ) -> None:
        """Args:
        line, column: position of the invalid markup, both counted from 1.
        param: the field that holds the text.
        """
        super().__init__(f"`{param}`, line {line}, column {column}: {reason}", param=param, code=code)
        self.line = line
        self.column = column
        self._reason = reason

    @classmethod
    def at(cls, reason: str, text: str, place: int, code: str = "invalid_markup") -> MarkupError:
        """Error at a place of a text, given as the index of a character."""
        column = place - (text.rfind("\n", 0, place) + 1) + 1
        return cls(reason, text.count("\n", 0, place) + 1, column, code)

    def within(self, param: str) -> MarkupError:
        """This error for a text that stands in another field than `input`."""
        return MarkupError(self._reason, self.line, self.column, self.code or "", param=param)
