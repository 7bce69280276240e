"""What is inside a model, as python-crfsuite shows it, and the dump of its text."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from partwise.foreign import ChainModel
from partwise.foreign.crfsuite import MAGIC, TYPE, VERSION, Header

_HEADER_NAMES = (
    "num_features",
    "num_labels",
    "num_attrs",
    "off_features",
    "off_labels",
    "off_attrs",
    "off_labelrefs",
    "off_attrrefs",
)
_SECTION = re.compile(r"(FILEHEADER|LABELS|ATTRIBUTES|TRANSITIONS|STATE_FEATURES) = {")
_ENTRY = re.compile(r"(\w+): (.*)")
_WEIGHT = re.compile(r"\(\d+\) (.+) --> (.+): ([+-]?\d+\.\d+)")


class ParsedDump:
    """The content of a model.

    Attributes
    ----------
    header : dict of str to str
        What the file says of itself.
    labels, attributes : dict of str to str
        Their numbers, as text.
    transitions : dict
        The weights of ``(label, next label)``.
    state_features : dict
        The weights of ``(attribute, label)``.
    """

    def __init__(self) -> None:
        self.header: dict[str, str] = {}
        self.labels: dict[str, str] = {}
        self.attributes: dict[str, str] = {}
        self.transitions: dict[tuple[str, str], float] = {}
        self.state_features: dict[tuple[str, str], float] = {}


class CRFsuiteDumpParser:
    """Reads the text that `Tagger.dump` and ``crfsuite dump`` write, line by line.

    Examples
    --------
    >>> parser = CRFsuiteDumpParser()
    >>> for line in ["LABELS = {", "  0: A", "}", "TRANSITIONS = {"]:
    ...     parser.feed(line)
    >>> parser.feed("  (1) A --> A: 0.500000")
    >>> parser.result.transitions
    {('A', 'A'): 0.5}
    """

    def __init__(self) -> None:
        self.state: str | None = None
        self.result = ParsedDump()

    def feed(self, line: str) -> None:
        """Take the next line."""
        line = line.lstrip().rstrip("\r\n")  # names may end with spaces
        if not line:
            return
        if found := _SECTION.match(line):
            self.state = found.group(1)
        elif line == "}":
            self.state = None
        elif self.state in ("TRANSITIONS", "STATE_FEATURES"):
            self._note_weight(line)
        elif entry := _ENTRY.match(line):
            key, value = entry.groups()
            if self.state == "FILEHEADER":
                self.result.header[key] = value
            elif self.state == "LABELS":
                self.result.labels[value] = key
            elif self.state == "ATTRIBUTES":
                self.result.attributes[value] = key

    def _note_weight(self, line: str) -> None:
        found = _WEIGHT.match(line)
        if found is None:
            raise ValueError(f"expected (kind) name --> label: weight, found {line!r}")
        source, target, weight = found.groups()
        kept = self.result.state_features
        if self.state == "TRANSITIONS":
            kept = self.result.transitions
        kept[source, target] = float(weight)


def _header_lines(header: Header, size: int) -> Iterator[tuple[str, str]]:
    yield "magic", MAGIC.decode()
    yield "size", str(size)
    yield "type", TYPE.decode()
    yield "version", str(VERSION)
    for name, value in zip(_HEADER_NAMES, header, strict=True):
        yield name, f"0x{value:X}" if name.startswith("off") else str(value)


def dump_lines(model: ChainModel, header: Header, size: int) -> Iterator[str]:
    """Yield the lines of the text form of a model."""
    yield "FILEHEADER = {\n"
    for name, value in _header_lines(header, size):
        yield f"  {name}: {value}\n"
    yield "}\n\n"
    for title, names in (("LABELS", model.labels), ("ATTRIBUTES", model.attributes)):
        yield f"{title} = {{\n"
        for number, name in enumerate(names):
            yield f"  {number:5d}: {name}\n"
        yield "}\n\n"
    yield "TRANSITIONS = {\n"
    for a, b in np.argwhere(model.transitions).tolist():
        weight = model.transitions[a, b]
        yield f"  (1) {model.labels[a]} --> {model.labels[b]}: {weight:f}\n"
    yield "}\n\nSTATE_FEATURES = {\n"
    owner = np.repeat(np.arange(len(model.attributes)), np.diff(model.ptr)).tolist()
    rows = zip(owner, model.label.tolist(), model.weight.tolist(), strict=True)
    for a, b, weight in rows:
        yield f"  (0) {model.attributes[a]} --> {model.labels[b]}: {weight:f}\n"
    yield "}\n\n"


def parsed_dump(model: ChainModel, header: Header, size: int) -> ParsedDump:
    """Return what a dump says, weights rounded as there, without writing it."""
    result = ParsedDump()
    result.header = dict(_header_lines(header, size))
    result.labels = {name: str(k) for k, name in enumerate(model.labels)}
    result.attributes = {name: str(a) for a, name in enumerate(model.attributes)}
    for a, b in np.argwhere(model.transitions).tolist():
        key = model.labels[a], model.labels[b]
        result.transitions[key] = float(f"{model.transitions[a, b]:f}")
    owner = np.repeat(np.arange(len(model.attributes)), np.diff(model.ptr)).tolist()
    rounded = map(float, map("{:f}".format, model.weight.tolist()))
    rows = zip(owner, model.label.tolist(), rounded, strict=True)
    names, labels = model.attributes, model.labels
    result.state_features = {(names[a], labels[b]): weight for a, b, weight in rows}
    return result
