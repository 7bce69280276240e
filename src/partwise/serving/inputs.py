"""From JSON to what models take: how the inputs of every kind of model are written."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from partwise.data import Sentence, read_lattices
from partwise.data.lattice import LatticeEdge, LatticeInput
from partwise.errors import DataError
from partwise.estimators.explanation import NumberedNames

TAG = "TAG"
"""What stands for a further column of a token in examples."""
GRAPH_FIELDS = ("edge_features", "node_kinds", "edge_kinds", "cliques",
                "clique_features", "directed")  # fmt: skip


class Inputs(NamedTuple):
    """How the inputs of one kind of model are written in JSON.

    Attributes
    ----------
    read : callable
        Takes a model and one input as JSON has it; returns what the model takes.
    words : callable
        Takes a model; says what an input is.
    example : callable
        Takes a model; returns an input to start from, as text.
    cubic : bool
        Whether the time for a sentence grows with the cube of its length, or nearly.
    """

    read: Callable[[Any, Any], Any]
    words: Callable[[Any], str]
    example: Callable[[Any], str]
    cubic: bool = False


LONG_WORD = 40
"""A text of longer words may be one without blanks: it counts as so many more."""


def size_of(given: Any) -> int:
    """Return how many tokens, edges or values an input has.

    Examples
    --------
    >>> size_of({"tokens": ["a", "b"]}), size_of("a b c"), size_of({"x": 1})
    (2, 3, 1)
    >>> size_of({"tokens": "a b c"}), size_of(400 * "(")
    (3, 10)
    """
    if isinstance(given, Mapping) and isinstance(given.get("tokens"), str):
        given = given["tokens"]
    if isinstance(given, str):
        return max(len(given.split()), len(given) // LONG_WORD)
    if isinstance(given, Mapping):
        listed = [len(v) for v in given.values() if isinstance(v, list | dict)]
        return sum(listed) if listed else len(given)
    return len(given) if isinstance(given, list) else 1


def inputs_of(model: Any) -> Inputs:
    """Return how the inputs of a model are written.

    Raises
    ------
    DataError
        If nobody has said so: models of classes that other packages add.
    """
    for cls in type(model).__mro__:
        if cls.__name__ in INPUTS:
            return INPUTS[cls.__name__]
    raise DataError(f"a {type(model).__name__} cannot be served: it has no JSON input")


# --- sentences ------------------------------------------------------------------------


def _tokens(given: Any) -> list[Any]:
    if isinstance(given, Mapping):
        given = given.get("tokens")
    if isinstance(given, str):
        given = [_split(word) for word in given.split()]
    if not isinstance(given, list) or not given:
        raise DataError(
            'expected a sentence, a list of tokens or {"tokens": [...]}, not empty'
        )
    return given


def _split(word: str) -> list[str]:
    """Cut a word from its columns; a bar that nothing stands beside is a word.

    Examples
    --------
    >>> _split("Dogs|NNS"), _split("|"), _split("||SYM")
    (['Dogs', 'NNS'], ['|'], ['|', 'SYM'])
    """
    first, bar, others = word[1:].partition("|") if word else ("", "", "")
    return [word[:1] + first, *others.split("|")] if bar else [word]


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


def _cells(given: Any) -> list[tuple[str, ...]]:
    """Return the columns of every token."""
    if isinstance(given, str):
        cells = [tuple(word.split("|")) for word in given.split()]
        if cells and all(map(all, cells)):  # no bar is a word: nothing more to check
            return cells
    return [_columns(token) for token in _tokens(given)]


def _kind_of_tokens(tagger: Any) -> str:
    """Return what tokens of a tagger are: "template", "dicts" or "dense"."""
    return str(tagger._input.kind)


def _n_columns(tagger: Any) -> int:
    """Return how many columns of a token a tagger's templates read."""
    if _kind_of_tokens(tagger) != "template":
        return 1
    needed = int(tagger._input.encoder.template.n_columns)
    if hasattr(tagger, "_whole"):  # what is looked at of whole segments
        needed = max([needed, *(column + 1 for column in tagger._whole.views)])
    return max(needed, 1)


def _read_tagged(tagger: Any, given: Any) -> Any:
    kind = _kind_of_tokens(tagger)
    if kind == "dense":
        return _tokens(given)
    if kind == "dicts":
        return [t if isinstance(t, dict) else _columns(t) for t in _tokens(given)]
    cells = _cells(given)
    needed = _n_columns(tagger)
    for t, own in enumerate(cells):
        if len(own) < needed:
            raise DataError(
                f"token {t + 1} ({own[0]!r}) has {_counted(len(own), 'column')}, but "
                f"this model reads {needed} of every token: write "
                f"{_with_tags(own[0], needed)}"
            )
    # A file has the same columns for all of its tokens.
    return [own[:needed] for own in cells]


def _counted(n: int, what: str) -> str:
    return f"{n} {what}" + ("" if n == 1 else "s")


def _with_tags(word: str, needed: int) -> str:
    return "|".join([word, *[TAG] * (needed - 1)])


def _tagged_words(tagger: Any) -> str:
    kind = _kind_of_tokens(tagger)
    if kind == "dense":
        return "A list of tokens, each a list of numbers."
    if kind == "dicts":
        return (
            "A list of tokens, each an object of features, as the model was trained "
            "on; a word alone is a feature of that name."
        )
    needed = _n_columns(tagger)
    if needed == 1:
        return "A sentence, words with blanks between them, or a list of words."
    return (
        f"A sentence, words with blanks between them. The model reads {needed} columns "
        f"of every word, as in its training data: {_with_tags('word', needed)}."
    )


def _tagged_example(tagger: Any) -> str:
    kind = _kind_of_tokens(tagger)
    if kind == "dense":
        row = [0.0] * int(tagger._input.n_features)
        return f'{{"tokens": [{row}]}}'
    if kind == "dicts":
        return json.dumps([_features_like(name) for name in tagger._input.names()[:2]])
    return " ".join(_with_tags(word, _n_columns(tagger)) for word in ("Dogs", "bark"))


def _features_like(name: str) -> dict[str, Any]:
    """Return features that have this name.

    Examples
    --------
    >>> _features_like("word=dog"), _features_like("length")
    ({'word': 'dog'}, {'length': 1.0})
    """
    feature, is_text, value = name.partition("=")
    return {feature: value if is_text else 1.0}


def _sentence_words(_: Any) -> str:
    return "A sentence, words with blanks between them, or a list of words."


def _parsed_words(_: Any) -> str:
    return (
        "A sentence, words with blanks between them, each with its part of speech if "
        "the parser reads it: word|TAG."
    )


def _read_parsed(_: Any, given: Any) -> Sentence:
    cells = _cells(given)
    tags = [cell[1] if len(cell) > 1 else "_" for cell in cells]
    forms = [cell[0] for cell in cells]
    return Sentence.from_columns(forms=forms, upos=tags, xpos=tags)


def _read_constituents(parser: Any, given: Any) -> Any:
    cells = _cells(given)
    if not parser.given_tags:
        return [cell[0] for cell in cells]
    bare = next((cell[0] for cell in cells if len(cell) < 2), None)
    if bare is not None:
        raise DataError(
            f"{bare!r} has no part of speech, which this model needs: write {bare}|TAG"
        )
    return [cell[:2] for cell in cells]


def _constituents_words(parser: Any) -> str:
    if parser.given_tags:
        return (
            "A sentence, words with blanks between them, each with its part of speech: "
            "word|TAG."
        )
    return _sentence_words(parser)


def _read_symbols(model: Any, given: Any) -> Any:
    numbers = isinstance(next(iter(model.symbols_), ""), int)
    found = [
        token if isinstance(token, int) else _columns(token)[0]
        for token in _tokens(given)
    ]
    try:
        return [int(one) for one in found] if numbers else found
    except ValueError as error:
        raise DataError(f"the symbols of this model are numbers: {error}") from None


def _read_text(_: Any, given: Any) -> Any:
    if isinstance(given, str) and given.strip():
        return given
    if isinstance(given, str):
        raise DataError("there are no words in this text")
    return [_columns(token)[0] for token in _tokens(given)]


# --- everything else ------------------------------------------------------------------


def _read_lattice(_: Any, given: Any) -> LatticeInput:
    if not isinstance(given, Mapping) or not isinstance(given.get("edges"), list):
        raise DataError('expected a lattice: {"edges": [[from, to, features, words]]}')
    if any(isinstance(edge, Mapping) for edge in given["edges"]):  # as in files
        return read_lattices(io.StringIO(json.dumps(given)))[0]
    for edge in given["edges"]:
        if not isinstance(edge, list) or not 2 <= len(edge) <= 4:
            raise DataError("an edge is a list: [from, to, features, words]")
    return LatticeInput([LatticeEdge(*edge) for edge in given["edges"]])


def _read_graph(_: Any, given: Any) -> Any:
    from partwise.estimators.graph.inputs import GraphArrays

    if not isinstance(given, Mapping) or not isinstance(given.get("nodes"), list):
        raise DataError('expected a graph: {"nodes": [features, ...], "edges": []}')
    unknown = sorted(given.keys() - {"nodes", "edges", *GRAPH_FIELDS})
    if unknown:
        raise DataError(
            f"a graph has no {unknown[0]!r} (it has nodes, edges, "
            f"{', '.join(GRAPH_FIELDS)})"
        )
    more = {name: given[name] for name in GRAPH_FIELDS if name in given}
    return GraphArrays(given["nodes"], given.get("edges", []), **more)


def _read_row(_: Any, given: Any) -> Any:
    if not isinstance(given, list | dict):
        raise DataError("expected a list of numbers or an object of values")
    return given


def _network_example(network: Any) -> str:
    given = [name for name in network.values_ if name not in network.targets_]
    return json.dumps({str(n): str(network.values_[n][0]) for n in given[:4]})


def _class_example(classifier: Any) -> str:
    names = classifier._weights.names
    if isinstance(names, NumberedNames) and names.prefix == "x":
        return json.dumps([0.0] * int(classifier.n_features_in_))
    return json.dumps(_features_like(names[0]))


INPUTS = {
    "SequenceTagger": Inputs(_read_tagged, _tagged_words, _tagged_example),
    "SegmentTagger": Inputs(_read_tagged, _tagged_words, _tagged_example),
    "HiddenMarkovModel": Inputs(
        _read_symbols,
        lambda _: "A sequence of symbols with blanks between them, or a list of them.",
        lambda model: " ".join(map(str, list(model.symbols_)[:3])),
    ),
    "DependencyParser": Inputs(
        _read_parsed, _parsed_words, lambda _: "Dogs|NOUN bark|VERB", cubic=True
    ),
    "ConstituencyParser": Inputs(
        _read_constituents,
        _constituents_words,
        lambda parser: "Dogs|NNS bark|VBP" if parser.given_tags else "Dogs bark",
        cubic=True,
    ),
    "Pipeline": Inputs(
        _read_text,
        lambda _: "Text, of one sentence or more; or a list of words.",
        lambda _: "Dogs bark.",
        cubic=True,
    ),
    "LatticeRanker": Inputs(
        _read_lattice,
        lambda _: (
            "A lattice: its edges, each from a state to a later one, with features and "
            "words."
        ),
        lambda _: (
            '{"edges": [[0, 1, {"lm": -1.0}, "the"], [0, 1, {"lm": -9.0}, "teh"]]}'
        ),
    ),
    "GraphLabeler": Inputs(
        _read_graph,
        lambda _: (
            "A graph: the features of its nodes, and its edges as pairs of their "
            "numbers, from 0."
        ),
        lambda _: (
            '{"nodes": [{"colour": "blue"}, {"colour": "red"}], "edges": [[0, 1]]}'
        ),
    ),
    "BayesianNetworkClassifier": Inputs(
        _read_row,
        lambda network: (
            "A row: an object of the values that are known, to predict "
            f"{', '.join(map(str, network.targets_))}."
        ),
        _network_example,
    ),
    "MulticlassClassifier": Inputs(
        _read_row,
        lambda _: (
            "An example as the model was trained on: a list of numbers, or an object "
            "of features."
        ),
        _class_example,
    ),
}
"""By the name of the class."""
