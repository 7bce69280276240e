"""Groups of arc features that a parser may have: words, tags, neighbours, ...

A template is on if everything that its codes look at is. The groups follow from the
letters of the codes, so that a new template joins the right ones automatically.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable
from typing import Any, NamedTuple, TypeAlias

from partwise.features import arc_codes

ALL = "all"
NEIGHBOURS, BETWEEN, AGREEMENT = "neighbours", "between", "agreement"

GROUP_OF_LETTER = {
    "w": "words",
    "l": "lemmas",
    "u": "tags",
    "x": "tags",
    "m": "morphology",
    "c": "morphology",
    "s": "suffixes",
    "k": "markers",
}
"""What the letters of codes look at."""

GROUPS = (*dict.fromkeys(GROUP_OF_LETTER.values()), NEIGHBOURS, BETWEEN, AGREEMENT)
"""All groups, in the order in which they are shown."""

Pair: TypeAlias = tuple[str, str]
Triple: TypeAlias = tuple[str, str, str]


class ChosenTemplates(NamedTuple):
    """The templates that are on, by the names of their codes.

    Attributes
    ----------
    arcs : tuple of pairs
        Codes of the head and of the modifier.
    between, agreement : pair or None
        The templates of tags between, and of agreement.
    modifier, head : tuple of str
        The codes that labels see of the modifier, and of the head.
    pairs : tuple of pairs
        The codes that labels see of both.
    siblings, grandparents : tuple of triples
        Codes of three words, for parsers of second order.
    """

    arcs: tuple[Pair, ...]
    between: Pair | None
    agreement: Pair | None
    modifier: tuple[str, ...]
    head: tuple[str, ...]
    pairs: tuple[Pair, ...]
    siblings: tuple[Triple, ...]
    grandparents: tuple[Triple, ...]


@functools.cache
def groups_of(*codes: str) -> frozenset[str]:
    """Return the groups that a template of these codes needs.

    Examples
    --------
    >>> sorted(groups_of("wx", "any")), sorted(groups_of("x-1 x"))
    (['tags', 'words'], ['neighbours', 'tags'])
    """
    seen = [name for code in codes for name in arc_codes.CODES[code]]
    needed = {GROUP_OF_LETTER[name[0]] for name in seen}
    # What is more than a letter says where: -1 is the word before.
    if any(len(name) > 1 for name in seen):
        needed.add(NEIGHBOURS)
    return frozenset(needed)


def choose_templates(groups: Collection[str]) -> ChosenTemplates:
    """Return the templates that need only these groups.

    Examples
    --------
    >>> choose_templates(["words"]).head
    ('w',)
    >>> choose_templates(["words", "between"]).between is None
    True
    """
    on = set(groups)

    def pairs(templates: Iterable[Pair]) -> tuple[Pair, ...]:
        return tuple(pair for pair in templates if groups_of(*pair) <= on)

    def triples(templates: Iterable[Triple]) -> tuple[Triple, ...]:
        return tuple(triple for triple in templates if groups_of(*triple) <= on)

    def codes(templates: Iterable[str]) -> tuple[str, ...]:
        return tuple(code for code in templates if groups_of(code) <= on)

    def special(group: str, pair: Pair) -> Pair | None:
        return pair if {group, *groups_of(*pair)} <= on else None

    return ChosenTemplates(
        pairs(arc_codes.ARC_TEMPLATES),
        special(BETWEEN, arc_codes.BETWEEN_TEMPLATE),
        special(AGREEMENT, arc_codes.AGREEMENT_TEMPLATE),
        codes(arc_codes.MODIFIER_TEMPLATES),
        codes(arc_codes.HEAD_TEMPLATES),
        pairs(arc_codes.PAIR_TEMPLATES),
        triples(arc_codes.SIBLING_TEMPLATES),
        triples(arc_codes.GRANDPARENT_TEMPLATES),
    )


def find_groups(features: Any) -> tuple[str, ...]:
    """Return the groups that a user names, in the order of `GROUPS`.

    Parameters
    ----------
    features : str or iterable of str
        ``"all"``, names with commas between them, or a sequence of names.

    Examples
    --------
    >>> find_groups("tags, words")
    ('words', 'tags')
    >>> find_groups(["words", "colours"])
    Traceback (most recent call last):
        ...
    ValueError: features: there is no group 'colours' (there are: words, lemmas, tags,
    morphology, suffixes, markers, neighbours, between, agreement; or all)
    """
    if isinstance(features, str):
        names: list[Any] = [name.strip() for name in features.split(",")]
    elif isinstance(features, Iterable):
        names = list(features)
    else:
        raise ValueError(f"features must be 'all' or names of groups, not {features!r}")
    if names == [ALL]:
        return GROUPS
    for name in names:
        if name not in GROUPS:
            raise ValueError(
                f"features: there is no group {name!r} (there are: "
                f"{', '.join(GROUPS)}; or {ALL})"
            )
    groups = tuple(group for group in GROUPS if group in names)
    if not choose_templates(groups).arcs:
        raise ValueError(
            f"features: {', '.join(groups) or 'no group'} alone gives arcs no features "
            "(add words or tags)"
        )
    for group in groups:
        if not _matters(group, groups):
            others = [one for one in GROUPS if _matters(group, (*groups, one))]
            raise ValueError(
                f"features: {group!r} gives arcs no features without "
                f"{' or '.join(others) or 'other groups'} (add it, or leave "
                f"{group!r} out)"
            )
    return groups


def _matters(group: str, groups: Collection[str]) -> bool:
    """Say whether there are features that need this one of some groups."""
    others = [one for one in groups if one != group]
    return choose_templates(others) != choose_templates(groups)
