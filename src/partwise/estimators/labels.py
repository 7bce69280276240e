"""Labels as users write them, and as small integers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partwise.errors import DataError

Label = Any


def sorted_classes(labels: Sequence[Label]) -> list[Label]:
    """Return the distinct labels, sorted; all strings or all integers.

    Examples
    --------
    >>> sorted_classes(["O", "B-NP", "O"])
    ['B-NP', 'O']
    """
    # Types are looked at before a set merges what is equal: 1, 1.0 and True.
    examples = {type(label): label for label in labels}
    kinds = {_kind(label) for label in examples.values()}
    if len(kinds) > 1:
        raise DataError("labels must be all strings or all integers, not a mixture")
    if kinds != {"int"}:
        return sorted(map(str, set(labels)))
    numbers = sorted(map(int, set(labels)))
    if not -(2**63) <= numbers[0] <= numbers[-1] < 2**63:
        raise DataError("integer labels must fit into 64 bits; use strings instead")
    return numbers


def _kind(label: Label) -> str:
    if isinstance(label, str):
        return "str"
    if isinstance(label, Integral) and not isinstance(label, bool):
        return "int"
    several = isinstance(label, list | tuple)
    advice = "; write a set if it is one of several labels" if several else ""
    raise DataError(
        f"labels must be strings or integers, not {label!r} "
        f"({type(label).__name__}){advice}"
    )


def class_array(classes: Sequence[Label]) -> NDArray[Any]:
    """Return classes as an array: of objects for strings, of int64 for integers."""
    if classes and isinstance(classes[0], int):
        return np.array(classes, np.int64)
    return np.array(classes, object)


def listed(names: Sequence[Any], most: int = 8) -> str:
    """Return the first of some names, for a message.

    Examples
    --------
    >>> listed(["a", "b", "c"], most=2)
    "'a', 'b', ..."
    """
    return ", ".join(map(repr, names[:most])) + (", ..." if names[most:] else "")


class LabelCodes:
    """Translate between labels and 0, 1, 2, ...

    Examples
    --------
    >>> codes = LabelCodes(["N", "V"])
    >>> codes.encode(["V", "N"], "sequence 0").tolist(), codes.decode([1, 0])
    ([1, 0], ['V', 'N'])
    """

    def __init__(self, classes: Sequence[Label]):
        self.classes = list(classes)
        self._code = {label: code for code, label in enumerate(self.classes)}

    def __len__(self) -> int:
        """Return the number of classes."""
        return len(self.classes)

    def encode(self, labels: Iterable[Label], where: str) -> NDArray[np.int32]:
        """Translate labels to codes; `where` is for the error message."""
        try:
            return np.array([self._code[label] for label in labels], np.int32)
        except (KeyError, TypeError) as error:
            raise DataError(f"{where}: unknown label {error}") from None

    def code(self, label: Label, where: str) -> int:
        """Translate one label; `where` is for the error message."""
        if label not in self._code:
            known = listed(self.classes)
            raise DataError(
                f"{where}: {label!r} is not a label of the training data ({known})"
            )
        return self._code[label]

    def decode(self, codes: Iterable[int]) -> list[Label]:
        """Translate codes to labels."""
        classes = self.classes
        return [classes[code] for code in codes]
