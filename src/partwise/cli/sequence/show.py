"""What ``partwise show`` draws of labelled sequences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from partwise.cli.drawings import Drawing, Drawings, Drawn, ranked_title
from partwise.cli.options import (
    LABEL_COLUMN,
    KBestDrawn,
    LabelColumn,
    Marginals,
)
from partwise.cli.sequence.files import ColumnsOnly, SequenceFiles
from partwise.cli.sequence.predict import check_format, columns_read, writes_conllu
from partwise.cli.sequence.tagging import Tagging, check_columns, singles
from partwise.cli.vectors import Vectors, attach

if TYPE_CHECKING:
    from partwise import SequenceTagger


def draw(
    file: str, *, label_column: LabelColumn = LABEL_COLUMN, files: ColumnsOnly
) -> Drawings:
    """Draw the labels of a file of columns."""

    def found() -> Iterator[tuple[list[str], list[str]]]:
        for X, labels in files.labelled_pieces(file, label_column):
            yield from zip(X.column_sequences(0), labels, strict=True)

    def own(sentence: tuple[list[str], list[str]], number: int) -> Drawn:
        yield _drawing(f"sentence {number}", *sentence)

    return Drawings(found(), own, what="labels")


def show(
    model: SequenceTagger,
    file: str,
    *,
    marginals: Marginals = False,
    kbest: KBestDrawn = None,
    vectors: Vectors = None,
    files: SequenceFiles,
) -> Drawings:
    """Draw the labels that a tagger predicts."""
    check_format(model, files.format)
    attach(model, vectors)
    pieces = files.pieces(file)
    if writes_conllu(model, files.format):
        pieces = files.conllu_pieces(file)
    tagging = Tagging(model, model.predict, columns_read(model))
    return drawings(tagging, pieces, file, marginals, kbest)


def drawings(
    tagging: Tagging,
    pieces: Iterable[Any],
    path: str,
    marginals: bool,
    kbest: int | None,
) -> Drawings:
    """Draw what a model predicts for every sequence of some pieces."""

    def sequences() -> Iterator[Any]:
        for piece in pieces:
            if tagging.columns:
                check_columns(tagging.columns, piece, path)
            yield from (one for one in singles(piece) if len(next(iter(one))))

    def predicted(one: Any, number: int) -> Drawn:
        title, words = f"sentence {number}", _words(one, tagging.columns)
        if kbest is not None:
            [ranking] = tagging.model.predict_kbest(one, kbest)
            for rank, (labels, score) in enumerate(ranking, 1):
                yield _drawing(ranked_title(title, rank, score), words, labels)
            return
        found = tagging.labels_of(one)
        shares = tagging.probabilities(one, found) if marginals else [None]
        yield _drawing(title, words, found[0], shares[0])

    return Drawings(sequences(), predicted, what="words")


def _words(one: Any, columns: Sequence[int]) -> list[str]:
    """Return what to write for the tokens of a sequence: their words, or a feature."""
    from partwise.estimators.explanation import show_token

    if columns:
        [words] = one.column_sequences(columns[0])
        return list(words)
    return [show_token(token) or str(t + 1) for t, token in enumerate(one[0])]


def _drawing(
    title: str,
    words: Sequence[str],
    labels: Sequence[Any],
    shares: Sequence[float] | None = None,
) -> Drawing:
    from partwise.drawing import draw_labels_svg, draw_labels_text

    return Drawing(
        title,
        lambda _, ascii_only: draw_labels_text(
            words, labels, shares, ascii_only=ascii_only
        ),
        partial(draw_labels_svg, words, labels, shares, title),
    )
