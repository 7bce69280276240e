"""A sentence of a treebank: its words, its tree, and the text it was read from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from operator import attrgetter, index
from typing import Any, NamedTuple, TypeAlias

from partwise.data.tree_format import NOT_GIVEN, Cells, TreeFormat, find_format
from partwise.errors import DataError
from partwise.trees import find_wrong_head

Column: TypeAlias = tuple[str, ...]
# Forms, lemmas, upos, xpos, feats, heads, labels.
Columns: TypeAlias = tuple[tuple[str | int, ...] | None, ...]


class Verbatim(NamedTuple):
    """The lines a sentence was read from, and what they said.

    Parameters
    ----------
    text : str
        All lines with their ends: comments, words, the blank lines after them.
    format : str
        How they are laid out: ``"conllu"``, ``"conllx"`` or ``"heads"``.
    columns : tuple
        The columns of the sentence as read, in the order of its fields.
    file : str
        The name of the file.
    line : int
        The number of the first word's line, or of the first line without words.
    """

    text: str
    format: str
    columns: Columns
    file: str
    line: int

    @property
    def n_words(self) -> int:
        """The number of words."""
        return len(self.columns[0] or ())


@dataclass(frozen=True, slots=True)
class Sentence:
    r"""The words of a sentence, what is known about each, and its dependency tree.

    A sentence read from a file remembers its lines: it is written as it was read,
    byte for byte, except for columns that have changed. Sentences are equal if
    their columns are.

    Parameters
    ----------
    forms, lemmas, upos, xpos, feats : tuples of str
        One value per word, ``"_"`` where none is given: the word, its dictionary
        form, its universal (or coarse) and its language's own (or fine) part of
        speech, its morphology as in ``"Case=Gen|Number=Sing"``. The one tag of the
        ``heads`` format is both parts of speech.
    heads : tuple of int or None
        The head of each word: the number of another word, from 1, or 0 for the
        root. None if the tree is not known.
    labels : tuple of str or None
        The relation of each word to its head; None if none is given.
    verbatim : Verbatim or None
        The lines it was read from; None if it was made in Python.
    unknown : tuple of int
        The words, from 1, whose head is not known though that of others is; 0 stands
        for it in `heads`.

    See Also
    --------
    Sentence.from_columns : Make one from lists, with most columns left out.
    read_trees : Read a file.

    Examples
    --------
    >>> sentence = Sentence.from_columns(
    ...     forms=["Dogs", "bark"], upos=["NOUN", "VERB"], heads=[2, 0]
    ... )
    >>> len(sentence), sentence.heads, sentence.lemmas
    (2, (2, 0), ('_', '_'))
    >>> sentence.to_text("heads")
    'Dogs\tNOUN\t2\nbark\tVERB\t0\n\n'
    """

    forms: Column
    lemmas: Column
    upos: Column
    xpos: Column
    feats: Column
    heads: tuple[int, ...] | None
    labels: Column | None
    verbatim: Verbatim | None = field(
        default=None, repr=False, compare=False, kw_only=True
    )
    unknown: tuple[int, ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        """Check that all columns have one value per word."""
        n = len(self.forms)
        for name, column in zip(_COLUMNS, self._columns, strict=True):
            if column is not None and len(column) != n:
                raise DataError(
                    f"there are {n} forms, but {len(column)} {name} (give one for each "
                    "word)"
                )

    @classmethod
    def from_columns(
        cls,
        *,
        forms: Iterable[str],
        lemmas: Iterable[str] | None = None,
        upos: Iterable[str] | None = None,
        xpos: Iterable[str] | None = None,
        feats: Iterable[str] | None = None,
        heads: Iterable[int | None] | None = None,
        labels: Iterable[str | None] | None = None,
    ) -> Sentence:
        """Make a sentence from lists; what is left out counts as not given.

        Parameters
        ----------
        forms, lemmas, upos, xpos, feats, labels : iterables of str
            One value per word; a label that is not known is None, or _ as in files.
        heads : iterable of int
            The heads, from 1; 0 is the root, and None a head that is not known.

        Returns
        -------
        Sentence
            Writes all columns.

        Raises
        ------
        DataError
            If a column has a different length from `forms`, a value is empty or holds
            a tab or line break, or a head is out of range or the word itself.

        Examples
        --------
        >>> Sentence.from_columns(forms=["Dogs", "bark"], heads=[2, 9])
        Traceback (most recent call last):
            ...
        partwise.errors.DataError: word 2: head 9 is out of range (the sentence has \
2 words; the root is 0)
        """
        words = _checked("forms", forms)
        lemmas, upos, xpos, feats = (
            (NOT_GIVEN,) * len(words) if cells is None else _checked(name, cells)
            for name, cells in zip(
                _COLUMNS[1:5], (lemmas, upos, xpos, feats), strict=True
            )
        )
        if not words:  # the tree of a sentence without words is known: it is empty
            heads = () if heads is None else heads
            labels = () if labels is None else labels
        given = None if heads is None else list(heads)
        unknown = tuple(word for word, h in enumerate(given or (), 1) if h is None)
        if given is not None and words and len(unknown) == len(words):
            given, unknown = None, ()
        return cls(
            words,
            lemmas,
            upos,
            xpos,
            feats,
            heads=None
            if given is None
            else _checked_heads([h or 0 for h in given], len(words)),
            labels=None if labels is None else _checked_labels(labels),
            unknown=unknown,
        )

    def with_tree(
        self, heads: Iterable[int], labels: Iterable[str] | None = None
    ) -> Sentence:
        r"""Return the same sentence with another tree.

        Only heads and labels are written differently; comments, enhanced
        dependencies and all other columns stay as they were read.

        Parameters
        ----------
        heads : iterable of int
            The new heads.
        labels : iterable of str, optional
            The new labels. Without them none are given: the old ones belong to
            the old tree. To keep them, pass ``sentence.labels``.

        Returns
        -------
        Sentence
            A copy.

        Raises
        ------
        DataError
            As in `from_columns`.

        Examples
        --------
        >>> sentence = Sentence.from_columns(forms=["Dogs", "bark"])
        >>> sentence.with_tree([2, 0], ["nsubj", "root"]).labels
        ('nsubj', 'root')
        """
        return replace(
            self,
            heads=_checked_heads(heads, len(self)),
            labels=None if labels is None else _checked_labels(labels),
            unknown=(),
        )

    def without_heads(self, words: Iterable[int]) -> Sentence:
        """Return the same sentence with the heads of some words, from 1, unknown.

        Examples
        --------
        >>> sentence = Sentence.from_columns(forms=["Dogs", "bark"], heads=[2, 0])
        >>> sentence.without_heads([1]).unknown
        (1,)
        """
        gone = {*map(index, words), *self.unknown}
        if self.heads is None or not gone:
            return self
        heads = tuple(0 if w in gone else h for w, h in enumerate(self.heads, 1))
        labels = self.labels
        if labels is not None:
            labels = tuple(
                NOT_GIVEN if w in gone else label for w, label in enumerate(labels, 1)
            )
        return replace(self, heads=heads, labels=labels, unknown=tuple(sorted(gone)))

    def to_text(self, format: str | None = None) -> str:
        r"""Return the lines of the sentence, with the blank line that ends it.

        Parameters
        ----------
        format : {"conllu", "conllx", "heads"}, optional
            By default the one it was read in, or CoNLL-U. In another one only the
            words are written, without comments and the like; ``heads`` has one tag,
            `upos` or else `xpos`.

        Returns
        -------
        str
            What `write_trees` writes.

        Raises
        ------
        DataError
            If a value that was changed is empty or holds a tab or line break.

        Examples
        --------
        >>> Sentence.from_columns(forms=["Hush"], heads=[0]).to_text("conllx")
        '1\tHush\t_\t_\t_\t_\t0\t_\t_\t_\n\n'
        """
        read = self.verbatim
        chosen = find_format(format or (read.format if read else "conllu"))
        if read is None or read.format != chosen.name or read.n_words != len(self):
            cells = _cells(chosen, self._columns)
            self._check_cells(chosen, cells)
            return chosen.render(cells, len(self))
        if all(a is b for a, b in zip(self._columns, read.columns, strict=True)):
            return read.text
        before = _cells(chosen, read.columns)
        after = _cells(chosen, self._columns)
        changed = {c: cells for c, cells in after.items() if cells != before[c]}
        self._check_cells(chosen, changed)
        return chosen.patch(read.text, changed) if changed else read.text

    def _check_cells(self, format: TreeFormat, cells: Cells) -> None:
        where = f"{self.place}: " if self.place else ""
        for name, place in format.places.items():
            if place in cells:
                _checked(where + name, cells[place])

    @property
    def place(self) -> str | None:
        """Where it was read, as in ``"train.conllu:17"``; None if made in Python."""
        return f"{self.verbatim.file}:{self.verbatim.line}" if self.verbatim else None

    @property
    def _columns(self) -> Columns:
        columns: Columns = _all_columns(self)
        return with_gaps(columns, self.unknown) if self.unknown else columns

    def _repr_svg_(self) -> str | None:
        """Show notebooks the tree, if there is one."""
        from partwise.drawing import draw_svg

        if self.heads is None:
            return None
        return draw_svg(self.forms, self.heads, self.labels)

    def __len__(self) -> int:
        """Return the number of words."""
        return len(self.forms)


_COLUMNS = tuple(
    f.name for f in fields(Sentence) if f.name not in ("verbatim", "unknown")
)
_all_columns = attrgetter(*_COLUMNS)


def with_gaps(columns: Any, unknown: Sequence[int]) -> Columns:
    """Return columns as they are written, without the heads of unknown words."""
    place = _COLUMNS.index("heads")
    heads = tuple(
        NOT_GIVEN if word in unknown else head
        for word, head in enumerate(columns[place], 1)
    )
    return (*columns[:place], heads, *columns[place + 1 :])


def _cells(format: TreeFormat, columns: Columns) -> dict[int, Column]:
    """Return what a format writes in its columns."""
    forms = columns[0] or ()
    cells: dict[int, Column] = {}
    for name, column in zip(_COLUMNS, columns, strict=True):
        place = format.places.get(name)
        if place is None:
            continue
        new = (NOT_GIVEN,) * len(forms) if column is None else tuple(map(str, column))
        if place in cells:  # two fields share a column: the first one given counts
            first = cells[place]
            new = tuple(
                b if a == NOT_GIVEN else a for a, b in zip(first, new, strict=True)
            )
        cells[place] = new
    return cells


def _checked(name: str, cells: Iterable[str]) -> Column:
    """Return a column whose values can be written."""
    if isinstance(cells, str):
        raise TypeError(f"{name} must be a list of strings, not {cells!r}")
    column = tuple(cells)
    if all(issubclass(kind, str) for kind in set(map(type, column))):
        text = "".join(column)
        if "" not in column and not any(mark in text for mark in "\t\n\r"):
            return column
    for word, cell in enumerate(column, 1):  # which one cannot be written?
        if not isinstance(cell, str):
            raise TypeError(
                f"{name}: word {word} has {cell!r}, which is not a string "
                "(convert it with str)"
            )
        if not cell or any(mark in cell for mark in "\t\n\r"):
            raise DataError(
                f"{name}: word {word} has {cell!r} (a value is not empty and holds no "
                'tab or line break; "_" if there is none)'
            )
    return column


def _checked_labels(labels: Iterable[str | None]) -> Column | None:
    """Return labels, or None where a file would say that none is given.

    One that is None is not known, as a head is; files have a mark for that.
    """
    column = _checked(
        "labels",
        labels
        if isinstance(labels, str)
        else [NOT_GIVEN if label is None else label for label in labels],
    )
    return None if set(column) == {NOT_GIVEN} else column


def _checked_heads(heads: Iterable[int], n_words: int) -> tuple[int, ...]:
    """Return heads as plain numbers that are 0 or other words."""
    checked = tuple(map(index, heads))
    if len(checked) != n_words:
        raise DataError(
            f"there are {n_words} forms, but {len(checked)} heads (give one for each "
            "word)"
        )
    wrong = find_wrong_head(checked)
    if wrong is not None:
        raise DataError(f"word {wrong[0]}: {wrong[1]}")
    return checked
