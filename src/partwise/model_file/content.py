"""What a file held, and the questions a loader asks of it.

A checksum finds accidents; a hostile file has a right one. So a loader never
takes a tensor or a setting as it is: it asks for a name, a type and a size, and
gets either that or a `ModelFileError` naming the file and the field.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from partwise.errors import ModelFileError

Value = TypeVar("Value")

ALWAYS_ALLOWED, MOST_PER_NUMBER = 2**24, 256
"""How many numbers (128 MiB of them) a file may ask for however little it holds, and
how many for every number in it."""


@dataclass(frozen=True)
class Content:
    """The tensors and settings of a file, with methods that check them.

    Parameters
    ----------
    tensors : dict of str to ndarray
        The arrays, as they were in the file.
    settings : dict
        The JSON settings, as they were in the file.
    kind : str
        What the file is, such as ``"model"`` or ``"checkpoint"``.
    format_version : int
        The version of the format the file was written in.
    source : str
        The file (and the part of it), for error messages; may be empty.

    Examples
    --------
    >>> content = Content({"w": np.zeros(3)}, {"C": -1.0}, "model", 1, "a.partwise")
    >>> content.tensor("w", dtype=np.float64, length=3)
    array([0., 0., 0.])
    >>> content.setting("C", float, above=0)
    Traceback (most recent call last):
        ...
    partwise.errors.ModelFileError: a.partwise: setting 'C' is -1.0, expected above 0
    """

    tensors: Mapping[str, NDArray[Any]]
    settings: Mapping[str, Any]
    kind: str
    format_version: int
    source: str

    def tensor(
        self,
        name: str,
        *,
        dtype: DTypeLike,
        ndim: int = 1,
        length: int | None = None,
        shape: tuple[int, ...] | None = None,
        at_least: int | None = None,
        below: int | None = None,
        finite: bool = True,
    ) -> NDArray[Any]:
        """Return a tensor of exactly this type and size.

        Parameters
        ----------
        name : str
            Its name.
        dtype : dtype
            Its type; nothing is converted.
        ndim : int, default=1
            The number of its dimensions.
        length : int, optional
            The size of its first dimension.
        shape : tuple of int, optional
            All its sizes, instead of `ndim` and `length`.
        at_least, below : int, optional
            Bounds that every value must respect: ``at_least <= value < below``.
        finite : bool, default=True
            Whether NaN and infinity are refused.

        Returns
        -------
        ndarray
            The tensor, not a copy.
        """
        if name not in self.tensors:
            raise self.error(f"there is no tensor {name!r}")
        tensor = self.tensors[name]
        if tensor.dtype != np.dtype(dtype):
            raise self.error(
                f"tensor {name!r} holds {tensor.dtype}, expected {np.dtype(dtype)}"
            )
        if shape is not None:
            fits, expected = tensor.shape == shape, f"shape {shape}"
        elif length is not None:
            fits = tensor.ndim == ndim and tensor.shape[0] == length
            expected = f"{ndim} dimensions and length {length}"
        else:
            fits, expected = tensor.ndim == ndim, f"{ndim} dimensions"
        if not fits:
            raise self.error(
                f"tensor {name!r} has shape {tensor.shape}, expected {expected}"
            )
        if tensor.size == 0:
            return tensor
        if at_least is not None and tensor.min() < at_least:
            raise self.error(f"tensor {name!r} has values below {at_least}")
        if below is not None and tensor.max() >= below:
            raise self.error(f"tensor {name!r} has values that are not below {below}")
        if finite and tensor.dtype.kind == "f" and not np.isfinite(tensor).all():
            raise self.error(f"tensor {name!r} has values that are not finite")
        return tensor

    def pointers(
        self, name: str, *, end: int, length: int | None = None
    ) -> NDArray[np.int64]:
        """Return an int64 tensor that cuts ``0 .. end`` into consecutive pieces.

        Parameters
        ----------
        name : str
            Its name.
        end : int
            Where the last piece ends: the length of what is cut.
        length : int, optional
            The number of pieces, plus one.

        Returns
        -------
        ndarray of int64
            Starts with 0, never decreases, ends with `end`.
        """
        pointers = self.tensor(name, dtype=np.int64, length=length)
        # Compared, not subtracted: differences of hostile numbers overflow.
        increasing = pointers.size and (pointers[1:] >= pointers[:-1]).all()
        if not increasing or pointers[0] != 0 or pointers[-1] != end:
            raise self.error(f"tensor {name!r} does not lead from 0 to {end}")
        return pointers

    def setting(
        self,
        name: str,
        kind: type[Value],
        *,
        at_least: float | None = None,
        above: float | None = None,
        below: float | None = None,
        choices: Collection[Any] | None = None,
        finite: bool = True,
    ) -> Value:
        """Return a setting of exactly this type, inside these bounds.

        Parameters
        ----------
        name : str
            Its name.
        kind : type
            ``str``, ``int``, ``float``, ``bool``, ``list`` or ``dict``. A float may
            be written as an integer; a bool is neither.
        at_least, above, below : float, optional
            Bounds: ``at_least <= value``, ``above < value``, ``value < below``.
        choices : collection, optional
            The values that are allowed.
        finite : bool, default=True
            Whether NaN and infinity are refused.

        Returns
        -------
        object
            The value, as a `kind`.
        """
        if name not in self.settings:
            raise self.error(f"there is no setting {name!r}")
        value: Any = self.settings[name]
        if kind is float and type(value) is int:
            value = _as_float(value)
        if type(value) is not kind:
            raise self._bad_setting(name, value, f"a value of type {kind.__name__}")
        if finite and isinstance(value, float) and not math.isfinite(value):
            raise self._bad_setting(name, value, "a finite number")
        expected = _violated_bound(value, at_least, above, below)
        if expected is not None:
            raise self._bad_setting(name, value, expected)
        if choices is not None and value not in choices:
            raise self._bad_setting(
                name, value, f"one of {', '.join(map(repr, choices))}"
            )
        return value

    def check_room(self, count: int, what: str) -> None:
        """Refuse to make large arrays for a file that holds little.

        Parameters
        ----------
        count : int
            How many numbers will be made.
        what : str
            What they are.
        """
        held = sum(int(tensor.size) for tensor in self.tensors.values())
        if count > most_numbers(held):
            raise self.error(f"{what} take far more room than the whole file")

    def part(self, name: str) -> Content:
        """Return the tensors called ``name.*`` and the settings under `name`.

        The loader of a part, such as an encoder, then uses short names of its own.

        Parameters
        ----------
        name : str
            The prefix, without the dot.

        Returns
        -------
        Content
            That part of the content; without settings when there are none.

        Examples
        --------
        >>> whole = Content({"labels.bytes": np.zeros(1)}, {}, "model", 1, "a.partwise")
        >>> sorted(whole.part("labels").tensors)
        ['bytes']
        """
        prefix = f"{name}."
        tensors = {
            key.removeprefix(prefix): tensor
            for key, tensor in self.tensors.items()
            if key.startswith(prefix)
        }
        settings = self.setting(name, dict) if name in self.settings else {}
        source = f"{self.source}: {name}" if self.source else name
        return Content(tensors, settings, self.kind, self.format_version, source)

    def error(self, what: str) -> ModelFileError:
        """Make an error that names the file.

        Parameters
        ----------
        what : str
            What is wrong.

        Returns
        -------
        ModelFileError
            The error, to be raised.
        """
        return ModelFileError(f"{self.source}: {what}" if self.source else what)

    def _bad_setting(self, name: str, value: Any, expected: str) -> ModelFileError:
        shown = repr(value)
        if len(shown) > 60:
            shown = f"{shown[:60]}..."
        return self.error(f"setting {name!r} is {shown}, expected {expected}")


def most_numbers(held: int) -> int:
    """Return how many numbers may be made for a file that holds some."""
    return max(ALWAYS_ALLOWED, MOST_PER_NUMBER * held)


def _as_float(value: int) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _violated_bound(
    value: Any, at_least: float | None, above: float | None, below: float | None
) -> str | None:
    """Say which bound a value breaks, if any; NaN breaks all of them."""
    if at_least is not None and not value >= at_least:
        return f"at least {at_least}"
    if above is not None and not value > above:
        return f"above {above}"
    if below is not None and not value < below:
        return f"below {below}"
    return None
