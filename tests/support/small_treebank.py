"""A few short generated sentences with trees, for parsers in plain Python."""

import io
from collections.abc import Sequence

from partwise.data import Sentence, read_trees
from partwise.synthetic import make_corpus

LONGEST = 5


def short_sentences(n: int, seed: int = 0) -> list[Sentence]:
    """Return `n` sentences of few words, as read from CoNLL-U."""
    text = make_corpus(60 * n, seed).to_conllu()
    found = [one for one in read_trees(io.StringIO(text)) if len(one) <= LONGEST]
    assert len(found) >= n
    return found[:n]


def rows(heads: Sequence[object], labels: str = "r") -> str:
    """Return a CoNLL-U sentence with these heads; its words are letters."""
    return (
        "".join(
            f"{m}\t{chr(96 + m)}\t_\tX\tX\t_\t{head}\t{labels}\t_\t_\n"
            for m, head in enumerate(heads, 1)
        )
        + "\n"
    )
