"""``partwise train constituency``: from trees in brackets to a parser."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

from partwise.cli.constituency.files import BracketFiles
from partwise.cli.constituency.pruning import told_of_pruning
from partwise.cli.learning import Learning, SettingOption, options_in, takes_learning
from partwise.cli.options import (
    FEATURES,
    FILES,
    LEARNING,
    Continue,
    Dev,
    ModelPath,
    Train,
    in_panel,
)
from partwise.cli.training_run import TrainingRun
from partwise.errors import DataError
from partwise.estimators.constituency.settings import ConstituencySettings

if TYPE_CHECKING:
    from partwise.constituents import KnownBrackets, Tree

    Example = Tree | KnownBrackets

GRAMMAR = "Grammar"


@takes_learning(
    ConstituencySettings,
    SettingOption(
        "horizontal",
        GRAMMAR,
        "How many of the children to its left decide which child of a phrase comes "
        "next: a number, or all. A small number allows phrases that no training tree "
        "has.",
        type=str,
    ),
    SettingOption("vertical", GRAMMAR),
    SettingOption(
        "grammar",
        GRAMMAR,
        "A file of productions such as S -> NP VP, instead of those of the trees.",
    ),
    *options_in(GRAMMAR, "states", "prune", "underivable", "given_tags"),
    *options_in(FEATURES, "hash_bits"),
    *options_in(LEARNING, "span_cost", "word_cost", "dev_metric"),
)
def constituency(
    train: Train,
    model: ModelPath,
    dev: Dev = None,
    go_on_from: Continue = None,
    max_length: Annotated[
        int | None,
        in_panel(FILES, "Skip training sentences of more words than this.", min=1),
    ] = None,
    partial: Annotated[
        bool,
        in_panel(
            FILES,
            "Trees may be known in part: where a label is ?, all brackets of the tree "
            "are right, but there may be others.",
            "--partial",
        ),
    ] = False,
    *,
    files: BracketFiles,
    learning: Learning,
) -> None:
    """Train a constituency parser: the phrases of a sentence.

    TRAIN holds trees in brackets, as in the Penn Treebank. Ctrl-C ends training early:
    the model so far is saved, and the exit code is 130.
    """
    from partwise import ConstituencyParser
    from partwise.data.files import read_text

    grammar = learning.settings["grammar"]
    sources = {
        **{"TRAIN": train, "--dev": dev},
        **{"--grammar": grammar, "--continue": go_on_from},
    }
    run = TrainingRun(model, sources, learning)
    parser = run.make(
        ConstituencyParser,
        grammar=None
        if grammar is None
        else read_text(grammar, encoding=files.encoding),
        horizontal=_horizontal(learning.settings["horizontal"]),
    )
    found = [placed.tree for placed in files.read(train, partial)]
    trees = _short(found, train, max_length)
    held_out = None if dev is None else [placed.tree for placed in files.read(dev)]
    sizes = {"sentences": len(trees), "words": sum(map(_n_words, trees))}
    run.fit_and_save(
        parser, trees, None, held_out, sizes, _scores, tell=told_of_pruning
    )


def _horizontal(text: str) -> int | None:
    if text == "all":
        return None
    try:
        return int(text)
    except ValueError:
        raise ValueError(
            f"--horizontal must be a number or all, not {text!r}"
        ) from None


def _n_words(tree: Example) -> int:
    from partwise.constituents import Tree, words

    return len(words(tree) if isinstance(tree, Tree) else tree.words)


def _short(trees: list[Example], path: str, max_length: int | None) -> list[Example]:
    if max_length is None:
        return trees
    short = [tree for tree in trees if _n_words(tree) <= max_length]
    if not short:
        raise DataError(
            f"{path}: all {len(trees)} sentences have more than {max_length} words "
            "(raise --max-length)"
        )
    return short


def _scores(parser: Any, dev: Sequence[Tree]) -> dict[str, float | None]:
    from partwise.cli.constituency.predict import parse
    from partwise.metrics.brackets import bracket_scores

    return {"f1": bracket_scores(dev, parse(parser, dev).trees).f1}
