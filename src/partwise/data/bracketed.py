r"""Reading and writing trees in brackets, as the Penn Treebank has them.

A tree may stand on one line or on many, and a file may hold any number of them.
The nameless bracket around a tree, ``( (S ...) )``, is left out. Words are kept as
they are written: ``-LRB-`` stays ``-LRB-``. A line outside of trees that begins with
``#`` is a comment.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from sys import intern
from typing import Any, NamedTuple

from partwise.constituents import Tree, read_known, subtrees
from partwise.constituents import clean as without_empty_elements
from partwise.constituents.known import UNKNOWN
from partwise.data.files import Source, Target, open_output, read_lines, source_name
from partwise.errors import DataError

# Other kinds of blanks, such as the ones of French numbers, may be part of words.
BLANKS = " \t\n\r\f\v"
_TOKEN = re.compile(f"[()]|[^(){BLANKS}]+")
_NOT_WRITABLE = re.compile(f"[(){BLANKS}]")
_ESCAPES = str.maketrans({"(": "-LRB-", ")": "-RRB-"})
_LONGEST_SHOWN = 40
NO_PARSE = "(())"


class PlacedTree(NamedTuple):
    """A tree, or what is known of one, and the line of its file where it begins."""

    tree: Any
    file: str
    line: int

    @property
    def place(self) -> str:
        """The file and the line, as messages name them."""
        return f"{self.file}:{self.line}"


def read_brackets(
    source: Source,
    *,
    clean: bool = True,
    encoding: str = "utf-8",
    partial: bool = False,
) -> list[Any]:
    r"""Read trees in brackets.

    Parameters
    ----------
    source : path, "-" or file object
        The file, plain or gzip; ``"-"`` is standard input.
    clean : bool, default=True
        Leave out empty elements and function tags; see `partwise.constituents.clean`.
    encoding : str, default="utf-8"
        The encoding of the file.
    partial : bool, default=False
        Trees may be known in part: in a tree with a label ``?`` all brackets are right,
        but there may be others. Its words need no tags: ``(S (NP the dog) (? barks))``.
        A label that is a question mark is written with a backslash before it.

    Returns
    -------
    list of Tree
        All trees of the file; `KnownBrackets` in the place of those known in part.

    Raises
    ------
    DataError
        If there is no such file, brackets do not match, a bracket has no label or
        nothing below it, or a word has no tag of its own; the message names the line.

    See Also
    --------
    iter_brackets : The same, a tree at a time.
    write_brackets : Write them.

    Examples
    --------
    >>> import io
    >>> text = "( (S (NP-SBJ (NNS Dogs))\n     (VP (VBP bark))) )\n(INTJ (UH Hush))\n"
    >>> for tree in read_brackets(io.StringIO(text)):
    ...     print(tree)
    (S (NP (NNS Dogs)) (VP (VBP bark)))
    (INTJ (UH Hush))
    """
    return list(iter_brackets(source, clean=clean, encoding=encoding, partial=partial))


def iter_brackets(
    source: Source,
    *,
    clean: bool = True,
    encoding: str = "utf-8",
    partial: bool = False,
) -> Iterator[Any]:
    r"""Read trees in brackets, each as soon as its last bracket is there.

    Parameters
    ----------
    source, clean, encoding, partial
        As in `read_brackets`.

    Yields
    ------
    Tree
        The next one.

    Examples
    --------
    >>> import io
    >>> [tree.label for tree in iter_brackets(io.StringIO("(UH Hush) (FRAG (IN But))"))]
    ['UH', 'FRAG']
    """
    for placed in iter_placed(source, clean=clean, encoding=encoding, partial=partial):
        yield placed.tree


def iter_placed(
    source: Source,
    *,
    clean: bool = True,
    encoding: str = "utf-8",
    partial: bool = False,
) -> Iterator[PlacedTree]:
    r"""Read trees in brackets, with the line where each begins.

    Examples
    --------
    >>> import io
    >>> [placed.place for placed in iter_placed(io.StringIO("\n(UH Hush)\n"))]
    ['<input>:2']
    """
    file = source_name(source)
    for tree, line in _numbered(source, file, clean, encoding, partial):
        if tree is None:
            raise DataError(_empty(""), path=file, line=line)
        yield PlacedTree(read_known(tree) if partial else tree, file, line)


def iter_parses(
    source: Source, *, clean: bool = True, encoding: str = "utf-8"
) -> Iterator[Tree | None]:
    r"""Read what a parser wrote: ``(())`` on a line of its own means no parse, None.

    Examples
    --------
    >>> import io
    >>> list(iter_parses(io.StringIO("(())\n(UH Hush)")))
    [None, <Tree (UH Hush)>]
    """
    for tree, _ in _numbered(source, source_name(source), clean, encoding):
        yield tree


def _numbered(
    source: Source, file: str, clean: bool, encoding: str, partial: bool = False
) -> Iterator[tuple[Tree | None, int]]:
    """Yield trees with the lines where they begin; None for a line ``(())``."""
    # The brackets that are open, the outermost first.
    stack: list[_Open] = []
    line = 0
    for line, text in read_lines(source, encoding=encoding):
        if not stack and text.startswith("#"):
            continue
        if not stack and text.strip(BLANKS) == NO_PARSE:
            yield None, line
            continue
        for token in _TOKEN.findall(text):
            if token == "(":
                stack.append(_Open(line))
            elif not stack:
                raise DataError(_outside(token), path=file, line=line)
            elif token != ")":
                stack[-1].add(token)
            else:
                closed = stack.pop()
                if partial:
                    closed.leave_tags_open()
                tree = _closed(closed, file, is_outermost=not stack)
                if stack:
                    stack[-1].children.append(tree)
                elif clean:
                    yield _cleaned(tree, file, closed.line), closed.line
                else:
                    yield tree, closed.line
    if stack:
        raise DataError(
            f"the tree that begins here is never closed ({len(stack)} closing "
            f"bracket{'s' * (len(stack) > 1)} missing at the end of the file, line "
            f"{line})",
            path=file,
            line=stack[0].line,
        )


def write_brackets(target: Target, trees: Iterable[Tree]) -> None:
    """Write trees in brackets, one per line.

    Parameters
    ----------
    target : path, "-" or file object
        Where to write. A path appears complete or not at all, and is packed when
        it ends in ``.gz``; ``"-"`` is standard output.
    trees : iterable of Tree
        What to write; they are taken one at a time.

    Raises
    ------
    DataError
        If a word or a label has blanks or brackets in it, or is empty; see
        `escape_brackets`.

    Examples
    --------
    >>> write_brackets("-", [Tree("INTJ", (Tree("UH", ("Hush",)),))])
    (INTJ (UH Hush))
    """
    with open_output(target) as out:
        for number, tree in enumerate(trees):
            out.write(f"{to_line(tree, f'tree {number}')}\n")


def to_line(tree: Tree, name: str = "the tree") -> str:
    """Return a tree in brackets, after a check that it can be read again.

    Examples
    --------
    >>> to_line(Tree("UH", ("(laughs)",)))
    Traceback (most recent call last):
        ...
    partwise.errors.DataError: the tree: the word '(laughs)' cannot stand in a tree in
    brackets (write -LRB- and -RRB- for brackets, and no blanks)
    """
    check_writable(tree, name)
    return str(tree)


def check_writable(tree: Tree, name: str = "the tree") -> None:
    """Refuse a tree that could not be read again from its brackets."""
    for node in subtrees(tree):
        # Only the outermost bracket may be nameless.
        if _NOT_WRITABLE.search(node.label) or not (node.label or node is tree):
            raise DataError(_unwritable(name, "label", node.label))
        if node.is_tag and (_NOT_WRITABLE.search(node.word) or not node.word):
            raise DataError(_unwritable(name, "word", node.word))


def escape_brackets(word: str) -> str:
    """Return a word as trees in brackets can hold it.

    Examples
    --------
    >>> escape_brackets("("), escape_brackets("f(x)")
    ('-LRB-', 'f-LRB-x-RRB-')
    """
    return word.translate(_ESCAPES)


@dataclass(slots=True)
class _Open:
    """A bracket that is open: its label, if it is there yet, and what is in it."""

    line: int
    label: str | None = None
    children: list[Tree | str] = field(default_factory=list)

    def add(self, text: str) -> None:
        if self.label is None and not self.children:
            self.label = intern(text)
        else:
            self.children.append(intern(text))

    def leave_tags_open(self) -> None:
        """Give words among others a tag that is not known."""
        if len(self.children) > 1:
            self.children = [
                Tree(UNKNOWN, (child,)) if isinstance(child, str) else child
                for child in self.children
            ]


def _closed(bracket: _Open, file: str, is_outermost: bool) -> Tree:
    """Return the tree of a bracket that is complete."""
    label, children = bracket.label, bracket.children
    line = bracket.line
    if not children:
        raise DataError(_empty(label or ""), path=file, line=line)
    if label is None:
        if not is_outermost or any(isinstance(child, str) for child in children):
            raise DataError(
                "a bracket within a tree has no label (only the outermost may be "
                "without)",
                path=file,
                line=line,
            )
        if len(children) == 1 and isinstance(children[0], Tree):
            return children[0]
    elif len(children) > 1:
        for child in children:
            if isinstance(child, str):
                raise DataError(
                    f'the word "{_short(child)}" in "({_short(label)} ..." '
                    "has no tag of its own (expected brackets such as (NN dog) around "
                    "every word)",
                    path=file,
                    line=line,
                )
    return Tree(label or "", tuple(children))


def _cleaned(tree: Tree, file: str, line: int) -> Tree:
    try:
        return without_empty_elements(tree)
    except ValueError as error:
        raise DataError(
            f"{error} (take the tree out of the file)", path=file, line=line
        ) from None


def _empty(label: str) -> str:
    return (
        f'"({_short(label)})" has nothing below it (expected a tag and its word, as in '
        "(NN dog), or trees)"
    )


def _outside(token: str) -> str:
    if token == ")":
        return "a closing bracket that no opening one belongs to"
    return (
        f'"{_short(token)}" is outside of all brackets (expected a tree such as '
        "(S (NP (NNS Dogs)) (VP (VBP bark))))"
    )


def _unwritable(name: str, what: str, text: str) -> str:
    return (
        f"{name}: the {what} {text!r} cannot stand in a tree in brackets (write -LRB- "
        "and -RRB- for brackets, and no blanks)"
    )


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 3] + "..."
