"""CoNLL-U as columns: the cells of words for taggers, and where labels belong."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from partwise.data import files, tree_files
from partwise.data.columns import ColumnData
from partwise.data.tree_format import FORMATS, NOT_GIVEN
from partwise.data.tree_notes import MISC, with_entries
from partwise.data.treebank import Sentence
from partwise.errors import DataError

NAMES = tuple("id form lemma upos xpos feats head deprel deps misc".split())
"""What the columns are called, in their order."""
OUTSIDE = "O"
"""The label of words that have no entry in MISC."""

_FIELDS = {"lemma": "lemmas", "upos": "upos", "xpos": "xpos", "feats": "feats"}


@dataclass(slots=True, eq=False, repr=False)
class ConlluData(ColumnData):
    r"""The words of CoNLL-U as ten columns of strings, and what they were read from.

    Multiword tokens, empty nodes and comments are no words; the sentences keep them.

    Parameters
    ----------
    sentences : list of Sentence
        The sentences, with their lines.

    Examples
    --------
    >>> import io
    >>> from partwise.data import read_trees
    >>> text = "# text = Hush!\n1\tHush\thush\tINTJ\t_\t_\t0\troot\t_\t_\n"
    >>> data = ConlluData.of(read_trees(io.StringIO(text)))
    >>> data.columns[NAMES.index("upos")]
    ['INTJ']
    """

    sentences: list[Sentence] = field(kw_only=True)

    @classmethod
    def of(cls, sentences: Iterable[Sentence]) -> ConlluData:
        """Return the words of sentences, which may have been made in Python."""
        kept = list(sentences)
        rows = [row for sentence in kept for row in word_rows(sentence)]
        ptr = np.zeros(len(kept) + 1, np.int64)
        np.cumsum([len(sentence) for sentence in kept], out=ptr[1:])
        columns = [list(column) for column in zip(*rows, strict=True)]
        return cls(columns or [[] for _ in NAMES], ptr, separator="\t", sentences=kept)


def read_conllu(source: files.Source, *, encoding: str = "utf-8") -> ConlluData:
    """Read the words of a CoNLL-U file, which must have some."""
    data = ConlluData.of(tree_files.read_trees(source, "conllu", encoding=encoding))
    if not data.n_tokens:
        raise DataError("holds no words", path=files.source_name(source))
    return data


def iter_conllu(
    source: files.Source, *, encoding: str = "utf-8"
) -> Iterator[ConlluData]:
    """Read the words of a CoNLL-U file piece by piece, as it comes in."""
    for batch in tree_files.iter_batches(source, "conllu", encoding=encoding):
        yield ConlluData.of(batch)


def word_rows(sentence: Sentence) -> list[list[str]]:
    """Return the ten cells of every word of a sentence."""
    read = sentence.verbatim
    text = sentence.to_text("conllu")
    if read is not None and read.format == "conllu":
        text = text.replace("\r\n", "\n")
    lines = text.split("\n")
    kept = FORMATS["conllu"].word_lines(lines)
    return [lines[i].split("\t")[: len(NAMES)] for i in kept]


@dataclass(frozen=True)
class LabelPlace:
    r"""Where the labels of words are in CoNLL-U: a column, or an entry in MISC.

    Parameters
    ----------
    name : str
        ``"upos"``, ``"xpos"``, ``"feats"``, ``"lemma"``, or ``"misc.NER"`` for the
        entry ``NER=...`` in MISC. A word without the entry has the label ``O``.

    Examples
    --------
    >>> import io
    >>> from partwise.data import read_trees
    >>> text = "1\tParis\t_\tX\t_\t_\t0\troot\t_\tNER=B-LOC|SpaceAfter=No\n"
    >>> data = ConlluData.of(read_trees(io.StringIO(text)))
    >>> LabelPlace("misc.NER").labels(data)
    [['B-LOC']]
    >>> [changed] = LabelPlace("upos").put(data.sentences, [["PROPN"]])
    >>> changed.upos
    ('PROPN',)
    """

    name: str

    def __post_init__(self) -> None:
        """Refuse what is no place for labels."""
        if self.name not in _FIELDS and not self.entry:
            raise ValueError(
                f"there is no place for labels called {self.name!r} in CoNLL-U (give "
                "upos, xpos, feats, or misc.NAME for an entry in MISC)"
            )

    @property
    def entry(self) -> str:
        """The name of the entry in MISC; empty if a column is meant."""
        column, _, entry = self.name.partition(".")
        return entry if column == "misc" and "=" not in entry else ""

    @property
    def column(self) -> int:
        """The column, counted from 0."""
        return MISC if self.entry else NAMES.index(self.name)

    def labels(self, data: ConlluData) -> list[list[str]]:
        """Return the labels of all words, sentence by sentence."""
        cells = data.column_sequences(self.column)
        if not self.entry:
            return cells
        return [[entry_of(cell, self.entry) or OUTSIDE for cell in s] for s in cells]

    def put(
        self, sentences: Sequence[Sentence], labels: Sequence[Sequence[str]]
    ) -> list[Sentence]:
        """Return sentences with these labels in place of those they have."""
        pairs = zip(sentences, labels, strict=True)
        if self.entry:
            return [
                with_entries(
                    sentence,
                    self.entry,
                    (None if label == OUTSIDE else label for label in own),
                )
                for sentence, own in pairs
            ]
        return [with_column(one, _FIELDS[self.name], own) for one, own in pairs]


def with_column(sentence: Sentence, field: str, cells: Iterable[str]) -> Sentence:
    """Return a sentence with other values in one of its columns.

    Examples
    --------
    >>> with_column(Sentence.from_columns(forms=["Hush"]), "upos", ["INTJ"]).upos
    ('INTJ',)
    """
    changes: dict[str, Any] = {field: tuple(map(str, cells))}
    return replace(sentence, **changes)


def entry_of(misc: str, name: str) -> str | None:
    """Return the value of an entry in a cell of MISC; None if there is none.

    Examples
    --------
    >>> entry_of("NER=O|SpaceAfter=No", "SpaceAfter"), entry_of("_", "NER")
    ('No', None)
    """
    if misc == NOT_GIVEN:
        return None
    for entry in misc.split("|"):
        key, equals, value = entry.partition("=")
        if equals and key == name:
            return value
    return None
