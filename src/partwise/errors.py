"""The exceptions and warnings that Partwise raises on purpose."""

from __future__ import annotations

import copy
import copyreg
from collections.abc import Callable, Hashable, Iterable
from typing import Any, NamedTuple, Self


class PartwiseError(Exception):
    """Base class of every error that Partwise raises on purpose."""


class ConvergenceWarning(UserWarning):
    """Training ended before the model was as close to optimal as it should be."""


class Advice(NamedTuple):
    """A setting that would help, and what it does.

    Parameters
    ----------
    setting : str
        The name of an argument.
    value : object
        What to give for it.
    effect : str
        What happens then.

    Examples
    --------
    >>> print(Advice("crossing", "skip", "leaves these sentences out"))
    crossing='skip' leaves these sentences out
    """

    setting: str
    value: object
    effect: str

    def __str__(self) -> str:
        """Return the advice as a programmer would follow it."""
        return f"{self.setting}={self.value!r} {self.effect}"


class DataError(PartwiseError, ValueError):
    """Input data that cannot be used; the message says where and what to do.

    Code that knows the data by other names catches the error, and raises it again with
    the place (`located`) or the advice (`advising`) in its own words.

    Parameters
    ----------
    problem : str
        What is wrong, and what to do about it.
    where : str, optional
        The place in words, which the message begins with. By default it follows from
        `path` and `line`, or from `example` and `part`, where these are given.
    example, part : int, optional
        The numbers, counted from 0, of the example (a sequence, a lattice, a row) and
        of its part (a token, an edge).
    column : hashable, optional
        The name of a column of a table.
    argument : str, optional
        The argument that the data was given as, such as ``"X"`` or ``"dev"``.
    path : str, optional
        The file.
    line : int, optional
        The line of the file, counted from 1.
    advice : iterable of Advice, optional
        Settings that would help; the message ends with them.

    Attributes
    ----------
    problem, where, example, part, column, argument, path, line, advice
        As given; None, or empty, where nothing is known. Errors that are sent to
        another process keep them.

    Examples
    --------
    >>> from partwise import DataError
    >>> error = DataError("the value is missing", path="train.txt", line=7)
    >>> print(error, error.line, sep=" | ")
    train.txt:7: the value is missing | 7
    >>> print(DataError("no good path", example=3).located("the lattice 'hush'"))
    the lattice 'hush': no good path
    """

    problem: str
    where: str
    example: int | None
    part: int | None
    column: Hashable | None
    argument: str | None
    path: str | None
    line: int | None
    advice: tuple[Advice, ...]

    def __init__(
        self,
        problem: str,
        *,
        where: str = "",
        example: int | None = None,
        part: int | None = None,
        column: Hashable | None = None,
        argument: str | None = None,
        path: str | None = None,
        line: int | None = None,
        advice: Iterable[Advice] = (),
    ):
        self.problem, self.advice = problem, tuple(advice)
        self.example, self.part, self.column = example, part, column
        self.argument, self.path, self.line = argument, path, line
        self.where = where or self._place()
        super().__init__(self._text(str))

    def _place(self) -> str:
        if self.path is not None:
            return self.path + ("" if self.line is None else f":{self.line}")
        named = {"example": self.example, "part": self.part}
        return ", ".join(f"{name} {i}" for name, i in named.items() if i is not None)

    def _text(self, word: Callable[[Advice], str]) -> str:
        place = f"{self.where}: " if self.where else ""
        advice = f" ({'; '.join(map(word, self.advice))})" if self.advice else ""
        return place + self.problem + advice

    def located(self, where: str = "", **fields: Any) -> Self:
        """Return the same error with its place in other words.

        Parameters
        ----------
        where : str, optional
            The place; by default it follows from the fields.
        **fields
            What else is known now, by the names of the parameters.

        Returns
        -------
        DataError
            A new error.

        Examples
        --------
        >>> error = DataError("half a character", where="edge 3", part=3)
        >>> print(error.located(path="a.jsonl", line=5))
        a.jsonl:5: half a character
        """
        other = copy.copy(self)
        other.__dict__.update(fields)
        other.where = where or other._place()
        other.args = (other._text(str),)
        return other

    def advising(self, word: Callable[[Advice], str]) -> Self:
        """Return the same error with its advice in other words.

        Parameters
        ----------
        word : callable
            Returns the words for an `Advice`.

        Returns
        -------
        DataError
            A new error.

        Examples
        --------
        >>> error = DataError("too long", advice=[Advice("cut", True, "shortens it")])
        >>> print(error.advising(lambda advice: f"--{advice.setting} {advice.effect}"))
        too long (--cut shortens it)
        """
        other = copy.copy(self)
        other.args = (other._text(word),)
        return other

    def __reduce__(self) -> tuple[Any, ...]:
        """Keep the fields on the way to another process, those of subclasses too."""
        return copyreg.__newobj__, (type(self), *self.args), self.__dict__  # type: ignore[attr-defined]


class ModelFileError(PartwiseError):
    """A model or checkpoint file that is damaged, foreign or newer than this code."""


class PairingError(PartwiseError, ValueError):
    """A solver asked to do what a structure, a loss or the solver itself cannot."""


class OutOfMemoryError(PartwiseError, MemoryError):
    """What a solver would keep does not fit into memory."""
