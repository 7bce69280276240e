"""What the commands do with sorters."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from partwise.cli.inspect import Findings, print_top_features, top_features
from partwise.cli.learning import Learning, takes_learning
from partwise.cli.options import Encoding, Label, ModelPath, Train
from partwise.cli.training_run import TrainingRun
from partwise.estimators.classifier.settings import ClassifierSettings

if TYPE_CHECKING:
    from line_sorter import Sorter


@takes_learning(ClassifierSettings)
def sorter(
    train: Train, model: ModelPath, encoding: Encoding = "utf-8", *, learning: Learning
) -> None:
    """Train a sorter: a label for every line.

    TRAIN has a label, a tab and words on each line.
    """
    from line_sorter import Sorter, words

    run = TrainingRun(model, {"TRAIN": train}, learning)
    lines = Path(train).read_text(encoding=encoding).splitlines()
    pairs = [line.split("\t") for line in lines]
    X, y = [words(text) for _, text in pairs], [label for label, _ in pairs]
    run.fit_and_save(run.make(Sorter), X, y, None, {"lines": len(y)})


def predict(
    model: Sorter,
    input: str,
    output: str,
    *,
    loud: Annotated[bool, typer.Option("--loud", help="Shout.")] = False,
    encoding: Encoding = "utf-8",
) -> None:
    """Sort lines.

    Sorters read lines of words, and write a label for each.
    """
    from partwise.data import open_output

    with open_output(output) as out:
        for label in model.sort(Path(input).read_text(encoding=encoding).splitlines()):
            out.write((label.upper() if loud else label) + "\n")


def inspect(model: Sorter, top: int, *, label: Label = None) -> Findings:
    """Return the words with the largest weights."""
    found = top_features(model, top, label)
    return Findings("lines of words", found, show=partial(print_top_features, found))
