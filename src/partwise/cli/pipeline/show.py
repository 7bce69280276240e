"""What ``partwise show`` draws of a text: the trees that a pipeline predicts."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from partwise.cli.drawings import Drawing, Drawings, Drawn
from partwise.cli.pipeline.files import TextFiles
from partwise.errors import DataError

if TYPE_CHECKING:
    from partwise import Pipeline
    from partwise.data import Sentence


def show(model: Pipeline, file: str, *, files: TextFiles) -> Drawings:
    """Draw the trees that a pipeline predicts for a text."""
    from partwise.cli.pipeline.predict import annotated

    if "trees" not in model.steps_:
        raise DataError("the pipeline predicts no trees, so there is nothing to draw")
    sentences = annotated(model, file, files.format_of(file), files, [])
    return Drawings((one for one in sentences if len(one)), _drawn)


def _drawn(sentence: Sentence, number: int) -> Drawn:
    from partwise import drawing

    title = f"sentence {number}"
    shown = (sentence.forms, sentence.heads or (), sentence.labels, None, sentence.upos)
    yield Drawing(
        title,
        partial(drawing.draw_text, *shown),
        partial(drawing.draw_svg, *shown, title),
    )
