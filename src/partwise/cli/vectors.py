"""``--vectors``: files of word vectors, for training and for models without theirs."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from partwise.cli.options import FEATURES, in_panel
from partwise.errors import PartwiseError

TrainVectors = Annotated[
    list[str] | None,
    in_panel(
        FEATURES,
        "A file of word vectors: word2vec, GloVe or fastText text, or .npy with a list "
        "of words beside it. May be given several times.",
    ),
]
KeepVectors = Annotated[
    bool,
    in_panel(
        FEATURES,
        "Whether the model file holds the --vectors, or only their name and checksum.",
        "--keep-vectors/--no-keep-vectors",
    ),
]
Vectors = Annotated[
    list[str] | None,
    typer.Option(
        help="The word vectors of a model that was trained with --no-keep-vectors."
    ),
]


def read_word_vectors(paths: list[str] | None, keep: bool) -> Any:
    """Return the tables that options name; None without any."""
    if not paths:
        if not keep:
            raise ValueError("--no-keep-vectors is for --vectors; give a file of them")
        return None
    from partwise.features import WordVectors

    return [WordVectors.read(path, keep=keep) for path in paths]


def attach(model: Any, paths: list[str] | None) -> None:
    """Give a model the vectors that its file does not hold."""
    for path in paths or []:
        model.attach_vectors(path)
    model.check_vectors()


def refuse_matrices(model: Any) -> None:
    """Refuse a model whose vectors no file holds."""
    if model._vectors.takes_matrices:
        raise PartwiseError(
            "the model reads vectors that are given with every sentence, for which "
            "there is no file format; load it in Python with partwise.load"
        )


def vectors_in(model: Any) -> dict[str, Any]:
    """Return what ``inspect`` says of the vectors of a model, if it has any."""
    columns = getattr(model, "_vectors", None)
    if columns is None or not columns.blocks:
        return {}
    words = {table.name: len(table.words) for table in columns.tables if table.is_here}
    return {
        "vectors": [
            {
                "name": block.name,
                "columns": block.width,
                "source": block.source,
                "words": words.get(block.name),
            }
            for block in columns.blocks
        ]
    }


def vectors_in_words(found: dict[str, Any]) -> list[tuple[str, object]]:
    """Say it in words."""
    sources = {
        "array": "a feature of tokens",
        "matrix": "given with every sentence",
        "table": "not in the file",
    }
    return [
        (
            f"vectors {one['name']}",
            f"{one['columns']:,} columns, "
            + (f"{one['words']:,} words" if one["words"] else sources[one["source"]]),
        )
        for one in found.get("vectors", [])
    ]
