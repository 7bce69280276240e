"""Reading text models line by line, with the line number in every error."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import TypeVar

from partwise.errors import ModelFileError
from partwise.model_file.content import most_numbers

Value = TypeVar("Value")


class TextLines:
    """The lines of a text model, and where reading has got to."""

    def __init__(self, data: bytes, source: str) -> None:
        self.source = source
        self.lines = data.decode("utf-8", "surrogateescape").split("\n")
        self.at = 0

    def error(self, problem: str) -> ModelFileError:
        """Return an error that names file and line."""
        return ModelFileError(f"{self.source}:{self.at}: {problem}")

    def next(self, expected: str) -> str:
        """Return the next line; `expected` says what it should be."""
        if self.at >= len(self.lines):
            raise self.error(f"the file ends where {expected} should be")
        self.at += 1
        return self.lines[self.at - 1]

    def check_room(self, count: int, what: str) -> None:
        """Refuse to make large arrays for a file of few lines."""
        if count > most_numbers(len(self.lines)):
            raise self.error(f"{what} take far more room than the whole file")

    def block(self, expected: str) -> list[str]:
        """Return the lines up to the next empty one, or to the end."""
        found = []
        while self.at < len(self.lines):
            line = self.next(expected)
            if not line:
                break
            found.append(line)
        return found

    def number(self, text: str, read: Callable[[str], Value], what: str) -> Value:
        """Return a finite number, or say what should be one."""
        try:
            value = read(text)
            is_finite = isfinite(value)  # type: ignore[arg-type]
        except (ValueError, OverflowError):
            raise self.error(f"expected {what}, found {text[:40]!r}") from None
        if not is_finite:
            raise self.error(f"{what} is {text[:40]}, not a finite number")
        return value
