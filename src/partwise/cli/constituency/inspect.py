"""What ``partwise inspect`` shows of a constituency parser: the size of its grammar."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partwise.cli.constituency.pruning import told_of_pruning
from partwise.cli.inspect import Findings

if TYPE_CHECKING:
    from partwise import ConstituencyParser


def inspect(model: ConstituencyParser, top: int) -> Findings:
    """Return the sizes of the grammar."""
    grammar = model._grammar
    sizes = {
        "symbols": len(grammar.symbols),
        "rules": len(grammar.rules),
        "words": len(grammar.lexicon.words),
    }
    if grammar.n_states > 1:
        sizes["states of each symbol"] = grammar.n_states
    if model._own is not None:
        sizes["rule features"] = model._own.n_columns
    in_words = ", ".join(f"{size:,} {name}" for name, size in sizes.items())
    return Findings(
        "sentences, or trees in brackets",
        {"grammar": sizes},
        [("grammar", in_words), *told_of_pruning(model).items()],
    )
