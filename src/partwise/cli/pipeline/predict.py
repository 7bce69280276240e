"""What ``partwise predict`` writes for pipelines."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from partwise._work import tell, telling_only
from partwise.cli.pipeline.files import TextFiles, TextFormat

if TYPE_CHECKING:
    from partwise import Pipeline
    from partwise.data import Sentence
    from partwise.data.text_files import Paragraph

PIECE = 500
"""How many lines of tokens are annotated together."""
ANNOTATING = "annotating"


def predict(
    model: Pipeline,
    input: str,
    output: str,
    *,
    keep: Annotated[
        str | None,
        typer.Option(
            help="CoNLL-U: columns to keep as they are, separated by commas: lemma, "
            "upos, xpos, feats; ner and chunk for entries in MISC.",
            metavar="COLUMNS",
        ),
    ] = None,
    files: TextFiles,
) -> None:
    """Annotate a text, as it comes in.

    Pipelines read plain text, whose paragraphs end with blank lines; with --format
    tokens, a sentence per line, with spaces between tokens; or CoNLL-U, whose words
    stay. They write CoNLL-U.
    """
    from partwise.data import open_output, write_trees

    format = files.format_of(input)
    if keep is not None and format is not TextFormat.conllu:
        raise ValueError("--keep is for CoNLL-U; text and tokens have no columns")
    kept = [] if keep is None else [name.strip() for name in keep.split(",")]
    with open_output(output) as out, telling_only(ANNOTATING):

        def flushed(sentences: Iterator[Sentence]) -> Iterator[Sentence]:
            for sentence in sentences:
                yield sentence
                out.flush()  # a pipe is answered while it is still open

        write_trees(out, flushed(annotated(model, input, format, files, kept)))


def annotated(
    model: Pipeline, path: str, format: TextFormat, files: TextFiles, keep: list[str]
) -> Iterator[Sentence]:
    """Annotate a file as it comes in."""
    from itertools import islice

    from partwise.data import read_lines, read_paragraphs
    from partwise.data.tree_files import iter_batches

    if format is TextFormat.text:
        paragraphs = read_paragraphs(path, encoding=files.encoding)
        yield from model.stream(_told(paragraphs, path, files.encoding))
    elif format is TextFormat.tokens:
        numbered = read_lines(path, encoding=files.encoding)
        lines = filter(None, (line.split() for _, line in numbered))
        first = 1
        while batch := list(islice(lines, PIECE)):
            yield from model.annotate_tokens(batch, first=first)
            first += len(batch)
    else:
        for sentences in iter_batches(path, "conllu", encoding=files.encoding):
            yield from model.annotate_sentences(sentences, keep=keep)


def _told(
    paragraphs: Iterable[Paragraph], path: str, encoding: str
) -> Iterator[Paragraph]:
    """Yield paragraphs, and tell which share of their file they are, if it has one."""
    plain = os.path.isfile(path) and not path.endswith(".gz")
    size, done = os.path.getsize(path) if plain else 0, 0
    for paragraph in paragraphs:
        if size:
            tell(ANNOTATING, min(done / size, 1.0))
        yield paragraph
        done += len(paragraph.text.encode(encoding, "replace"))
