"""Named building blocks of templates: what to see of a token and its neighbours.

A block is a name, perhaps with a number: ``affixes:4`` stands for the prefixes and
suffixes of one to four letters. It becomes lines of a template, whose names say what
they are: ``U:suffix3=ing``, ``U:word[-1]=the``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from partwise.features.modifiers import LONGEST_AFFIX
from partwise.features.resources import Resources

Attribute = tuple[str, ...]  # macros; their values together are one attribute


class Reads(NamedTuple):
    """What blocks can read: the columns of the data, and resources."""

    columns: Sequence[int]  # the first is the word
    resources: Resources

    def word(self, offset: int, modifier: str = "") -> str:
        """Return a macro for a word."""
        return _macro(offset, self.columns[0], modifier)


def _macro(offset: int, column: int, modifier: str = "") -> str:
    return f"%x[{offset},{column}{'.' if modifier else ''}{modifier}]"


Made = Iterator[tuple[str, Attribute]]


def _around(name: str, modifier: str) -> Callable[[Reads, int], Made]:
    """Make a block: a modifier of the word and of `n` words on each side."""

    def block(reads: Reads, n: int) -> Made:
        for offset in range(-n, n + 1):
            yield f"{name}{_at(offset)}", (reads.word(offset, modifier),)

    return block


def _runs(name: str, modifier: str, length: int) -> Callable[[Reads, int], Made]:
    """Make a block: `length` cells in a row, within `n` words."""

    def block(reads: Reads, n: int) -> Made:
        for first in range(-n, n + 2 - length):
            places = range(first, first + length)
            macros = tuple(reads.word(offset, modifier) for offset in places)
            yield f"{name}{_at(first, places[-1])}", macros

    return block


def _neighbours(reads: Reads, n: int) -> Made:
    for offset in range(-n, n + 1):
        if offset:
            yield f"word{_at(offset)}", (reads.word(offset),)


def _affixes(*kinds: str) -> Callable[[Reads, int], Made]:
    def block(reads: Reads, n: int) -> Made:
        for kind in kinds:
            for length in range(1, n + 1):
                yield f"{kind}{length}", (reads.word(0, f"{kind}{length}"),)

    return block


def _beside(reads: Reads, n: int) -> Made:
    """Join the kind of the word with the words before it, and with those after it."""
    kind = reads.word(0, "kind")
    for length in range(1, n + 1):
        before = tuple(reads.word(o, "lower") for o in range(-length, 0))
        after = tuple(reads.word(o, "lower") for o in range(1, length + 1))
        yield f"kind,lower{_at(-length, -1)}", (kind, *before)
        yield f"kind,lower{_at(1, length)}", (kind, *after)


def _endings(reads: Reads, n: int) -> Made:
    """See the last two and three letters of words on each side."""
    for offset in range(-n, n + 1):
        for suffix in ("suffix2", "suffix3") if offset else ():
            yield f"{suffix}{_at(offset)}", (reads.word(offset, suffix),)


def _flags(reads: Reads, n: int) -> Made:
    for name in ("has_digit", "has_upper", "has_hyphen", "is_title"):
        yield from _around(name, name)(reads, n)


def _tags(reads: Reads, n: int) -> Made:
    """Read each further column, with pairs and triples of its cells."""
    if len(reads.columns) < 2:
        raise ValueError("block 'tags' reads columns after the word; there are none")
    for column in reads.columns[1:]:
        for length in (1, 2, 3):
            for first in range(-n, n + 2 - length):
                places = range(first, first + length)
                macros = tuple(_macro(offset, column) for offset in places)
                yield f"column{column}{_at(first, places[-1])}", macros


def _word_tags(reads: Reads, n: int) -> Made:
    """Join the word in lower case with the tags around it."""
    for column in reads.columns[1:]:
        for offset in range(-n, n + 1):
            macros = reads.word(0, "lower"), _macro(offset, column)
            yield f"lower,column{column}{_at(offset)}", macros


def _gazetteers(reads: Reads, n: int) -> Made:
    if not reads.resources.gazetteers:
        raise ValueError("block 'gazetteers' needs a gazetteer, and none is given")
    for type in reads.resources.types:
        yield from _around(f"gazetteer {type}", f"gazetteer:{type}")(reads, n)


def _clusters(reads: Reads, n: int) -> Made:
    if reads.resources.clusters is None:
        raise ValueError("block 'clusters' needs clusters, and none are given")
    yield from _around("cluster", "cluster")(reads, n)
    for depth in reads.resources.clusters.depths:
        yield from _around(f"cluster{depth}", f"cluster{depth}")(reads, n)


def _at(first: int, last: int | None = None) -> str:
    """Say which tokens are meant; nothing for the token itself."""
    if last is None or last == first:
        return f"[{first}]" if first else ""
    return f"[{first}..{last}]"


class Block(NamedTuple):
    """A named block: how it is made, and the numbers it takes."""

    make: Callable[[Reads, int], Made]
    default: int
    smallest: int = 0
    largest: int = 9


BLOCKS: dict[str, Block] = {
    # words
    "words": Block(_around("word", ""), 0),
    "neighbours": Block(_neighbours, 2, 1),
    "bigrams": Block(_runs("words", "", 2), 1, 1),
    "lower": Block(_around("lower", "lower"), 0),
    "lower_bigrams": Block(_runs("lower", "lower", 2), 1, 1),
    # their letters
    "affixes": Block(_affixes("prefix", "suffix"), 4, 1, LONGEST_AFFIX),
    "prefixes": Block(_affixes("prefix"), 4, 1, LONGEST_AFFIX),
    "suffixes": Block(_affixes("suffix"), 4, 1, LONGEST_AFFIX),
    "endings": Block(_endings, 1, 1),
    # their shapes: capitals, digits and punctuation
    "shape": Block(_around("shape", "shape"), 0),
    "short_shape": Block(_around("short_shape", "short_shape"), 0),
    "shape_bigrams": Block(_runs("short_shape", "short_shape", 2), 1, 1),
    "shape_trigrams": Block(_runs("short_shape", "short_shape", 3), 1, 1),
    "kind": Block(_around("kind", "kind"), 0),
    "kind_trigrams": Block(_runs("kind", "kind", 3), 1, 1),
    "flags": Block(_flags, 0),
    "beside": Block(_beside, 2, 1),
    # other columns, and what is known of words
    "tags": Block(_tags, 2),
    "word_tags": Block(_word_tags, 1),
    "gazetteers": Block(_gazetteers, 1),
    "clusters": Block(_clusters, 1),
}


def template_text(
    blocks: Sequence[str], columns: Sequence[int], resources: Resources
) -> str:
    r"""Return the template that blocks stand for.

    Parameters
    ----------
    blocks : sequence of str
        Names from `BLOCKS`, perhaps with a number: ``"affixes:4"``.
    columns : sequence of int
        The columns to read; the first holds the word.
    resources : Resources
        Gazetteers and clusters; their blocks are added unless they are named.

    Returns
    -------
    str
        The text of a template; a line that two blocks have in common is there once.

    Examples
    --------
    >>> print(template_text(["words", "suffixes:2"], [0], Resources()))
    # words
    U:word=%x[0,0]
    # suffixes:2
    U:suffix1=%x[0,0.suffix1]
    U:suffix2=%x[0,0.suffix2]
    # transitions
    B
    <BLANKLINE>
    """
    reads = Reads(columns, resources)
    names = [block.partition(":")[0].strip() for block in blocks]
    blocks = list(blocks)
    if resources.gazetteers and "gazetteers" not in names:
        blocks.append("gazetteers")
    if resources.clusters is not None and "clusters" not in names:
        blocks.append("clusters")
    lines: dict[str, None] = {}
    for block in blocks:
        found, n = parse_block(block)
        lines[f"# {block}"] = None
        for name, macros in found.make(reads, n):
            lines[f"U:{name}={'/'.join(macros)}"] = None
    return "\n".join([*lines, "# transitions", "B", ""])


def parse_block(block: str) -> tuple[Block, int]:
    """Return the block of a name, and its number.

    Examples
    --------
    >>> parse_block("affixes:3")[1], parse_block("affixes")[1]
    (3, 4)
    """
    name, colon, number = (part.strip() for part in block.partition(":"))
    found = BLOCKS.get(name)
    if found is None:
        raise ValueError(f"unknown block {name!r} (there are {', '.join(BLOCKS)})")
    if not colon:
        return found, found.default
    if number.isdecimal() and found.smallest <= int(number) <= found.largest:
        return found, int(number)
    raise ValueError(
        f"block {block!r}: the number must be from {found.smallest} to {found.largest}"
    )
