"""Reading treebanks for commands, and the names that commands have for settings."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from partwise.cli.files import check_encoding
from partwise.errors import Advice, DataError

if TYPE_CHECKING:
    from partwise.data import Sentence

# Settings whose flags do not follow from their names.
FLAGS: dict[tuple[str, object], str] = {
    ("projective", False): "--nonprojective",
    ("single_root", False): "--multiple-roots",
    ("labelled", False): "--unlabelled",
}


@dataclass(frozen=True)
class TreeLayout:
    """How to read treebanks; without a format it is told from the file."""

    format: str | None = None
    encoding: str = "utf-8"

    def __post_init__(self) -> None:
        """Check the options before any file is touched."""
        check_encoding(self.encoding)

    def read(self, path: str) -> list[Sentence]:
        """Read a whole treebank, which must have words."""
        from partwise.data import read_trees

        sentences = read_trees(path, self.format, encoding=self.encoding)
        if not any(map(len, sentences)):
            raise DataError(f"{path}: holds no words (expected a treebank)")
        return sentences

    def stream(self, path: str) -> Iterator[list[Sentence]]:
        """Read a treebank batch by batch, as fast as it comes in."""
        from partwise.data.tree_files import iter_batches

        return iter_batches(path, self.format, encoding=self.encoding)


@contextmanager
def advice_in_flags() -> Iterator[None]:
    """Let errors advise options of the command line, not arguments of Python.

    Examples
    --------
    >>> with advice_in_flags():
    ...     advice = Advice("projective", False, "allows it")
    ...     raise DataError("arcs cross", advice=[advice])
    Traceback (most recent call last):
        ...
    partwise.errors.DataError: arcs cross (--nonprojective allows it)
    """
    try:
        yield
    except DataError as error:
        raise error.advising(_as_flag) from error


def _as_flag(advice: Advice) -> str:
    flag = f"--{advice.setting} {advice.value}"
    return f"{FLAGS.get((advice.setting, advice.value), flag)} {advice.effect}"
