"""``partwise train segments``: from labelled tokens to a segment tagger."""

from __future__ import annotations

from typing import Annotated, Any

from partwise.cli.cost_files import (
    CLASS_WEIGHT,
    Costs,
    chosen_costs,
    costs_file,
    read_class_weight,
)
from partwise.cli.learning import Learning, SettingOption, options_in, takes_learning
from partwise.cli.options import (
    FEATURES,
    LABEL_COLUMN,
    Continue,
    Dev,
    LabelColumn,
    ModelPath,
    Partial,
    Train,
    in_panel,
)
from partwise.cli.sequence.files import ColumnsOnly
from partwise.cli.sequence.templates import make_template, read_features
from partwise.cli.training_run import TrainingRun
from partwise.cli.vectors import KeepVectors, TrainVectors, read_word_vectors
from partwise.estimators.segments.settings import SegmentTaggerSettings


@takes_learning(
    SegmentTaggerSettings,
    *options_in(FEATURES, "boundaries", "min_count", "hash_bits", "pairs"),
    *options_in(FEATURES, "whole_min_count", "lengths", "start", "end"),
    *options_in(FEATURES, "scale_vectors"),
    CLASS_WEIGHT,
    SettingOption("border_cost"),
    SettingOption("segment_cost"),
    SettingOption("calibrate"),
    SettingOption("dev_metric"),
)
def segments(
    train: Train,
    model: ModelPath,
    dev: Dev = None,
    label_column: LabelColumn = LABEL_COLUMN,
    go_on_from: Continue = None,
    partial: Partial = False,
    costs: Costs = "hamming",
    max_length: Annotated[
        str | None,
        in_panel(
            FEATURES,
            "The most tokens of a segment: a number, or numbers by label such as "
            "NP=10,VP=5 (default: the longest segment of each label in TRAIN).",
        ),
    ] = None,
    template: Annotated[
        str | None,
        in_panel(FEATURES, "A CRF++ template file (default: a template for tagging)."),
    ] = None,
    features: Annotated[
        str | None,
        in_panel(
            FEATURES,
            "Instead of a template file: ner, pos, or named blocks such as "
            "words,affixes:4,shape,neighbours:2.",
        ),
    ] = None,
    gazetteer: Annotated[
        list[str] | None,
        in_panel(
            FEATURES,
            "A file of phrases: a type, a tab and a phrase on each line, or phrases "
            "alone (the type is then the file's name). Whole segments are looked up. "
            "May be given several times.",
        ),
    ] = None,
    vectors: TrainVectors = None,
    keep_vectors: KeepVectors = True,
    ignore_case: Annotated[
        bool,
        in_panel(FEATURES, "Ignore case when looking words up.", "--ignore-case"),
    ] = False,
    columns: Annotated[
        str | None,
        in_panel(
            FEATURES,
            "The columns to read if no template file names them, such as 0,1; the "
            "first is the word (default: all but the labels).",
        ),
    ] = None,
    *,
    files: ColumnsOnly,
    learning: Learning,
) -> None:
    """Train a segment tagger: sequences cut into segments, each with a label.

    TRAIN holds one token per line and a blank line after each sentence. Its labels
    spell segments: B-NP, I-NP, O and the like, or B and I for segments without types.
    Ctrl-C ends training early: the model so far is saved, and the exit code is 130.
    """
    from partwise import SegmentTagger
    from partwise.estimators.partial_labels import read_labels

    sources = {
        **{"TRAIN": train, "--dev": dev, "--template": template},
        **{"--continue": go_on_from, "--costs": costs_file(costs)},
        **{f"--gazetteer {path}": path for path in gazetteer or []},
        **{f"--vectors {path}": path for path in vectors or []},
    }
    run = TrainingRun(model, sources, learning)
    if run.goes_on and (template or columns or features or gazetteer):
        raise ValueError(
            "--continue uses the features of its model; leave out --template, "
            "--columns, --features and --gazetteer"
        )
    if template and columns:
        raise ValueError(
            "--columns is for the default template and --features; a template file "
            "names the columns it reads itself"
        )
    if template and features:
        raise ValueError("give --template or --features, not both")
    token_features = read_features(features, gazetteer or [], None, ignore_case)
    phrases = token_features.resources.gazetteers
    tagger = run.make(
        SegmentTagger,
        max_length=_limits(max_length),
        class_weight=read_class_weight(learning.settings["class_weight"]),
        costs=chosen_costs(costs, files),
        gazetteers=list(phrases),
        vectors=read_word_vectors(vectors, keep_vectors),
    )
    X, y = files.labelled(train, label_column)
    if partial:
        y = read_labels(y)
    if not run.goes_on:
        tagger.set_params(
            template=make_template(template, token_features, X, label_column, columns)
        )
    held_out = None if dev is None else files.labelled(dev, label_column)
    sizes = {"sentences": len(y), "tokens": sum(map(len, y))}
    run.fit_and_save(tagger, X, y, held_out, sizes)


def _limits(text: str | None) -> Any:
    """Read ``10`` or ``NP=10,VP=5``."""
    if text is None:
        return None
    try:
        if "=" not in text:
            return int(text)
        pairs = [part.rpartition("=") for part in text.split(",")]
        return {label: int(limit) for label, _, limit in pairs}
    except ValueError:
        raise ValueError(
            "--max-length must be a number, or numbers such as NP=10,VP=5, not "
            f"{text!r}"
        ) from None
