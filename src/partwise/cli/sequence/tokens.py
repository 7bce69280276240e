"""What taggers see of a file: where the labels are, and what features tokens get."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from partwise.cli.options import (
    FEATURES,
    FILES,
    LABEL_COLUMN,
    LabelColumn,
    in_panel,
)
from partwise.cli.sequence.files import Format, SequenceFiles
from partwise.cli.sequence.templates import make_template, read_features

if TYPE_CHECKING:
    from partwise.data.conllu_columns import LabelPlace
    from partwise.features import Template, TokenFeatures

OF_FEATURES = ("template", "columns", "features", "gazetteer", "clusters")


@dataclass(frozen=True)
class TokenOptions:
    """Options that say what of a file is a label, and what a feature."""

    label_column: LabelColumn = LABEL_COLUMN
    predict: Annotated[
        str | None,
        in_panel(
            FILES,
            "For CoNLL-U: what to predict, which is upos, xpos, feats, or misc.NER for "
            "the entry NER in MISC. Predictions are written there.",
            metavar="COLUMN",
        ),
    ] = None
    template: Annotated[
        str | None,
        in_panel(FEATURES, "A CRF++ template file (default: a template for tagging)."),
    ] = None
    features: Annotated[
        str | None,
        in_panel(
            FEATURES,
            "Instead of a template file: ner, pos, or named blocks such as "
            "words,affixes:4,shape,neighbours:2.",
        ),
    ] = None
    gazetteer: Annotated[
        list[str] | None,
        in_panel(
            FEATURES,
            "A file of phrases: a type, a tab and a phrase on each line, or phrases "
            "alone (the type is then the file's name). May be given several times.",
        ),
    ] = None
    clusters: Annotated[
        str | None,
        in_panel(
            FEATURES,
            "A file of word clusters: a word and its cluster on each line, or bits, "
            "word and count, as Brown clustering writes them.",
        ),
    ] = None
    ignore_case: Annotated[
        bool,
        in_panel(
            FEATURES,
            "Ignore case when looking words up in --gazetteer and --clusters.",
            "--ignore-case",
        ),
    ] = False
    columns: Annotated[
        str | None,
        in_panel(
            FEATURES,
            "The columns to read if no template file names them, such as 0,1; the "
            "first is the word (default: all but the labels). For CoNLL-U also their "
            "names, such as form,upos (default: form).",
        ),
    ] = None

    @property
    def sources(self) -> dict[str, str | None]:
        """The files to read, by the name of their option."""
        return {
            **{"--template": self.template, "--clusters": self.clusters},
            **{f"--gazetteer {path}": path for path in self.gazetteer or []},
        }

    @property
    def choose_features(self) -> bool:
        """Whether features are chosen, rather than those by default."""
        return any(getattr(self, name) for name in OF_FEATURES)

    def check(self, files: SequenceFiles, path: str) -> None:
        """Refuse options that do not go together, or not with the file."""
        if not files.reads_columns and self.choose_features:
            raise ValueError(
                f"{files.format} files name their features themselves; leave out "
                "--template, --columns, --features, --gazetteer and --clusters"
            )
        if self.template and self.columns:
            raise ValueError(
                "--columns is for the default template and --features; a template file "
                "names the columns it reads itself"
            )
        if self.template and self.features:
            raise ValueError("give --template or --features, not both")
        if self.predict is None:
            plain = files.separator is None and self.label_column == LABEL_COLUMN
            if files.is_conllu(path) and (files.format is not None or plain):
                raise ValueError(
                    f"{path} is CoNLL-U: say what to predict, with --predict upos, "
                    "xpos, feats or misc.NER (or read it as plain columns, with "
                    "--separator and --label-column)"
                )
        elif self.label_column != LABEL_COLUMN:
            raise ValueError("give --predict or --label-column, not both")
        elif files.format not in (None, Format.conllu):
            raise ValueError(
                f"--predict is for CoNLL-U, not for --format {files.format}"
            )

    @property
    def place(self) -> LabelPlace | None:
        """Where labels are in CoNLL-U; None for other files."""
        from partwise.data.conllu_columns import LabelPlace

        return None if self.predict is None else LabelPlace(self.predict)

    def labelled(self, files: SequenceFiles, path: str) -> tuple[Any, list[list[str]]]:
        """Read a file: inputs, which keep the labels, and labels."""
        from partwise.cli.sequence.conllu import labelled_conllu

        place = self.place
        if place is None:
            return files.labelled(path, self.label_column)
        return labelled_conllu(files, path, place)

    def pieces(
        self, files: SequenceFiles, path: str
    ) -> Iterator[tuple[Any, list[list[str]]]]:
        """Read a file of columns piece by piece: inputs and labels."""
        place = self.place
        if place is None:
            yield from files.labelled_pieces(path, self.label_column)
            return
        for words in files.conllu_pieces(path):
            yield words, place.labels(words)

    def read_features(self) -> TokenFeatures:
        """Return the features that options choose, with their files read."""
        own = self.features, self.gazetteer or [], self.clusters, self.ignore_case
        return read_features(*own)

    def template_for(self, data: Any, features: TokenFeatures) -> Template:
        """Return the template that reads the columns of a file, not its labels."""
        place = self.place
        if place is None:
            own = self.label_column, self.columns
        else:
            own = place.column, _conllu_columns(self.columns)
        return make_template(self.template, features, data, *own)


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
