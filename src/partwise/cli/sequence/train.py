"""``partwise train tag``: from labelled tokens to a tagger."""

from __future__ import annotations

import functools
from typing import Annotated, Any

from partwise.cli.learning import Learning, SettingOption, options_in, takes_learning
from partwise.cli.options import (
    FEATURES,
    FILES,
    LABEL_COLUMN,
    Dev,
    LabelColumn,
    ModelPath,
    Partial,
    Train,
    in_panel,
)
from partwise.cli.sequence.files import Format, SequenceFiles
from partwise.cli.sequence.templates import make_template, read_features
from partwise.cli.training_run import TrainingRun
from partwise.cli.vectors import KeepVectors, TrainVectors, read_word_vectors
from partwise.estimators.sequence.settings import TaggerSettings


@takes_learning(
    TaggerSettings,
    *options_in(FEATURES, "boundaries", "min_count", "hash_bits", "pairs"),
    *options_in(
        FEATURES, "order", "states", "transitions", "start", "end", "scale_vectors"
    ),
    SettingOption(
        "constraints",
        help="Allow only label sequences of this scheme: IOB1, IOB2 (BIO), IOBES, "
        "BILOU or BMEWO.",
    ),
    SettingOption(
        "class_weight",
        help="What a wrong label costs: 'balanced' (rare labels more), or factors such "
        "as B-PER=2,O=0.5.",
    ),
    SettingOption("calibrate"),
    SettingOption("dev_metric"),
)
def tag(
    train: Train,
    model: ModelPath,
    dev: Dev = None,
    label_column: LabelColumn = LABEL_COLUMN,
    go_on_from: Annotated[
        str | None,
        in_panel(
            FILES,
            "A model to learn on from: its weights are kept as far as TRAIN, new "
            "examples, allows. Settings are its own, but for those you give.",
            "--continue",
            metavar="MODEL",
        ),
    ] = None,
    partial: Partial = False,
    predict: Annotated[
        str | None,
        in_panel(
            FILES,
            "For CoNLL-U: what to predict, which is upos, xpos, feats, or misc.NER for "
            "the entry NER in MISC. Predictions are written there.",
            metavar="COLUMN",
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
            "alone (the type is then the file's name). May be given several times.",
        ),
    ] = None,
    clusters: Annotated[
        str | None,
        in_panel(
            FEATURES,
            "A file of word clusters: a word and its cluster on each line, or bits, "
            "word and count, as Brown clustering writes them.",
        ),
    ] = None,
    vectors: TrainVectors = None,
    keep_vectors: KeepVectors = True,
    ignore_case: Annotated[
        bool,
        in_panel(
            FEATURES,
            "Ignore case when looking words up in --gazetteer and --clusters.",
            "--ignore-case",
        ),
    ] = False,
    columns: Annotated[
        str | None,
        in_panel(
            FEATURES,
            "The columns to read if no template file names them, such as 0,1; the "
            "first is the word (default: all but the labels). For CoNLL-U also their "
            "names, such as form,upos (default: form).",
        ),
    ] = None,
    *,
    files: SequenceFiles,
    learning: Learning,
) -> None:
    """Train a tagger: one label for every token of a sequence.

    TRAIN holds one token per line and a blank line after each sentence; or it is
    CoNLL-U, with --predict. Ctrl-C ends training early: the model so far is saved, and
    the exit code is 130.
    """
    from partwise import SequenceTagger
    from partwise.cli.sequence.conllu import labelled_conllu
    from partwise.data.conllu_columns import LabelPlace
    from partwise.estimators.partial_labels import read_labels

    sources = {
        **{"TRAIN": train, "--dev": dev, "--template": template},
        **{"--clusters": clusters, "--continue": go_on_from},
        **{f"--gazetteer {path}": path for path in gazetteer or []},
        **{f"--vectors {path}": path for path in vectors or []},
    }
    run = TrainingRun(model, sources, learning)
    if not files.reads_columns and (
        template or columns or features or gazetteer or clusters or vectors
    ):
        raise ValueError(
            f"{files.format} files name their features themselves; leave out "
            "--template, --columns, --features, --gazetteer, --clusters and --vectors"
        )
    if go_on_from and (template or columns or features or gazetteer or clusters):
        raise ValueError(
            "--continue uses the features of its model; leave out --template, "
            "--columns, --features, --gazetteer and --clusters"
        )
    if template and columns:
        raise ValueError(
            "--columns is for the default template and --features; a template file "
            "names the columns it reads itself"
        )
    if template and features:
        raise ValueError("give --template or --features, not both")
    token_features = read_features(features, gazetteer or [], clusters, ignore_case)
    class_weight = _class_weight(learning.settings["class_weight"])
    tables = read_word_vectors(vectors, keep_vectors)
    _check_conllu(files, train, predict, label_column)
    if go_on_from:
        tagger = run.go_on_from(go_on_from, SequenceTagger)
    else:
        tagger = run.make(
            SequenceTagger,
            class_weight=class_weight,
            conllu_column=predict,
            vectors=tables,
        )
    if predict is not None:
        place = LabelPlace(predict)
        label_column, columns = place.column, _conllu_columns(columns)
        labelled = functools.partial(labelled_conllu, files, place=place)
    else:
        labelled = functools.partial(files.labelled, label_column=label_column)
    X, y = labelled(train)
    if partial:
        y = read_labels(y)
    if files.reads_columns and not go_on_from:
        chosen_template = make_template(
            template, token_features, X, label_column, columns
        )
        tagger.set_params(template=chosen_template)
    held_out = None if dev is None else labelled(dev)
    sizes = {"sentences": len(y), "tokens": sum(map(len, y))}
    run.fit_and_save(tagger, X, y, held_out, sizes, goes_on=bool(go_on_from))


def _check_conllu(
    files: SequenceFiles, train: str, predict: str | None, label_column: int
) -> None:
    """Refuse options that do not go with CoNLL-U, or with other files."""
    if predict is None:
        plain = files.separator is None and label_column == LABEL_COLUMN
        if files.is_conllu(train) and (files.format is not None or plain):
            raise ValueError(
                f"{train} is CoNLL-U: say what to predict, with --predict upos, xpos, "
                "feats or misc.NER (or read it as plain columns, with --separator and "
                "--label-column)"
            )
    elif label_column != LABEL_COLUMN:
        raise ValueError("give --predict or --label-column, not both")
    elif files.format not in (None, Format.conllu):
        raise ValueError(f"--predict is for CoNLL-U, not for --format {files.format}")


def _conllu_columns(names: str | None) -> str:
    """Return columns as numbers; words alone unless others are named."""
    from partwise.data.conllu_columns import NAMES

    numbers = {name: str(number) for number, name in enumerate(NAMES)}
    wanted = [part.strip().lower() for part in (names or "form").split(",")]
    unknown = [one for one in wanted if one not in numbers and not one.isdecimal()]
    if unknown:
        raise ValueError(
            f"--columns: there is no column {unknown[0]!r} in CoNLL-U (there are: "
            f"{', '.join(NAMES)})"
        )
    return ",".join(numbers.get(one, one) for one in wanted)


def _class_weight(text: str | None) -> Any:
    """Read ``balanced`` or ``B-PER=2,O=0.5``; a label may hold commas and equals."""
    if text is None or text == "balanced":
        return text
    weights: dict[str, float] = {}
    for part in text.split(","):
        label, found, weight = part.rpartition("=")
        try:
            weights[label] = float(weight)
        except ValueError:
            found = ""
        if not found:
            raise ValueError(
                "--class-weight must be 'balanced' or factors such as B-PER=2,O=0.5, "
                f"not {text!r}"
            )
    return weights
