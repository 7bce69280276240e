"""Reading and writing treebanks: CoNLL-U, CoNLL-X and ``word tag head``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from partwise.data import files
from partwise.data.files import BLOCK
from partwise.data.tree_format import BYTE_ORDER_MARK, find_format, is_blank
from partwise.data.tree_reader import TreeReader
from partwise.data.treebank import Sentence


def read_trees(
    source: files.Source,
    format: str | None = None,
    *,
    encoding: str = "utf-8",
    partial: bool = False,
) -> list[Sentence]:
    r"""Read a treebank.

    Parameters
    ----------
    source : path, "-" or file object
        The file, plain or gzip; ``"-"`` is standard input.
    format : {"conllu", "conllx", "heads"}, optional
        CoNLL-U (10 columns), CoNLL-X (8 or 10), or word, tag and head; always with
        tabs between columns. By default it is recognised by the file's name or
        its first word. CoNLL files may have more columns, which are kept.
    encoding : str, default="utf-8"
        The encoding of the file.
    partial : bool, default=False
        Whether some words of a sentence may lack a head, written ``_``: their numbers
        are in `Sentence.unknown`.

    Returns
    -------
    list of Sentence
        All sentences, even those that are only comments. Whether heads are trees is not
        checked here; see `partwise.trees.check_tree`.

    Raises
    ------
    DataError
        If there is no such file, a line has a different number of columns or cannot
        be decoded, words do not count from 1, or a head is not a number,
        out of range or the word itself; the message names the line.

    See Also
    --------
    iter_trees : The same, a sentence at a time.
    write_trees : Write them back.

    Examples
    --------
    >>> import io
    >>> text = "Dogs\tNNS\t2\nbark\tVBP\t0\n\nHush\tUH\t0\n"
    >>> first, second = read_trees(io.StringIO(text))
    >>> first.forms, first.heads
    (('Dogs', 'bark'), (2, 0))
    """
    reader = TreeReader(files.source_name(source), format, partial)
    text = "".join(files.decoded_blocks(source, reader.file, encoding, BLOCK))
    return list(reader.sentences(text))


def iter_trees(
    source: files.Source, format: str | None = None, *, encoding: str = "utf-8"
) -> Iterator[Sentence]:
    r"""Read a treebank sentence by sentence.

    A sentence is passed on as soon as the blank line after it is there, so that a
    pipe is answered while it is still open, and a large file is never in memory whole.

    Parameters
    ----------
    source, format, encoding
        As in `read_trees`.

    Yields
    ------
    Sentence
        The next one.

    Examples
    --------
    >>> import io
    >>> text = "Dogs\tNNS\t2\nbark\tVBP\t0\n\nHush\tUH\t0\n"
    >>> [len(sentence) for sentence in iter_trees(io.StringIO(text))]
    [2, 1]
    """
    for batch in iter_batches(source, format, encoding=encoding):
        yield from batch


def iter_batches(
    source: files.Source, format: str | None = None, *, encoding: str = "utf-8"
) -> Iterator[list[Sentence]]:
    r"""Read a treebank in batches: what a pipe holds so far, or a piece of a file.

    Parameters
    ----------
    source, format, encoding
        As in `read_trees`.

    Yields
    ------
    list of Sentence
        The next ones, at least one.

    Examples
    --------
    >>> import io
    >>> text = "Dogs\tNNS\t2\nbark\tVBP\t0\n\nHush\tUH\t0\n"
    >>> [len(batch) for batch in iter_batches(io.StringIO(text))]
    [1, 1]
    """
    reader = TreeReader(files.source_name(source), format)
    blocks = files.decoded_blocks(source, reader.file, encoding, BLOCK)
    for text in files.whole_sentences(blocks, is_blank):
        yield list(reader.sentences(text))


def write_trees(
    target: files.Target, sentences: Iterable[Sentence], format: str | None = None
) -> None:
    r"""Write a treebank.

    What was read is written as it was read, byte for byte, except for what
    has changed since. Sentences made in Python have all columns.

    Parameters
    ----------
    target : path, "-" or file object
        Where to write. A path appears complete or not at all, and is packed when
        it ends in ``.gz``; ``"-"`` is standard output.
    sentences : iterable of Sentence
        What to write; they are taken one at a time.
    format : {"conllu", "conllx", "heads"}, optional
        By default what the first sentence was read in, or CoNLL-U. Sentences read
        in another format are converted: words, tags and trees are kept, comments
        and the like are not.

    Raises
    ------
    DataError
        If a sentence holds a value that no column can hold.

    Examples
    --------
    >>> write_trees("-", [Sentence.from_columns(forms=["Hush"], heads=[0])], "heads")
    Hush    _   0
    <BLANKLINE>
    """
    if format is not None:
        find_format(format)
    with files.open_output(target) as out:
        break_before = ""
        for number, sentence in enumerate(sentences):
            if format is None:
                format = sentence.verbatim.format if sentence.verbatim else "conllu"
            text = sentence.to_text(format)
            if number:
                text = text.removeprefix(BYTE_ORDER_MARK)
            if text:
                out.write(break_before + text)
                break_before = _missing_break(text)


def _missing_break(text: str) -> str:
    """Return what a text lacks before another sentence may follow."""
    lines = text.rsplit("\n", 2)
    newline = "\r\n" if text.count("\r\n") else "\n"
    if not is_blank(lines[-1]):
        return newline * 2
    if lines[-1]:  # blanks without a line end
        return newline
    return "" if is_blank(lines[-2]) else newline
