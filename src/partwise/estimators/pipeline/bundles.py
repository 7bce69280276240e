"""Large tag sets, taken apart: one tagger for a few attributes instead of for all.

A bundle such as ``Case=Gen|Gender=Masc|Number=Sing`` is one of a thousand labels in
some languages. Attributes are put together as long as their joint values are few, so
that agreement between neighbours is learnt, and the search for the best labels stays
fast.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from partwise.estimators.pipeline.tables import is_cell
from partwise.model_file import Content

NONE = "_"
LONGEST = 32
KINDS = ("whole", "attributes", "positions")

Attributes = dict[str, str]


@dataclass(frozen=True)
class Bundles:
    """How labels are split into parts, and put together again.

    Parameters
    ----------
    kind : {"whole", "attributes", "positions"}
        Labels are not split; or into ``Name=Value``; or into characters, as in the
        positional tags of many Slavic languages.
    groups : tuple of tuple of str
        The attributes of each part.

    Examples
    --------
    >>> labels = ["Case=Gen|Number=Sing", "Case=Nom|Number=Plur", "_"]
    >>> bundles = Bundles.learn(labels, most=2)
    >>> bundles.groups
    (('Case',), ('Number',))
    >>> bundles.split("Case=Gen|Number=Sing")
    ['Case=Gen', 'Number=Sing']
    >>> bundles.join(["Case=Gen", "_"])
    'Case=Gen'
    """

    kind: str = "whole"
    groups: tuple[tuple[str, ...], ...] = ((),)

    @classmethod
    def learn(cls, labels: Iterable[str], most: int) -> Bundles:
        """Return groups of attributes with at most `most` joint values each."""
        counts = Counter(labels)
        if len(counts) <= most:
            return cls()
        if all(_is_bundle(label) for label in counts):
            kind = "attributes"
        elif all(len(one) <= LONGEST and "|" not in one for one in counts):
            kind = "positions"
        else:
            return cls()
        tables = [(_attributes(kind, label), n) for label, n in counts.items()]
        frequency: Counter[str] = Counter()
        for table, n in tables:
            frequency.update(dict.fromkeys(table, n))
        groups: list[list[str]] = []
        for name, _ in frequency.most_common():
            for group in groups:
                joint = {tuple(t.get(one) for one in [*group, name]) for t, _ in tables}
                if len(joint) <= most:
                    group.append(name)
                    break
            else:
                groups.append([name])
        return cls(kind, tuple(map(tuple, groups)))

    def split(self, label: str) -> list[str]:
        """Return the parts of a label, one for each group."""
        if self.kind == "whole":
            return [label]
        table = _attributes(self.kind, label)
        return [
            _written({name: table[name] for name in group if name in table})
            for group in self.groups
        ]

    def join(self, parts: Sequence[str]) -> str:
        """Return the label of some parts."""
        if self.kind == "whole":
            return parts[0]
        table: Attributes = {}
        for part in parts:
            table |= _attributes("attributes", part)
        if self.kind == "attributes":
            return _written(table)
        width = max(map(int, table), default=-1) + 1
        return "".join(table.get(str(i), "-") for i in range(width)) or NONE

    def fits(self, i: int, label: Any) -> bool:
        """Say whether something is a label of a part, as `split` makes them."""
        if not isinstance(label, str) or not is_cell(label):
            return False
        if self.kind == "whole":
            return True
        return set(_attributes("attributes", label)) <= set(self.groups[i])

    def to_json(self) -> dict[str, Any]:
        """Return what a model file holds."""
        return {"kind": self.kind, "groups": [list(group) for group in self.groups]}

    @classmethod
    def from_content(cls, content: Content) -> Bundles:
        """Return what `to_json` returned, trusting nothing."""
        kind = content.setting("kind", str, choices=KINDS)
        groups = content.setting("groups", list)
        for group in groups:
            if type(group) is not list or not all(type(x) is str for x in group):
                raise content.error("its groups of attributes are damaged")
        names = [name for group in groups for name in group]
        if len(set(names)) < len(names) or not groups:
            raise content.error("attributes are there twice, or not at all")
        if kind == "positions" and not {*names} <= {*map(str, range(LONGEST))}:
            raise content.error("its positions are damaged")
        if kind == "whole" and groups != [[]]:
            raise content.error("labels that are whole have no attributes")
        return cls(kind, tuple(map(tuple, groups)))


def _is_bundle(label: str) -> bool:
    return label == NONE or all("=" in one for one in label.split("|"))


def _attributes(kind: str, label: str) -> Attributes:
    if kind == "positions":
        return {str(i): letter for i, letter in enumerate(label)}
    if label == NONE:
        return {}
    pairs = (one.partition("=") for one in label.split("|"))
    return {name: value for name, _, value in pairs}


def _written(table: Attributes) -> str:
    names = sorted(table, key=lambda name: (name.lower(), name))
    return "|".join(f"{name}={table[name]}" for name in names) or NONE
