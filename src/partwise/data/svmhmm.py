"""SVM-HMM's data format: ``tag qid:sequence feature:value ... # comment``.

One token per line; the lines of a sequence share their number and stand together.
Features are numbers from 1. A token number after the sequence number
(``qid:12.3``) is allowed and ignored.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from sys import intern
from typing import Any

from partwise.data import values
from partwise.data.files import Source, Target, open_output, read_lines, source_name
from partwise.errors import DataError


def read_svmhmm(
    source: Source,
) -> tuple[values.FeatureSequences, values.LabelSequences]:
    r"""Read a file in SVM-HMM's format.

    Parameters
    ----------
    source : path, "-" or file object
        The file, plain or gzip; ``"-"`` is standard input.

    Returns
    -------
    X : list of list of dict
        ``X[i][t]`` maps the feature numbers of token ``t`` of sequence ``i``, as
        strings, to their values.
    y : list of list of str
        The tags.

    Raises
    ------
    DataError
        If the file cannot be read, a line is malformed or the lines of a sequence are
        not together; the message names the line.

    Examples
    --------
    >>> import io
    >>> read_svmhmm(io.StringIO("3 qid:1 7:1 12:0.5 # Paris\n1 qid:2 4:1\n"))
    ([[{'7': 1.0, '12': 0.5}], [{'4': 1.0}]], [['3'], ['1']])
    """
    X: values.FeatureSequences = []
    y: values.LabelSequences = []
    first_lines: dict[str, int] = {}
    current = None
    name = source_name(source)
    for number, line in read_lines(source):
        fields = line.partition("#")[0].split()
        if not fields:
            continue
        try:
            qid = _parse_qid(fields)
            if qid != current:
                if qid in first_lines:
                    raise DataError(
                        f"sequence {qid} began on line {first_lines[qid]} and goes on "
                        "here (put the lines of a sequence together)"
                    )
                first_lines[qid] = number
                current = qid
                X.append([])
                y.append([])
            y[-1].append(intern(fields[0]))
            X[-1].append(_parse_features(fields[2:]))
        except DataError as error:
            raise error.located(path=name, line=number) from None
    if not X:
        raise DataError(
            'holds no tokens (expected lines like "3 qid:1 7:1 12:0.5")', path=name
        )
    return X, y


def _parse_qid(fields: list[str]) -> str:
    """Return the sequence number of a line."""
    if len(fields) > 1 and fields[1].startswith("qid:"):
        sequence, dot, token = fields[1][4:].partition(".")
        if _is_number(sequence) and (not dot or _is_number(token)):
            return sequence
    raise DataError(
        f'expected "tag qid:number feature:value ...", found "{" ".join(fields[:3])}"'
    )


def _parse_features(fields: list[str]) -> dict[str, float]:
    features: dict[str, float] = {}
    for field in fields:
        feature, colon, value = field.partition(":")
        if not colon or not _is_feature(feature):
            raise DataError(
                f'expected feature:value with a feature number from 1, found "{field}"'
            )
        feature = intern(feature)
        if feature in features:
            raise DataError(f"feature {feature} is given twice")
        features[feature] = values.parse_value(value, feature)
    return features


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()


def _is_feature(name: str) -> bool:
    return _is_number(name) and not name.startswith("0")


def write_svmhmm(
    target: Target, X: Iterable[Sequence[Any]], y: Iterable[Sequence[Any]]
) -> None:
    """Write sequences in SVM-HMM's format, numbered from 1.

    Parameters
    ----------
    target : path, "-" or file object
        Where to write; ``"-"`` is standard output. A path appears complete or
        not at all, and is packed when it ends in ``.gz``.
    X : iterable of sequences of dicts
        Feature numbers (ints from 1, or strings of them) to values.
    y : iterable of sequences of labels
        The tags; SVM-HMM itself takes whole numbers from 1.

    Raises
    ------
    DataError
        If lengths differ, a value is not finite, a feature is not a number or a tag
        holds blanks.

    Examples
    --------
    >>> write_svmhmm("-", [[{7: 1, 12: 0.5}], [{"4": 1.0}]], [[3], [1]])
    3 qid:1 7:1.0 12:0.5
    1 qid:2 4:1.0
    """
    with open_output(target) as out:
        for i, tokens, labels in values.paired(X, y):
            for t, (token, label) in enumerate(zip(tokens, labels, strict=True)):
                place = f"sequence {i}, token {t}"
                try:
                    features, tag = _numbered(token, place), _tag(label)
                except DataError as error:
                    raise error.located(place, example=i, part=t) from None
                out.write(f"{tag} qid:{i + 1}")
                out.writelines(f" {feature}:{value!r}" for feature, value in features)
                out.write("\n")


def _numbered(token: Any, place: str) -> list[tuple[int, float]]:
    """Return features by number, in the increasing order that SVM-HMM demands."""
    features: dict[int, float] = {}
    for name, value in values.flatten(token, place):
        if not _is_feature(name):
            raise DataError(
                f'feature "{name}" is not a number from 1 (SVM-HMM knows '
                "features by number only; number them first)"
            )
        features[int(name)] = value
    return sorted(features.items())


def _tag(label: Any) -> str:
    tag = str(label)
    if len(tag.split()) != 1 or tag.split()[0] != tag or "#" in tag:
        raise DataError(
            f"the tag {tag!r} cannot be written (it must not be empty or hold blanks "
            'or "#")'
        )
    return tag
