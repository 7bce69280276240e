r"""Lattices as JSON lines: one object per line, readable and writable as a stream.

A line is one lattice::

    {"name": "s1", "start": 0, "end": 2, "edges": [
       {"from": 0, "to": 1, "words": "the", "features": {"lm": -1.5, "tag": "DT"}},
       {"from": 1, "to": 2, "words": "house", "features": ["noun"], "cost": 2}],
     "good": [[0, 1]]}

(on one line). ``edges`` is required, and ``from`` and ``to`` of an edge, which are
strings or whole numbers. ``features`` are as in feature dicts, or a list of names;
``words`` are a list, or a string that is split at its blanks. ``start`` and ``end`` are
a node or a list of nodes; ``nodes`` may list all nodes. ``good`` are the good
paths, lists of numbers of edges from 0, the right one first. Blank lines are
skipped.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from partwise.data.files import Source, Target, open_output, read_lines, source_name
from partwise.data.lattice import LatticeEdge, LatticeInput
from partwise.errors import DataError

KEYS = {"name", "nodes", "start", "end", "edges", "good"}
EDGE_KEYS = {"from", "to", "words", "features", "cost"}


def iter_lattices(source: Source, *, encoding: str = "utf-8") -> Iterator[LatticeInput]:
    r"""Read lattices from JSON lines, one by one.

    Parameters
    ----------
    source : path, "-" or file object
        The file, plain or gzip; ``"-"`` is standard input.
    encoding : str, default="utf-8"
        The encoding of the file.

    Yields
    ------
    LatticeInput
        With its good paths, if it has some, and with file and line as its place.

    Raises
    ------
    DataError
        With file and line, if something is not a lattice.

    Examples
    --------
    >>> import io
    >>> text = '{"edges": [{"from": 0, "to": 1, "words": "a b"}], "good": [[0]]}\n'
    >>> [lattice] = iter_lattices(io.StringIO(text))
    >>> lattice.edges[0].words, lattice.good, lattice.place
    (('a', 'b'), ((0,),), '<input>:1')
    """
    file = source_name(source)
    for line, text in read_lines(source, encoding=encoding):
        if text.strip():
            place = f"{file}:{line}"
            try:
                described = _parse(text)
            except DataError as error:
                where = f"{place}: {error.where}" if error.where else place
                raise error.located(where, path=file, line=line) from None
            yield LatticeInput(**described, place=place)


def read_lattices(source: Source, *, encoding: str = "utf-8") -> list[LatticeInput]:
    """Read all lattices of a file; see `iter_lattices`."""
    return list(iter_lattices(source, encoding=encoding))


def write_lattices(target: Target, lattices: Iterable[LatticeInput]) -> int:
    r"""Write lattices as JSON lines; return how many.

    Parameters
    ----------
    target : path, "-" or file object
        Where to; a name that ends in ``.gz`` is packed.
    lattices : iterable of LatticeInput
        Read one by one. Nodes must be strings or whole numbers.

    Examples
    --------
    >>> import io
    >>> out = io.StringIO()
    >>> write_lattices(out, [LatticeInput([(0, 1, {"x": 0.5}, "a")], good=[[0]])])
    1
    >>> list(json.loads(out.getvalue()))
    ['start', 'end', 'edges', 'good']
    """
    count = 0
    with open_output(target) as out:
        for lattice in lattices:
            try:
                described = _describe(lattice)
            except DataError as error:
                where = lattice.title or f"lattice {count}"
                if error.part is not None:
                    where += f", edge {error.part}"
                raise error.located(where, example=count) from None
            out.write(json.dumps(described, ensure_ascii=False, allow_nan=False))
            out.write("\n")
            count += 1
    return count


def _describe(lattice: LatticeInput) -> dict[str, Any]:
    described: dict[str, Any] = {}
    if lattice.name:
        described["name"] = lattice.name
    for key, nodes in (("start", lattice.starts), ("end", lattice.ends)):
        shown = list(map(_plain_node, nodes))
        described[key] = shown[0] if len(shown) == 1 else shown
    if lattice.nodes is not None:
        described["nodes"] = list(map(_plain_node, lattice.nodes))
    described["edges"] = [_plain_edge(edge, e) for e, edge in enumerate(lattice.edges)]
    if lattice.good:
        described["good"] = [list(path) for path in lattice.good]
    return described


def _plain_node(node: Any) -> int | str:
    if isinstance(node, str | int) and not isinstance(node, bool):
        return node
    if isinstance(node, np.integer):
        return int(node)
    raise DataError(
        f"node {node!r} cannot be written (only strings and whole numbers can: name "
        "the nodes so)"
    )


def _plain_edge(edge: LatticeEdge, e: int) -> dict[str, Any]:
    try:
        shown: dict[str, Any] = {
            "from": _plain_node(edge.source),
            "to": _plain_node(edge.target),
        }
        if edge.words:
            words = list(edge.words)
            joined = " ".join(words)
            shown["words"] = joined if joined.split() == words else words
        if edge.features:
            shown["features"] = _plain_features(edge.features)
        if edge.cost is not None:
            shown["cost"] = float(edge.cost)
    except DataError as error:
        raise error.located(f"edge {e}", part=e) from None
    return shown


def _plain_features(features: Any) -> Any:
    if isinstance(features, Mapping):
        return {name: _plain_features(value) for name, value in features.items()}
    if features is None or isinstance(features, str | bool | int):
        return features
    if isinstance(features, np.generic):
        return _plain_features(features.item())
    if isinstance(features, float):
        if not np.isfinite(features):
            raise DataError(f"a feature has the value {features}")
        return features
    if isinstance(features, Iterable):
        ordered = sorted(features) if isinstance(features, set) else features
        return [_plain_features(value) for value in ordered]
    raise DataError(f"a feature of type {type(features).__name__} cannot be written")


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not a number in JSON")


def _parse(text: str) -> dict[str, Any]:
    """Return what describes a lattice, by the names of its fields."""
    try:
        found = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise DataError(
            f"is not valid JSON ({_short(error)}); a lattice is an object on one line"
        ) from None
    _refuse_halves(text, found)
    if not isinstance(found, dict) or "edges" not in found:
        raise DataError(f'expected an object with "edges", found {text[:40]!r}')
    _refuse_unknown(found, KEYS)
    name, edges = found.get("name", ""), found["edges"]
    if not isinstance(name, str):
        raise DataError(f'"name" must be a string, not {name!r}')
    if not isinstance(edges, list):
        raise DataError(f'"edges" must be a list, not {edges!r:.40}')
    good = found.get("good", [])
    if not isinstance(good, list) or not all(isinstance(p, list) for p in good):
        raise DataError(
            '"good" must be a list of paths, each a list of numbers of edges'
        )
    nodes = found.get("nodes")
    return {
        "edges": [_edge(edge, e) for e, edge in enumerate(edges)],
        "start": _terminals(found.get("start"), '"start"'),
        "end": _terminals(found.get("end"), '"end"'),
        "nodes": None if nodes is None else _nodes(nodes, '"nodes"'),
        "good": good,
        "name": name,
    }


def _short(error: Exception) -> str:
    return str(error) if isinstance(error, ValueError) else "it is nested too deeply"


def _refuse_halves(text: str, found: Any) -> None:
    r"""Refuse what only escapes can say: half of a character, such as ``"\ud800"``."""
    if "\\ud" in text or "\\uD" in text:
        try:
            json.dumps(found, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            half = error.object[error.start]
            raise DataError(
                f"{half!a} is half a character (write both halves, or none)"
            ) from None


def _refuse_unknown(found: dict[str, Any], known: set[str]) -> None:
    odd = [key for key in found if key not in known]
    if odd:
        raise DataError(
            f'unknown key "{odd[0]}" (the known keys are {", ".join(sorted(known))})'
        )


def _edge(found: Any, e: int) -> LatticeEdge:
    try:
        return _parse_edge(found)
    except DataError as error:
        raise error.located(f"edge {e}", part=e) from None


def _parse_edge(found: Any) -> LatticeEdge:
    if not isinstance(found, dict) or not {"from", "to"} <= set(found):
        raise DataError('it must be an object with "from" and "to"')
    _refuse_unknown(found, EDGE_KEYS)
    words, features = found.get("words", ()), found.get("features", ())
    if not isinstance(words, str | list | tuple):
        raise DataError('"words" must be a string or a list of strings')
    if not isinstance(features, dict | list | tuple):
        raise DataError('"features" must be an object or a list of names')
    cost = found.get("cost")
    if cost is not None and (
        isinstance(cost, bool) or not isinstance(cost, int | float)
    ):
        raise DataError(f'"cost" must be a number, not {cost!r}')
    return LatticeEdge(_node(found["from"]), _node(found["to"]), features, words, cost)


def _node(found: Any, key: str = "") -> int | str:
    if isinstance(found, str | int) and not isinstance(found, bool):
        return found
    raise DataError(f"a node is a string or a whole number, not {found!r}", where=key)


def _nodes(found: Any, key: str) -> Sequence[int | str]:
    if not isinstance(found, list):
        raise DataError(f"{key} must be a list of nodes, not {found!r}")
    return [_node(node, key) for node in found]


def _terminals(found: Any, key: str) -> Any:
    if found is None:
        return None
    return _nodes(found if isinstance(found, list) else [found], key)
