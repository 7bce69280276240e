"""Reading what pipelines annotate."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

from partwise.cli.options import FORMAT, Encoding
from partwise.errors import DataError

if TYPE_CHECKING:
    from partwise.data import Sentence


class TextFormat(StrEnum):
    """How a text is given."""

    text = "text"
    tokens = "tokens"
    conllu = "conllu"


@dataclass(frozen=True)
class TextFiles:
    """How texts are read; by default CoNLL-U is recognised by its name."""

    format: Annotated[TextFormat | None, FORMAT] = None
    encoding: Encoding = "utf-8"

    def format_of(self, path: str) -> TextFormat:
        """Return the format of a file."""
        if self.format is not None:
            return self.format
        if path.removesuffix(".gz").endswith(".conllu"):
            return TextFormat.conllu
        return TextFormat.text


def read_treebank(path: str, encoding: str) -> list[Sentence]:
    """Read CoNLL-U, which must have words."""
    from partwise.data import read_trees

    sentences = read_trees(path, "conllu", encoding=encoding)
    if not any(map(len, sentences)):
        raise DataError(f"{path}: holds no words (expected a treebank)")
    return sentences


def read_spans(path: str, encoding: str) -> Any:
    """Read a corpus with labelled spans: CoNLL-U by its name, or else columns."""
    from partwise.data import read_columns
    from partwise.data.conllu_columns import read_conllu

    if path.removesuffix(".gz").endswith(".conllu"):
        return read_conllu(path, encoding=encoding)
    return read_columns(path, encoding=encoding, skip_docstart=True)
