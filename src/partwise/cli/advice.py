"""Advice in messages: options of the command line, not arguments of Python."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from partwise.errors import Advice, DataError


@contextmanager
def advice_in_flags(
    flags: Mapping[tuple[str, object], str] | None = None,
) -> Iterator[None]:
    """Let errors advise options of the command line, not arguments of Python.

    Parameters
    ----------
    flags : mapping, optional
        The options whose names do not follow from a setting and its value.

    Examples
    --------
    >>> with advice_in_flags({("projective", False): "--nonprojective"}):
    ...     advice = Advice("projective", False, "allows it")
    ...     raise DataError("arcs cross", advice=[advice])
    Traceback (most recent call last):
        ...
    partwise.errors.DataError: arcs cross (--nonprojective allows it)
    """

    def as_flag(advice: Advice) -> str:
        usual = f"--{advice.setting} {advice.value}"
        flag = (flags or {}).get((advice.setting, advice.value), usual)
        return f"{flag} {advice.effect}"

    try:
        yield
    except DataError as error:
        raise error.advising(as_flag) from error
