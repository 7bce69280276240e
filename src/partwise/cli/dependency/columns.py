"""Which columns of a treebank a parser reads, and what that means for new text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from partwise.cli.kinds import listed

if TYPE_CHECKING:
    from partwise import DependencyParser
    from partwise.data import Sentence

READ_BY = {"lemmas": ("lemmas",), "tags": ("upos", "xpos"), "morphology": ("feats",)}
"""The columns that groups of features look at, besides the words."""
CALLED = {"lemmas": "lemma"}


def columns_read(
    parser: DependencyParser, sentences: Sequence[Sentence]
) -> tuple[str, ...]:
    """Return the columns that a parser reads, as far as sentences give them."""
    from partwise.features.arc_groups import find_groups

    groups = find_groups(parser.features)
    columns = [name for group in groups for name in READ_BY.get(group, ())]
    filled = [name for name in columns if _is_given(sentences, name)]
    return ("form", *(CALLED.get(name, name) for name in filled))


def note_on_tags(columns: Sequence[str], path: str) -> str | None:
    """Say that tags are taken as given, and what to do if they will not be."""
    annotated = [name for name in columns if name != "form"]
    if not annotated:
        return None
    return (
        f"note: the parser reads {listed(annotated)} as {path} gives them. If they are "
        "right there but predicted in the text to be parsed, expect more mistakes than "
        "measured here; partwise train pipeline learns from predicted ones."
    )


def _is_given(sentences: Sequence[Sentence], name: str) -> bool:
    return any(cell != "_" for one in sentences for cell in getattr(one, name))
