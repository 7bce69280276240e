"""Remarks in treebanks: comments above a tree, entries in a column of its words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from partwise.data.tree_format import BYTE_ORDER_MARK, NOT_GIVEN, find_format
from partwise.data.treebank import Sentence, Verbatim
from partwise.errors import DataError

MISC = 9


def with_comments(sentence: Sentence, comments: Mapping[str, object]) -> Sentence:
    r"""Return a sentence that was read, with comments after those it has.

    Examples
    --------
    >>> import io
    >>> from partwise.data import read_trees
    >>> text = "# text = Hush\n1\tHush\t_\t_\t_\t_\t0\troot\t_\t_\n"
    >>> [sentence] = read_trees(io.StringIO(text))
    >>> print(with_comments(sentence, {"rank": 1}).to_text())
    # text = Hush
    # rank = 1
    1   Hush    _   _   _   _   0   root    _   _
    <BLANKLINE>
    """
    read = _verbatim(sentence)
    format = find_format(read.format)
    if not format.numbered:
        raise DataError(
            f"{read.file}: the {read.format} format has no room for comments (use "
            "CoNLL-U, or --json)"
        )
    mark = BYTE_ORDER_MARK if read.text.startswith(BYTE_ORDER_MARK) else ""
    lines = read.text.removeprefix(mark).split("\n")
    first = next((i for i, line in enumerate(lines) if format.is_content(line)), 0)
    end = "\r" if lines[first].endswith("\r") else ""
    lines[first:first] = [f"# {key} = {value}{end}" for key, value in comments.items()]
    return replace(sentence, verbatim=read._replace(text=mark + "\n".join(lines)))


def with_entries(sentence: Sentence, name: str, values: Iterable[object]) -> Sentence:
    r"""Return a CoNLL-U sentence that was read, with an entry in MISC of each word.

    An entry of the same name is replaced, or removed where the value is None.

    Examples
    --------
    >>> import io
    >>> from partwise.data import read_trees
    >>> text = "1\tHush\t_\t_\t_\t_\t0\troot\t_\tSpaceAfter=No\n"
    >>> [sentence] = read_trees(io.StringIO(text))
    >>> with_entries(sentence, "HeadProb", [0.5]).to_text().split("\t")[-1]
    'SpaceAfter=No|HeadProb=0.5\n'
    """
    read = _verbatim(sentence)
    if read.format != "conllu":
        raise DataError(
            f"{read.file}: only CoNLL-U has a column for probabilities, not "
            f"{read.format} (use --json)"
        )
    format = find_format(read.format)
    lines = read.text.removeprefix(BYTE_ORDER_MARK).split("\n")
    cells = [
        _with_entry(lines[i].removesuffix("\r").split("\t")[MISC], name, value)
        for i, value in zip(format.word_lines(lines), values, strict=True)
    ]
    patched = format.patch(read.text, {MISC: cells})
    return replace(sentence, verbatim=read._replace(text=patched))


def _with_entry(misc: str, name: str, value: object) -> str:
    entries: Sequence[str] = [] if misc == NOT_GIVEN else misc.split("|")
    kept = [entry for entry in entries if not entry.startswith(f"{name}=")]
    added = [] if value is None else [f"{name}={value}"]
    return "|".join([*kept, *added]) or NOT_GIVEN


def _verbatim(sentence: Sentence) -> Verbatim:
    if sentence.verbatim is None:
        raise ValueError("only sentences that were read have lines to add to")
    return sentence.verbatim
