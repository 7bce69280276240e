"""Reading labelled sequences for commands, whatever their format."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

from partwise.cli.files import ColumnFiles
from partwise.cli.options import FORMAT

if TYPE_CHECKING:
    from partwise.data.conllu_columns import ConlluData

# Formats that are read whole are tagged in pieces of this many sequences.
PIECE = 2000


class Format(StrEnum):
    """How a file of sequences is laid out."""

    columns = "columns"
    conllu = "conllu"
    crfsuite = "crfsuite"
    svmhmm = "svmhmm"


class ColumnFormat(StrEnum):
    """The format where nothing but columns is read."""

    columns = "columns"


@dataclass(frozen=True)
class ColumnsOnly(ColumnFiles):
    """How files of sequences are read that must be columns."""

    format: Annotated[ColumnFormat | None, FORMAT] = None


@dataclass(frozen=True)
class SequenceFiles(ColumnFiles):
    """How files of sequences are read: columns, or features with their names."""

    format: Annotated[Format | None, FORMAT] = None

    def labelled(self, path: str, label_column: int) -> tuple[Any, list[list[str]]]:
        """Read inputs and labels; columns keep the labels, which no template reads."""
        from partwise.data import read_crfsuite, read_svmhmm

        if self.reads_columns:
            return super().labelled(path, label_column)
        return (read_crfsuite if self.format is Format.crfsuite else read_svmhmm)(path)

    @property
    def reads_columns(self) -> bool:
        """Whether these are columns."""
        return self.format in (None, Format.columns, Format.conllu)

    def conllu(self, path: str) -> ConlluData:
        """Read the words of a whole CoNLL-U file."""
        from partwise.data.conllu_columns import read_conllu

        self.refuse_column_options()
        return read_conllu(path, encoding=self.encoding)

    def conllu_pieces(self, path: str) -> Iterator[ConlluData]:
        """Read the words of a CoNLL-U file piece by piece."""
        from partwise.data.conllu_columns import iter_conllu

        self.refuse_column_options()
        return iter_conllu(path, encoding=self.encoding)

    def refuse_column_options(self) -> None:
        """Refuse options that say how columns are laid out: for CoNLL-U it is known."""
        given = {
            "--separator": self.separator,
            "--comments": self.comments,
            "--skip-docstart": self.skip_docstart,
        }
        for flag, value in given.items():
            if value:
                raise ValueError(
                    f"{flag} is for other column files: the layout of CoNLL-U is "
                    f"known; leave {flag} out, or read the file with --format columns"
                )

    def is_conllu(self, path: str) -> bool:
        """Say whether a file is CoNLL-U, by the format given or else its name."""
        if self.format is None:
            return path.removesuffix(".gz").endswith(".conllu")
        return self.format is Format.conllu

    def pieces(self, path: str, has_labels: bool = True) -> Iterator[Any]:
        """Read inputs piece by piece; labels, if lines begin with them, are ignored."""
        from partwise.data import read_crfsuite, read_svmhmm

        if self.reads_columns:
            yield from self.stream(path)
            return
        if self.format is Format.svmhmm:
            X: Any = read_svmhmm(path)[0]
        elif has_labels:
            X = read_crfsuite(path)[0]
        else:
            X = read_crfsuite(path, labelled=False)[0]
        for begin in range(0, len(X), PIECE):
            yield X[begin : begin + PIECE]
