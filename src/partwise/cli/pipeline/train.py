"""``partwise train pipeline``: from a treebank to a pipeline."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from partwise.cli.options import (
    FILES,
    LEARNING,
    RUN,
    AsJson,
    Encoding,
    ModelPath,
    Train,
    in_panel,
)


def pipeline(
    train: Train,
    model: ModelPath,
    dev: Annotated[
        str | None,
        in_panel(
            FILES,
            "Development data: to stop the parser in time, to choose C and features, "
            "and to say how good each step is.",
        ),
    ] = None,
    entities: Annotated[
        str | None,
        in_panel(
            FILES,
            "A second corpus, to learn named entities from: columns, the word first "
            "and the label (B-PER) last, or CoNLL-U with entries NER=B-PER in MISC.",
        ),
    ] = None,
    chunks: Annotated[
        str | None,
        in_panel(FILES, "The same for chunks, in CoNLL-U entries Chunk=B-NP."),
    ] = None,
    steps: Annotated[
        str,
        in_panel(
            LEARNING,
            "The steps to train, separated by commas: tokens, words, upos, feats, "
            "xpos, lemmas, trees, entities, chunks; those that TRAIN says nothing "
            "about are left out.",
        ),
    ] = "all",
    minutes: Annotated[
        float | None,
        in_panel(
            LEARNING,
            "How long training may take, about; with --dev, time that is left goes to "
            "trying other features and values of C.",
        ),
    ] = None,
    folds: Annotated[
        int,
        in_panel(
            LEARNING,
            "Later steps learn from tags that are predicted in so many parts of TRAIN, "
            "each by taggers of the other parts; 1 for the right tags.",
            min=1,
        ),
    ] = 4,
    seed: Annotated[int, in_panel(LEARNING, "Seed of everything random.")] = 0,
    encoding: Encoding = "utf-8",
    jobs: Annotated[int | None, in_panel(RUN, "Threads; -1 for one per core.")] = None,
    verbose: Annotated[
        bool,
        in_panel(
            RUN,
            "Show progress and results, or only errors.",
            *("--verbose/--quiet", "-v/-q"),
        ),
    ] = True,
    json: AsJson = False,
) -> None:
    """Train a pipeline: from raw text to tokens, sentences, tags, lemmas and trees.

    TRAIN is a treebank in CoNLL-U. Each step is a model of its own, and all of them are
    saved to one file.
    """
    import time

    from partwise import Pipeline, model_file
    from partwise._interrupts import Saving
    from partwise.cli.output import print_json, say
    from partwise.cli.overwriting import refuse_overwriting
    from partwise.cli.pipeline.files import read_spans, read_treebank
    from partwise.cli.pipeline.inspect import describe, show
    from partwise.cli.training import plain_warnings

    read = {"TRAIN": train, "--dev": dev, "--entities": entities, "--chunks": chunks}
    refuse_overwriting({"--model": model}, read)
    model_file.check_writable(model)
    made = Pipeline(
        steps=steps, minutes=minutes, folds=folds, n_jobs=jobs,
        random_state=seed, verbose=int(verbose and not json),
    )  # fmt: skip
    made._check_settings()
    sentences = read_treebank(train, encoding)
    held_out = None if dev is None else read_treebank(dev, encoding)
    spans = {
        name: read_spans(path, encoding)
        for name, path in (("entities", entities), ("chunks", chunks))
        if path is not None
    }
    begin = time.monotonic()
    with Saving() as saving:
        with saving.here(), plain_warnings(quiet=not verbose):
            made.fit(sentences, dev=held_out, **spans)
        seconds = time.monotonic() - begin
        made.save(model)
    sizes = {"sentences": len(sentences), "words": sum(map(len, sentences))}
    numbers: dict[str, Any] = {"model": model, **sizes, "seconds": seconds}
    numbers |= describe(made) | {"notes": made.notes_, "hurried": made.hurried_}
    for note in made.notes_.values() if verbose else ():
        say(f"warning: {note}", err=True)
    if json:
        print_json(numbers)
    elif verbose:
        show(numbers)
    if made.interrupted_:
        say(f"interrupted; {', '.join(made.steps_)} saved to {model}", err=True)
        raise typer.Exit(130)
