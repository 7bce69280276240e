"""Spans in annotated texts, such as names: compared by the characters they cover."""

from __future__ import annotations

from collections.abc import Iterable

from partwise.data.conllu_columns import ConlluData, LabelPlace
from partwise.data.surface import surface_tokens
from partwise.data.treebank import Sentence
from partwise.metrics.chunks import spans
from partwise.metrics.conll18 import F1

__all__ = ["text_span_scores"]


def text_span_scores(
    gold: Iterable[Sentence], system: Iterable[Sentence], entry: str = "NER"
) -> F1:
    r"""Compare the spans of two annotations of the same text.

    A span is right if it has the same type and covers the same characters; white space
    does not count, and tokens and sentences may differ.

    Parameters
    ----------
    gold, system : iterables of Sentence
        What is right, and what was predicted, as read from CoNLL-U.
    entry : str
        The entry in MISC that holds labels such as ``B-PER``.

    Returns
    -------
    F1
        Counts, precision, recall and F1.

    Examples
    --------
    >>> import io
    >>> from partwise.data import read_trees
    >>> line = "1\t{}\t_\t_\t_\t_\t_\t_\t_\t{}\n"
    >>> gold = read_trees(io.StringIO(line.format("Paris", "NER=B-LOC")), "conllu")
    >>> system = read_trees(io.StringIO(line.format("Paris", "NER=B-PER")), "conllu")
    >>> text_span_scores(gold, gold).f1, text_span_scores(gold, system).f1
    (1.0, 0.0)
    """
    right, found = _spans(gold, entry), _spans(system, entry)
    return F1(len(right & found), len(right), len(found))


def _spans(sentences: Iterable[Sentence], entry: str) -> set[tuple[int, int, str]]:
    found = set()
    at = 0
    some = list(sentences)
    labels = LabelPlace(f"misc.{entry}").labels(ConlluData.of(some))
    for sentence, own in zip(some, labels, strict=True):
        places = []  # the words of a multiword token are all where it is
        for token in surface_tokens(sentence):
            end = at + len("".join(token.form.split()))
            places += [(at, end)] * (token.last - token.first + 1)
            at = end
        for first, last, kind in spans(own):
            found.add((places[first][0], places[last - 1][1], kind))
    return found
