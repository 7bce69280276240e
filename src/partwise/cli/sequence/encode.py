"""``partwise encode``: from labelled tokens to a folder that training reads."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from partwise.cli.declared import takes_groups
from partwise.cli.learning import SettingOption
from partwise.cli.options import FEATURES, FILES, RUN, AsJson, in_panel
from partwise.cli.sequence.files import SequenceFiles
from partwise.cli.sequence.tokens import TokenOptions
from partwise.estimators.sequence.settings import TaggerSettings

SETTINGS = [
    SettingOption(name, FEATURES).parameter(TaggerSettings)
    for name in ("boundaries", "min_count", "hash_bits")
]


@takes_groups(*SETTINGS)
def encode(
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            help="A file of columns or CoNLL-U, plain or gzip; it is read twice.",
        ),
    ],
    folder: Annotated[
        str, typer.Argument(metavar="FOLDER", help="The folder to write.")
    ],
    shards: Annotated[
        int, in_panel(RUN, "Into how many shards a cluster cuts the corpus.", min=1)
    ] = 16,
    overwrite: Annotated[
        bool,
        in_panel(FILES, "Replace an encoded corpus in FOLDER.", "--overwrite"),
    ] = False,
    json: AsJson = False,
    *,
    tokens: TokenOptions,
    files: SequenceFiles,
    **settings: Any,
) -> None:
    """Encode data for a tagger into a folder, for data larger than memory.

    DATA holds one token per line and a blank line after each sentence; or it is
    CoNLL-U, with --predict. No more than a piece of it is in memory at a time, besides
    the vocabulary, which --hash-bits does without. Then train on the folder: partwise
    train tag FOLDER --memory 2GB.
    """
    from partwise import SequenceTagger
    from partwise import encode as encode_pieces
    from partwise.cli.output import print_json, print_pairs
    from partwise.errors import DataError
    from partwise.model_file.folder import check_new_folder
    from partwise.solvers.memory import in_words

    if data == "-":
        raise ValueError(
            "DATA is read twice, and cannot be standard input; give a file"
        )
    if not files.reads_columns:
        raise ValueError(
            f"--format {files.format} is not read piece by piece; give columns or "
            "CoNLL-U, or encode it in Python, with partwise.encode"
        )
    tokens.check(files, data)
    check_new_folder(Path(folder), overwrite)
    tagger = SequenceTagger(**settings, conllu_column=tokens.predict)
    tagger._check_settings()
    features = tokens.read_features()
    first = next(tokens.pieces(files, data), None)
    if first is None:
        raise DataError(f"{data}: holds no tokens")
    tagger.set_params(template=tokens.template_for(first[0], features))
    corpus = encode_pieces(
        *(tagger, lambda: tokens.pieces(files, data), folder),
        shards=shards, overwrite=overwrite,
    )  # fmt: skip
    numbers: dict[str, Any] = {
        "folder": folder,
        "sentences": corpus.n_examples,
        "tokens": corpus.n_labels,
        "labels": corpus.n_classes,
        "shards": corpus.bounds().size - 1,
        "bytes": corpus.n_bytes,
    }
    if json:
        print_json(numbers)
        return
    size = in_words(numbers.pop("bytes"))
    print_pairs("encoded", [*numbers.items(), ("size", size)])
