r"""CRFsuite's data format: ``label <tab> attribute[:value] <tab> ...``.

One token per line, a blank line after each sequence. A value left out is 1. In names
``\:`` stands for a colon and ``\\`` for a backslash.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from sys import intern
from typing import Any, Literal, overload

from partwise.data import values
from partwise.data.files import Source, Target, open_output, read_lines, source_name
from partwise.errors import DataError

_ESCAPE = re.compile(r"\\([:\\])")
# A name (no bare colon in it), then perhaps a colon and a value.
_ATTRIBUTE = re.compile(r"((?:\\[:\\]|[^:])*)(?::(.*))?", re.DOTALL)


@overload
def read_crfsuite(
    source: Source, *, labelled: Literal[True] = True
) -> tuple[values.FeatureSequences, values.LabelSequences]: ...
@overload
def read_crfsuite(
    source: Source, *, labelled: Literal[False]
) -> tuple[values.FeatureSequences, None]: ...
def read_crfsuite(
    source: Source, *, labelled: bool = True
) -> tuple[values.FeatureSequences, values.LabelSequences | None]:
    r"""Read a file in CRFsuite's format.

    Parameters
    ----------
    source : path, "-" or file object
        The file, plain or gzip; ``"-"`` is standard input.
    labelled : bool, default=True
        Whether the first field of a line is its label. If not, all fields are
        attributes, and `y` is None.

    Returns
    -------
    X : list of list of dict
        ``X[i][t]`` maps the attributes of token ``t`` of sequence ``i`` to their
        values; an attribute given twice has the sum, as in CRFsuite.
    y : list of list of str or None
        The labels.

    Raises
    ------
    DataError
        If the file cannot be read or a value is not a finite number; the message
        names the line.

    Examples
    --------
    >>> import io
    >>> read_crfsuite(io.StringIO("B-LOC\tw=Paris\tlen:5\n\nO\tw=Hush\n"))
    ([[{'w=Paris': 1.0, 'len': 5.0}], [{'w=Hush': 1.0}]], [['B-LOC'], ['O']])
    """
    X: values.FeatureSequences = []
    y: values.LabelSequences = []
    inside = False
    name = source_name(source)
    for number, line in read_lines(source):
        if not line.strip(" \t"):
            inside = False
            continue
        if not inside:
            X.append([])
            y.append([])
            inside = True
        fields = line.split("\t")
        try:
            if labelled:
                label = fields.pop(0)
                if ":" in label or "\\" in label or not label:
                    label = _parse_label(label)
                y[-1].append(intern(label))
            X[-1].append(_parse_attributes(fields, line))
        except DataError as error:
            raise error.located(path=name, line=number) from None
    if not X:
        raise DataError(
            "holds no tokens (expected lines of a label and attributes with tabs "
            "between them)",
            path=name,
        )
    return X, (y if labelled else None)


def _parse_attributes(fields: list[str], line: str) -> dict[str, float]:
    # Attributes repeat from token to token: interning keeps one copy of each.
    if ":" not in line and "\\" not in line:
        features = dict.fromkeys(map(intern, fields), 1.0)
        if len(features) == len(fields) and "" not in features:
            return features
    features = {}
    for field in fields:
        if field:
            attribute, value = _parse_attribute(field)
            features[attribute] = features.get(attribute, 0.0) + value
    return features


def _parse_attribute(field: str) -> tuple[str, float]:
    match = _ATTRIBUTE.fullmatch(field)
    assert match is not None  # both parts may be anything
    attribute = intern(_ESCAPE.sub(r"\1", match[1]))
    if not attribute:
        raise DataError(f'"{field}" has a value but no name')
    return attribute, values.parse_value(match[2], attribute) if match[2] else 1.0


def _parse_label(field: str) -> str:
    match = _ATTRIBUTE.fullmatch(field)
    assert match is not None  # both parts may be anything
    if not match[1]:
        raise DataError(
            "the line has no label (give one before the first tab, or read it with "
            "labelled=False)"
        )
    if match[2] is not None:
        raise DataError(
            f'the label "{field}" holds a colon (write it as "\\:"; a file '
            "without labels is read with labelled=False)"
        )
    return _ESCAPE.sub(r"\1", match[1])


def write_crfsuite(
    target: Target, X: Iterable[Sequence[Any]], y: Iterable[Sequence[Any]] | None = None
) -> None:
    r"""Write sequences in CRFsuite's format.

    Parameters
    ----------
    target : path, "-" or file object
        Where to write; ``"-"`` is standard output. A path appears complete or
        not at all, and is packed when it ends in ``.gz``.
    X : iterable of sequences of tokens
        A token is a feature dict or a list of strings. Text values become part
        of the name (``{"w": "Paris"}`` is ``w=Paris``), nested names are joined
        with a colon.
    y : iterable of sequences of labels, optional
        The labels; without them the lines hold attributes only.

    Raises
    ------
    DataError
        If lengths differ, a value is not finite, or a name or label cannot be
        expressed in the format.

    Examples
    --------
    >>> import io
    >>> out = io.StringIO()
    >>> write_crfsuite(out, [[{"w": "Paris", "len": 5}], [["hush"]]], [["B"], ["O"]])
    >>> out.getvalue()
    'B\tw=Paris\tlen:5.0\n\nO\thush\n\n'
    """
    with open_output(target) as out:
        for i, tokens, labels in values.paired(X, y):
            for t, (token, label) in enumerate(zip(tokens, labels, strict=True)):
                place = f"sequence {i}, token {t}"
                try:
                    out.write(_line(token, label, place) + "\n")
                except DataError as error:
                    raise error.located(place, example=i, part=t) from None
            out.write("\n")


def _line(token: Any, label: Any, place: str) -> str:
    fields = [] if label is None else [_escape(str(label))]
    for name, value in values.flatten(token, place):
        escaped = _escape(name)
        fields.append(escaped if value == 1.0 else f"{escaped}:{value!r}")
    if not fields:
        raise DataError(
            "has neither label nor attributes, which a line cannot express (give it an "
            "attribute that all tokens have)"
        )
    return "\t".join(fields)


def _escape(name: str) -> str:
    if not name.strip(" ") or any(mark in name for mark in "\t\n\r"):
        raise DataError(
            f"{name!r} cannot be written (CRFsuite's names and labels are not empty "
            "and hold no tab or line break)"
        )
    return name.replace("\\", "\\\\").replace(":", "\\:")
