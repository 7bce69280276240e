"""Taggers whose labels belong to a column of CoNLL-U: reading, and writing there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import IO, TYPE_CHECKING, Any

from partwise.cli.sequence.files import SequenceFiles
from partwise.cli.sequence.tagging import Tagging

if TYPE_CHECKING:
    from partwise.data import Sentence
    from partwise.data.conllu_columns import ConlluData, LabelPlace

PROBABILITY = "LabelProb"
"""The entry in MISC that holds the probability of a word's label."""


def labelled_conllu(
    files: SequenceFiles, path: str, place: LabelPlace
) -> tuple[ConlluData, list[list[str]]]:
    """Read words and labels."""
    data = files.conllu(path)
    return data, place.labels(data)


class ConlluTagging(Tagging):
    """How a tagger that was trained on CoNLL-U is written out: as CoNLL-U."""

    def write(
        self,
        output: str,
        pieces: Iterable[Any],
        path: str,
        *,
        marginals: bool,
        kbest: int | None,
        spans: bool,
        json: bool,
    ) -> None:
        """Write what the model predicts for a file, piece by piece."""
        from partwise.data import open_output, write_trees

        if json or spans:
            super().write(
                *(output, pieces, path),
                marginals=marginals, kbest=kbest, spans=spans, json=json,
            )  # fmt: skip
            return
        with open_output(output) as out:

            def annotated() -> Iterator[Sentence]:
                for piece in pieces:
                    if kbest is None:
                        yield from self._labelled(piece, marginals)
                    else:
                        yield from self._ranked(piece, kbest)
                    out.flush()  # a pipe is answered while it is still open

            write_trees(out, annotated())

    @property
    def _place(self) -> LabelPlace:
        from partwise.data.conllu_columns import LabelPlace

        return LabelPlace(self.model.conllu_column)

    def _labelled(self, data: ConlluData, marginals: bool) -> Iterator[Sentence]:
        from partwise.data.tree_notes import with_entries

        labels = self.labels_of(data)
        sentences = self._place.put(data.sentences, labels)
        if not marginals:
            yield from sentences
            return
        shares = self.probabilities(data, labels)
        for sentence, own in zip(sentences, shares, strict=True):
            yield with_entries(sentence, PROBABILITY, (f"{p:.4f}" for p in own))

    def _write_drawn(self, out: IO[str], X: ConlluData, drawn: Any) -> None:
        from partwise.data import write_trees
        from partwise.data.tree_notes import with_comments

        def annotated() -> Iterator[Sentence]:
            for sentence, samples in zip(X.sentences, drawn, strict=True):
                for number, labels in enumerate(samples, start=1):
                    [labelled] = self._place.put([sentence], [labels])
                    yield with_comments(labelled, {"sample": number})

        write_trees(out, annotated())

    def _ranked(self, data: ConlluData, k: int) -> Iterator[Sentence]:
        from partwise.data.tree_notes import with_comments

        rankings = self.model.predict_kbest(data, k)
        for sentence, ranking in zip(data.sentences, rankings, strict=True):
            if not len(sentence):  # comments alone
                yield sentence
                continue
            for rank, (labels, score) in enumerate(ranking, 1):
                [labelled] = self._place.put([sentence], [labels])
                yield with_comments(labelled, {"rank": rank, "score": f"{score:.6f}"})
