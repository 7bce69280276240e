"""Advice in messages: options of the command line, not arguments of Python."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from partwise.errors import DataError


@contextmanager
def advice_in_flags(flags: Mapping[str, str]) -> Iterator[None]:
    """Let errors advise options of the command line, not arguments of Python.

    Parameters
    ----------
    flags : mapping of str to str
        What messages of the library advise, and what it is called as an option.

    Examples
    --------
    >>> with advice_in_flags({"projective=False": "--nonprojective"}):
    ...     raise DataError("arcs cross (projective=False allows it)")
    Traceback (most recent call last):
        ...
    partwise.errors.DataError: arcs cross (--nonprojective allows it)
    """
    try:
        yield
    except DataError as error:
        notes = "".join(f" ({note})" for note in getattr(error, "__notes__", ()))
        message = f"{error}{notes}"
        for argument, flag in flags.items():
            message = message.replace(argument, flag)
        raise DataError(message) from error
