"""A few short generated sentences with trees, for parsers in plain Python."""

import functools
import io
from collections.abc import Sequence

from partwise.data import Sentence, read_trees
from partwise.synthetic import make_corpus
from partwise.synthetic.corpus import Corpus

LONGEST = 5


def short_sentences(n: int, seed: int = 0) -> list[Sentence]:
    """Return `n` sentences of few words, as read from CoNLL-U."""
    size = 100  # a larger corpus begins with the smaller one
    while len(_short(size, seed)) < n:
        size *= 4
    return list(_short(size, seed)[:n])


@functools.cache
def _short(size: int, seed: int) -> tuple[Sentence, ...]:
    made = make_corpus(size, seed).sentences
    short = Corpus(tuple(one for one in made if len(one.words) <= LONGEST))
    return tuple(read_trees(io.StringIO(short.to_conllu())))


def rows(heads: Sequence[object], labels: str = "r") -> str:
    """Return a CoNLL-U sentence with these heads; its words are letters."""
    return (
        "".join(
            f"{m}\t{chr(96 + m)}\t_\tX\tX\t_\t{head}\t{labels}\t_\t_\n"
            for m, head in enumerate(heads, 1)
        )
        + "\n"
    )
