"""From JSON to what models take, and from what they predict to JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from partwise.constituents import Tree
from partwise.data import Document, Sentence
from partwise.data.lattice import LatticeEdge, LatticeInput, LatticePath
from partwise.errors import DataError

Reader = Callable[[Any, Any], Any]


def size_of(given: Any) -> int:
    """Return how many tokens, edges or values an input has.

    Examples
    --------
    >>> size_of({"tokens": ["a", "b"]}), size_of("a b c"), size_of({"x": 1})
    (2, 3, 1)
    """
    if isinstance(given, str):
        return len(given.split())
    if isinstance(given, Mapping):
        listed = next((v for v in given.values() if isinstance(v, list)), None)
        return len(given) if listed is None else len(listed)
    return len(given) if isinstance(given, list) else 1


def read_input(model: Any, given: Any) -> Any:
    """Return one input as a model takes it.

    Parameters
    ----------
    model : estimator
        Any model.
    given : str, list or dict
        A sentence with blanks between its words, a list of tokens, or a dict with
        ``"tokens"``. A token is a word, a list of its columns (the word, its part of
        speech, ...) or a dict of features. Lattices are dicts as in files; rows of
        tables are dicts; examples of classifiers are lists of numbers or dicts. A
        pipeline takes a text.

    Raises
    ------
    DataError
        If it is something else.
    """
    names = [cls.__name__ for cls in type(model).__mro__]
    if "LatticeRanker" in names:
        return _lattice(given)
    if "BayesianNetworkClassifier" in names or "MulticlassClassifier" in names:
        if not isinstance(given, list | dict):
            raise DataError("expected a list of numbers or an object of values")
        return given
    if "Pipeline" in names:
        if not isinstance(given, str) or not given.strip():
            raise DataError("expected a text: a string that is not empty")
        return given
    tokens = _tokens(given)
    if "SequenceTagger" in names or "SegmentTagger" in names:
        return tokens if isinstance(tokens[0], dict) else [_columns(t) for t in tokens]
    if "HiddenMarkovModel" in names:
        return [_columns(token)[0] for token in tokens]
    if "DependencyParser" in names:
        cells = [_columns(token) for token in tokens]
        tags = [cell[1] if len(cell) > 1 else "_" for cell in cells]
        return Sentence.from_columns(
            forms=[cell[0] for cell in cells], upos=tags, xpos=tags
        )
    if "ConstituencyParser" in names:
        cells = [_columns(token) for token in tokens]
        if model.given_tags:
            return [(cell[0], cell[1] if len(cell) > 1 else "") for cell in cells]
        return [cell[0] for cell in cells]
    raise DataError(f"a {type(model).__name__} cannot be served: it has no JSON input")


def _tokens(given: Any) -> list[Any]:
    if isinstance(given, Mapping):
        given = given.get("tokens")
    if isinstance(given, str):
        given = [word.split("|") for word in given.split()]
    if not isinstance(given, list) or not given:
        raise DataError(
            'expected a sentence, a list of tokens or {"tokens": [...]}, not empty'
        )
    return given


def _columns(token: Any) -> tuple[str, ...]:
    cells = [token] if isinstance(token, str) else token
    if (
        not isinstance(cells, list)
        or not cells
        or not all(isinstance(c, str) and c for c in cells)
    ):
        raise DataError(
            "a token is a word, a list of its columns or a dict of features"
        )
    return tuple(cells)


def _lattice(given: Any) -> LatticeInput:
    if not isinstance(given, Mapping) or not isinstance(given.get("edges"), list):
        raise DataError('expected a lattice: {"edges": [[from, to, features, words]]}')
    return LatticeInput([LatticeEdge(*edge) for edge in given["edges"]])


def written(output: Any) -> Any:
    """Return a prediction as JSON has it.

    Examples
    --------
    >>> written(["B-NP", "O"]), written(LatticePath((0, 2), ("a", "dog"), 1.5))
    (['B-NP', 'O'], {'edges': [0, 2], 'words': ['a', 'dog'], 'score': 1.5})
    """
    if isinstance(output, Document):
        return {"conllu": output.to_conllu()}
    if isinstance(output, Sentence):
        return {"heads": list(output.heads or ()), "labels": list(output.labels or ())}
    if isinstance(output, Tree):
        return {"tree": str(output)}
    if isinstance(output, LatticePath):
        edges, words = list(output.edges), list(output.words)
        return {"edges": edges, "words": words, "score": output.score}
    if hasattr(output, "tolist"):
        return output.tolist()
    if isinstance(output, list | tuple):
        return [written(one) for one in output]
    return output
